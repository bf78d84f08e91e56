"""`gradstep query`: at which step of which run an expression holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER

TUTORIAL = FOLDER / "tutorial.gradstep"


def test_the_first_step_and_every_one(cli: Cli) -> None:
    asked = ("query", TUTORIAL, 'x["loss"] < 0.6635', "--runs", 4)
    first, every = cli(*asked, "--json").json, cli(*asked, "--every", "--json").json
    assert [row["position"] for row in first["moments"]] == ["1:6"]
    assert [row["run"] for row in every["moments"]] == [1, 2, 3]
    assert (first["count"], every["count"], every["runs"]) == (1, 3, 4)
    assert every["moments"][0] == first["moments"][0]
    [back] = cli(*asked, "--back", "--json").json["moments"]
    assert back == every["moments"][-1]
    said = cli(*asked).out
    assert "1:6" in said
    assert "1 step in 2 runs" in said


def test_who_wrote_a_variable_last(cli: Cli) -> None:
    [row] = cli("query", TUTORIAL, "--who", "c", "--runs", 3, "--json").json["moments"]
    assert (row["run"], row["node"], row["tensor"]) == (2, "train/update_c/ApplyAdam", "c")


def test_a_word_for_the_first_nan_with_its_element(cli: Cli) -> None:
    [row] = cli("query", FOLDER / "nan_gradient.gradstep", "nan", "--json").json["moments"]
    assert (row["element"], row["said"]) == ([0], "NaN")


def test_a_loop_is_looked_into(cli: Cli) -> None:
    path = FOLDER / "while_loop.gradstep"
    every = cli("query", path, "value > 10", "--every", "--json").json["moments"]
    assert any(row["iteration"] is not None and "iteration" in row["inside"] for row in every)


def test_runs_up_to_one_that_fails(cli: Cli) -> None:
    result = cli("query", FOLDER / "gather.gradstep", "value > 100", "--runs", 3, "--json")
    assert result.status == 0
    assert result.json["moments"] == []
    assert result.json["stopped_by"]["node"] == "b"
    assert "failed" in cli("query", FOLDER / "gather.gradstep", "value > 100").out


@pytest.mark.parametrize(
    ("arguments", "status", "why"),
    [
        ([], 2, "takes an expression"),
        (["x", "--who", "c"], 2, "takes an expression"),
        (["nan", "--every", "--back"], 2, "--every is all steps"),
        (["nosuch > 1"], 1, "nosuch"),
        (["--who", "nosuch"], 1, "nosuch"),
    ],
)
def test_what_is_wrong_is_one_line(cli: Cli, arguments: list[str], status: int, why: str) -> None:
    result = cli("query", TUTORIAL, *arguments)
    assert result.status == status
    assert why in result.err
    assert "Traceback" not in result.err


@pytest.mark.parametrize("text", ['x["loss"] > 3', 'norm(grad["w"]) > 3', 'x["x"] > 0'])
def test_what_waits_for_a_feed_is_no_answer(cli: Cli, tmp_path: Path, text: str) -> None:
    found = cli("query", unfed(tmp_path / "unfed.gradstep"), text, "--runs", 2)
    assert found.status == 1
    assert "'x' is not fed" in found.err


def unfed(path: Path) -> Path:
    """A document whose loss reads a placeholder without a feed."""
    builder = GraphBuilder()
    with builder.as_default():
        x, w = (
            builder.placeholder("x", DType.FLOAT32, (2,)),
            builder.variable("w", DType.FLOAT32, (2,)),
        )
        loss = builder.one("Mul", x, w, name="loss")
    request = GradientRequest(of=(loss.ref,), wrt=(w.ref,))
    initial = {"w": Constant(np.ones(2, np.float32))}
    document = Document(builder.build(), request=request, initial=initial, fetches=(loss.ref,))
    gradstep_file.save(path, document)
    return path
