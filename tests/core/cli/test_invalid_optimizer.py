"""An optimizer that makes no updates: whatever runs the document says it, in the words of check."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gradstep
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli

INVALID = {
    "has no hyper-parameter 'beta7'": Optimizer("GradientDescent", {"beta7": 1}),
    "there is no operation named 'gone'": Optimizer(
        "GradientDescent", {"learning_rate": 0.1}, wrt=(TensorRef("gone"),)
    ),
    "there is no operation named 'other'": Optimizer(
        "GradientDescent", {"learning_rate": 0.1}, of=(TensorRef("other"),)
    ),
    "no clipping 'half'": Optimizer("GradientDescent", {"learning_rate": 0.1}, clip="half"),
}
RUNNING = {
    "run": (),
    "debug": ("--script", "continue"),
    "query": ("x['loss'] > 0",),
    "why": ("--of", "loss", "--runs", "2"),
    "train": (),
}


def write(folder: Path, optimizer: Optimizer) -> Path:
    builder = GraphBuilder()
    w = builder.variable("w")
    builder.one("Mul", w, w, name="loss")
    made = Document(
        builder.build(),
        GradientRequest.to("loss", "w"),
        initial={"w": Constant(np.float32(3))},
        optimizers=(optimizer,),
    )
    file = folder / "made.gradstep"
    gradstep_file.save(file, made)
    return file


@pytest.mark.parametrize("verb", RUNNING)
@pytest.mark.parametrize("said", INVALID)
def test_what_runs_the_document_says_it_once(
    cli: Cli, tmp_path: Path, verb: str, said: str
) -> None:
    file = write(tmp_path, INVALID[said])
    words = next(line for line in cli("check", file).out.splitlines() if said in line)
    found = cli(verb, file, *RUNNING[verb])
    wanted = 1 if verb == "why" and "gone" in said else 2 if verb == "train" else 0
    assert found.status == wanted
    if wanted != 1:
        assert found.err.splitlines().count(words) == 1
    assert said in found.err


def test_json_has_it(cli: Cli, tmp_path: Path) -> None:
    file = write(tmp_path, Optimizer("GradientDescent", {"beta7": 1}))
    problems = cli("run", file, "--json").json["problems"]
    assert [p["code"] for p in problems] == ["optimizer"]
    assert cli("run", file, "--fetch", "loss").err == ""  # which updates nothing in any case


def test_one_that_is_switched_off_ends_and_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    file = write(tmp_path, Optimizer("GradientDescent", {"beta7": 1}, enabled=False))
    found = cli("run", file)
    assert (found.status, found.err) == (0, "")
    assert cli("plan", file).status == 0
    assert "warning: GradientDescent has no hyper-parameter" in cli("check", file).out


def test_a_script_is_warned(tmp_path: Path) -> None:
    file = write(tmp_path, Optimizer("GradientDescent", {"beta7": 1}))
    with pytest.warns(UserWarning, match="no hyper-parameter 'beta7'") as warned:
        assert gradstep.open(file).run() == {"loss": 9}
    assert warned[0].filename == __file__
