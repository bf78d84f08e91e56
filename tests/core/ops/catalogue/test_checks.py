"""Checks in the middle of a run, printing, and what only passes values on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.formats.element_text import summary
from gradstep.core.ops.state.print_output import printing_to
from tests.support.each_case import each_of

INF, NAN = np.inf, np.nan


def f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def run(type: str, *inputs: np.ndarray, **attrs: Any) -> list[np.ndarray]:
    b = GraphBuilder()
    fed = {f"x{i}": x for i, x in enumerate(inputs)}
    tensors = [b.placeholder(name, DType.of(x.dtype)) for name, x in fed.items()]
    outputs = b.op(type, *tensors, name="it", **attrs)
    return Session(b.build()).run([t.ref for t in outputs], fed, ["it"])


# Words of TensorFlow 2.21.
@each_of(
    ("values", "plain", "signed"),
    [
        ((1, NAN), "NaN", "NaN"),
        ((1, INF), "Inf", "+Inf"),
        ((-INF, 1), "Inf", "-Inf"),
        ((NAN, INF), "Inf and NaN", "+Inf and NaN"),
        ((INF, -INF), "Inf", "-Inf and +Inf"),
        ((NAN, -INF, INF), "Inf and NaN", "-Inf, +Inf, and NaN"),
    ],
)
def test_numbers_that_are_none_are_told(values: tuple[float, ...], plain: str, signed: str) -> None:
    for type, words in (("CheckNumerics", plain), ("CheckNumericsV2", signed)):
        with pytest.raises(GradstepError) as caught:
            run(type, f32(*values), message="here")
        assert caught.value.message == f"here : Tensor had {words} values"


def test_the_gradient_is_checked_too() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(2,))
    y = b.one("Sqrt", b.one("CheckNumerics", x, message="msg"))
    (g,) = gradients(y, x)
    assert g is not None
    session = Session(b.build())
    np.testing.assert_allclose(session.run([g.ref], {"x": [1, 4]})[0], [0.5, 0.25])
    with pytest.raises(GradstepError) as caught:
        session.run([g.ref], {"x": [0, 1]})
    # TensorFlow 2.21 writes the message as Python writes bytes.
    assert caught.value.message == (
        "Not a number (NaN) or infinity (Inf) values detected in gradient. b'msg' : "
        "Tensor had Inf values"
    )


def test_an_assertion_shows_its_data() -> None:
    data = f32(1, 2, 3, 4, 5), np.array([[1, 2], [3, 4]], np.int32)
    assert run("Assert", np.array(True), *data) == []
    with pytest.raises(GradstepError) as caught:
        run("Assert", np.array(False), *data)
    assert caught.value.message == "assertion failed: [1 2 3...] [[1 2][3...]...]"
    with pytest.raises(GradstepError) as caught:
        run("Assert", np.array(False), *data, summarize=-1)
    assert caught.value.message == "assertion failed: [1 2 3 4 5] [[1 2][3 4]]"
    with pytest.raises(GradstepError, match=r"In\[0\] should be a scalar: \[1\]"):
        run("Assert", np.array([False]), *data)


# Texts of TensorFlow 2.21's Assert.
@each_of(
    ("array", "entries", "text"),
    [
        (f32(1 / 3, 0.1, 1e10, 1e-10), -1, "0.333333343 0.1 1e+10 1e-10"),
        (np.array([1 / 3, 1e10, 1e300, NAN, -INF]), -1,
         "0.33333333333333331 10000000000 1e+300 nan -inf"),
        (np.array([True, False]), 3, "1 0"),
        (np.arange(6).reshape(2, 3), 4, "[0 1 2][3...]..."),
        (np.arange(6).reshape(2, 3), 3, "[0 1 2]..."),
        (np.arange(4).reshape(1, 2, 2), -1, "[[0 1][2 3]]"),
        (np.zeros((2, 0)), 3, ""),
        (np.float32(1.5), 3, "1.5"),
        (np.array([b"a b", b'c"d', b"x\n"]), 3, 'a b c\\"d x\\n'),
    ],
)  # fmt: skip
def test_summaries_are_tensorflows(array: Any, entries: int, text: str) -> None:
    assert summary(array, entries) == text


def printing(first_n: int = -1) -> Graph:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(2,))
    data = [x, b.constant(7)]
    b.one("Print", x, *data, message="m: ", first_n=first_n, name="p")
    return b.build()


def test_printing_says_what_tensorflow_says() -> None:
    said: list[str] = []
    session = Session(printing())
    with printing_to(said.append):
        for _ in range(2):
            assert session.run(["p"], {"x": [1, 1 / 3]})[0][0] == 1
    assert said == ["m: [1 0.333333343][7]\n"] * 2


def test_printing_stops_after_the_first_runs() -> None:
    said: list[str] = []
    session = Session(printing(first_n=2))
    with printing_to(said.append):
        for _ in range(4):
            session.run(["p"], {"x": [1, 2]})
    assert len(said) == 2


def test_a_restarted_program_prints_again() -> None:
    said: list[str] = []
    graph = printing(first_n=1)
    feeds = {TensorRef("x"): f32(1, 2)}
    debugger = DebugSession(Program(graph, graph, fetches=(TensorRef("p"),), feeds=feeds))
    with printing_to(said.append):
        debugger.run_to("2:0")
        debugger.restart()
        debugger.continue_()
    assert len(said) == 2


def test_nobody_listening_means_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    Session(printing()).run(["p"], {"x": [1, 2]})
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "m: [1 2][7]\n")


def test_a_gradient_flows_through_what_prints_and_passes_on() -> None:
    b = GraphBuilder()
    x, y = b.placeholder("x", shape=(2,)), b.placeholder("y", shape=(3,))
    one, two = b.op("IdentityN", x, y)
    printed = b.one("Print", b.one("Mul", one, one), two)
    to_x, to_y = gradients(printed, [x, y])
    assert to_x is not None
    assert to_y is not None  # TensorFlow's zeros: the operation has another output with one
    with printing_to(lambda text: None):
        session = Session(b.build())
        found = session.run([to_x.ref, to_y.ref], {"x": [3, 4], "y": [1, 2, 3]})
    assert [g.tolist() for g in found] == [[6, 8], [0, 0, 0]]


def test_a_prevented_gradient_is_an_error() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(2,))
    y = b.one("PreventGradient", x, message="no no")
    assert Session(b.build()).run([y.ref], {"x": [1, 2]})[0].tolist() == [1, 2]
    with pytest.raises(GradstepError) as caught:
        gradients(y, x)
    assert caught.value.message == "Gradient explicitly disabled. Reason: b'no no'"
    assert caught.value.kind == "LookupError"


def test_nothing_cannot_be_passed_on() -> None:
    with pytest.raises(GradstepError, match="list of length 0 less than minimum 1"):
        GraphBuilder().op("IdentityN")
