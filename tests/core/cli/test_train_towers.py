"""gradstep train --towers: parts of a batch, each in a process, give one machine's numbers."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.cli.runs import training_towers
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.cli.conftest import Cli
from tests.examples.build import FOLDER
from tests.support.rounding import Rounding, assert_rounded_alike

pytestmark = pytest.mark.usefixtures("forked_workers")

DIGITS = (
    FOLDER / "softmax_digits.gradstep",
    "--data", "images=@digits:images|scale(1/16)", "labels=@digits:labels|one_hot(10)",
)  # fmt: skip


class InProcess(ThreadPoolExecutor):
    """What stands in for processes: the interface is that of concurrent.futures."""

    def __init__(self, count: int) -> None:
        super().__init__(1)

    def stop(self) -> None:
        self.shutdown(cancel_futures=True)


@pytest.fixture
def in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_towers, "WorkerPool", InProcess)


def document(folder: Path, loss: str, norm: bool = False) -> Path:
    """A layer of two rows of weights by Adam; loss: how the squares of rows become one number."""
    g = GraphBuilder()
    x = g.one("Placeholder", dtype=DType.FLOAT32, shape=Shape.of(None, 1, 1, 3), name="x")
    w = g.variable("w", shape=(3,))
    scaled = g.one("Mul", x, w)
    if norm:
        ones, zeros = g.constant(np.ones(3, np.float32)), g.constant(np.zeros(3, np.float32))
        empty = g.constant(np.zeros(0, np.float32))
        shifted = g.one("AddV2", scaled, g.one("Square", scaled))
        scaled = g.op("FusedBatchNormV3", shifted, ones, zeros, empty, empty, name="norm",
                      is_training=True)[0]  # fmt: skip
        scaled = g.one("Mul", scaled, x)
    g.one(loss, g.one("Square", scaled), [0, 1, 2, 3], name="loss")
    made = Document(
        graph=g.build(),
        request=GradientRequest(of=(TensorRef("loss"),), wrt=(TensorRef("w"),)),
        initial={"w": Constant(np.array([1, -2, 0.5], np.float32))},
        optimizers=(Optimizer("Adam", {"learning_rate": 0.05}),),
    )
    gradstep_file.save(folder / "tower.gradstep", made)
    np.save(folder / "x.npy", np.random.default_rng(3).normal(size=(23, 1, 1, 3)).astype("f4"))
    return folder / "tower.gradstep"


def trained(cli: Cli, file: Path, folder: Path, *words: object) -> tuple[np.ndarray, list[Any]]:
    """What `w` is in the end, and the losses."""
    out = folder / f"out{len(words)}.gradstep"
    result = cli("train", file, "--data", f"x=@{folder}/x.npy", "--batch", 10, "--shuffle", 1,
                 "--steps", 7, "--every", 1, "--out", out, "--json", *words)  # fmt: skip
    assert result.status == 0
    losses = [np.float32(s["values"]["loss"]["data"]) for s in result.json["shown"]]
    return gradstep_file.load(out).initial["w"].array, losses


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize("towers", [1, 2, 4, 50])
def test_parts_give_the_numbers_of_the_whole(cli: Cli, tmp_path: Path, towers: int) -> None:
    """Batches of 10, 10 and 3 rows, which four towers part unevenly, and fifty one row each."""
    file = document(tmp_path, "Mean")
    whole, losses = trained(cli, file, tmp_path)
    parted, others = trained(cli, file, tmp_path, "--towers", towers)
    rounding = Rounding(terms=30, steps=7, size=8.0)
    assert_rounded_alike(parted, whole, rounding)
    assert_rounded_alike(np.array(others), np.array(losses), rounding)


@pytest.mark.usefixtures("in_process")
@pytest.mark.parametrize(
    ("loss", "norm", "hint"),
    [("Sum", False, "no mean over rows"), ("Mean", True, "'norm' normalises each part by itself")],
)
def test_where_parts_make_a_difference_that_is_said(
    cli: Cli, tmp_path: Path, loss: str, norm: bool, hint: str
) -> None:
    file = document(tmp_path, loss, norm)
    words = ("train", file, "--data", f"x=@{tmp_path}/x.npy", "--batch", 10, "--steps", 2)
    alone = cli(*words, "--towers", 1)
    assert "gradients" not in alone.err
    said = cli(*words, "--towers", 2).err
    assert "the mean of the parts' gradients is not that of the whole batch" in said
    assert hint in said
    assert said.count("whole batch") == 1  # once, for the first step


@pytest.mark.slow
def test_in_processes(cli: Cli, tmp_path: Path) -> None:
    words = ("--batch", 50, "--steps", 3, "--every", 1, "--json")
    alone = cli("train", *DIGITS, *words).json["shown"]
    parted = cli("train", *DIGITS, *words, "--towers", 2).json["shown"]
    for one, other in zip(alone, parted, strict=True):
        a, b = (float(each["values"]["loss"]["data"]) for each in (one, other))
        assert a == pytest.approx(b, rel=1e-5)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((FOLDER / "tutorial.gradstep", "--towers", 2), "--towers is about --data"),
        ((*DIGITS, "--towers", 2, "--fetch", "accuracy"), "--towers gives the loss alone"),
        ((*DIGITS, "--towers", 2, "--until", "value < 1"), "--towers gives the loss alone"),
    ],
)
def test_what_is_not_parted_is_said(cli: Cli, words: Any, message: str) -> None:
    result = cli("train", *words)
    assert message in result.err
    assert result.status == 2
