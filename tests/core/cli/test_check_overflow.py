"""gradstep check where numbers are not finite: it says so, and accuses no rule by them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.foreign_origin import FOREIGN_OP, FOREIGN_SCOPE, SOURCE_LINE
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call
from tests.core.cli.conftest import Cli


def document(path: Path, value: list[float], build: object) -> Path:
    """A document that differentiates what `build` makes of a variable w."""
    builder = GraphBuilder()
    with builder.as_default():
        w = builder.variable("w", DType.FLOAT32, (len(value),))
        loss = build(w)  # type: ignore[operator]
    request = GradientRequest(of=(loss.ref,), wrt=(TensorRef("w"),))
    initial = {"w": Constant(np.array(value, np.float32))}
    gradstep_file.save(path, Document(builder.build(), request=request, initial=initial))
    return path


def total(x: Tensor) -> Tensor:
    return call("Sum", x, np.array([0], np.int32))


def cubed_in_half(w: Tensor) -> Tensor:
    """Beyond float16 on the way back alone."""
    half = call("Cast", w, DstT=DType.FLOAT16)
    small = call("Cast", call("Mul", half, np.float16(1e-3)), DstT=DType.FLOAT32)
    return total(call("Mul", small, np.float32(1e9)))


@pytest.mark.parametrize(
    ("value", "build", "words"),
    [
        ([-1.0, 2.0], lambda w: total(call("Log", w)), "NaN, first at Log (Log)"),
        ([1e30, 2.0], lambda w: total(call("Square", w)), "infinite, first at Square (Square)"),
        ([1.0, 2.0], cubed_in_half, "not finite, though right in float64: the gradient of w"),
    ],
)
def test_what_is_not_finite_fails_and_is_said_once(
    cli: Cli, tmp_path: Path, value: list[float], build: object, words: str
) -> None:
    found = cli("check", document(tmp_path / "a.gradstep", value, build), "--json")
    said = json.loads(found.out)
    assert found.status == 1
    assert not said["passed"]
    (problem,) = said["problems"]
    assert words in problem["text"]
    assert "gradstep why" in problem["fix"]


def test_no_rule_is_accused_by_numbers_that_swallow_a_step(cli: Cli, tmp_path: Path) -> None:
    """1e15 + w is the same number for every w that a difference can tell."""
    path = document(
        tmp_path / "a.gradstep",
        [1.0, 2.0],
        lambda w: total(call("Square", call("AddV2", w, np.array([1e15, 1e15], np.float32)))),
    )
    found = cli("check", path, "--json")
    assert found.status == 0, found.out


def test_a_native_rule_is_not_accused_at_a_pole(cli: Cli, tmp_path: Path) -> None:
    """0 times the infinite slope of a root at 0."""
    path = document(
        tmp_path / "a.gradstep",
        [0.0, 2.0],
        lambda w: total(
            call("Mul", call("Pow", call("Abs", w), np.float32(0.5)), np.array([0, 1], np.float32))
        ),
    )
    said = json.loads(cli("check", path, "--json").out)
    texts = [p["text"] for p in said["problems"]]
    assert not [text for text in texts if "What 'Pow'" in text or "already" in text]


def test_a_document_that_asks_for_nothing_does_not_pass(cli: Cli, tmp_path: Path) -> None:
    builder = GraphBuilder()
    with builder.as_default():
        total(builder.constant(np.ones(2, np.float32)))
    path = tmp_path / "a.gradstep"
    gradstep_file.save(path, Document(builder.build()))
    assert "nothing to check: no gradients are asked for" in cli("check", path).out


def test_weights_that_a_program_detaches_are_named_with_the_line(cli: Cli, tmp_path: Path) -> None:
    def detached(w: Tensor) -> Tensor:
        cut = call("StopGradient", w)
        told = {FOREIGN_OP: "aten.detach.default", FOREIGN_SCOPE: "", SOURCE_LINE: "m2.py:60"}
        return total(call("Square", w.builder.mark(cut, **told)))

    path = document(tmp_path / "a.gradstep", [1.0, 2.0], detached)
    found = cli("check", path, "--json").json
    (problem,) = [p for p in found["problems"] if p["code"] == "unreached-variable"]
    assert problem["severity"] == "warning"
    assert problem["text"] == "1 trained weight gets no gradient: w: detach at m2.py:60"


@pytest.mark.parametrize(("count", "said"), [(8, "8 trained weights"), (9, "at least 8 trained")])
def test_many_weights_behind_one_detach_are_not_all_looked_at(
    cli: Cli, tmp_path: Path, count: int, said: str
) -> None:
    """And how many there are is said only where it is known."""
    b = GraphBuilder()
    with b.as_default():
        weights = [b.variable(f"w{i}", DType.FLOAT32, (2,)) for i in range(count)]
        cut = call("StopGradient", call("AddN", *weights))
        told = {FOREIGN_OP: "aten.detach.default", FOREIGN_SCOPE: "", SOURCE_LINE: "m2.py:60"}
        loss = total(call("Square", b.mark(cut, **told)))
    request = GradientRequest(of=(loss.ref,), wrt=tuple(w.ref for w in weights))
    initial = {w.ref.op: Constant(np.ones(2, np.float32)) for w in weights}
    path = tmp_path / "a.gradstep"
    gradstep_file.save(path, Document(b.build(), request=request, initial=initial))
    found = cli("check", path, "--json").json
    (problem,) = [p for p in found["problems"] if p["code"] == "unreached-variable"]
    assert problem["text"].startswith(said)
    assert problem["text"].endswith("w7: detach at m2.py:60")
