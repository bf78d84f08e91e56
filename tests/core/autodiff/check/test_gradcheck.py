"""Finite differences: they agree with right gradients, catch wrong ones, and mind the kinks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.autodiff.check.finite_differences import (
    NumericGradient,
    agree,
    measure_gradients,
)
from gradstep.core.autodiff.check.gradcheck import check_gradients
from gradstep.core.autodiff.check.op_gradcheck import check_operation
from gradstep.core.autodiff.check.override_advice import (
    explain_check,
    find_repeated_factor,
    suggest,
)
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.networks import Arrays, evaluate, network

REQUEST = GradientRequest.to("loss", "w", "b")


def overridden(function_name: str, op: str = "f") -> GradientRequest:
    return replace(REQUEST, overrides=(Override(function_name, op, OverrideKind.OP),))


def test_a_right_gradient_agrees(point: Arrays) -> None:
    check = check_gradients(evaluate, network(), REQUEST, point, {})
    assert check.supports == "native"
    assert all(check.agrees(ref).all() for ref in REQUEST.wrt)


def test_a_wrong_override_is_caught_and_the_native_one_supported(point: Arrays) -> None:
    functions = {"Double": lambda op, g: g * 2.0}
    check = check_gradients(evaluate, network(), overridden("Double"), point, functions)
    assert check.supports == "native"
    assert not check.agrees(TensorRef("w")).any()
    assert check.agrees(TensorRef("b")).all()


def test_an_override_that_is_right_is_supported_too(point: Arrays) -> None:
    functions = {"Same": lambda op, g: g * (1.0 - op.outputs[0] * op.outputs[0])}
    check = check_gradients(evaluate, network(), overridden("Same"), point, functions)
    assert check.supports == "both"


def test_without_a_native_gradient_the_reason_is_kept(point: Arrays) -> None:
    graph = network("Floor")
    functions = {"Through": lambda op, g: g}
    check = check_gradients(evaluate, graph, overridden("Through"), point, functions)
    assert check.native is not None
    assert check.native[TensorRef("w")] is None
    assert check.supports == "native"  # Floor is flat: None is what the numbers say


def test_stopped_wires_are_held_still(point: Arrays) -> None:
    build = GraphBuilder()
    x = build.placeholder("x", shape=[2])
    build.one("Sum", build.one("Mul", x, x, name="y"), np.array([0], np.int32), name="loss")
    request = replace(GradientRequest.to("loss", "x"), stopped_edges=frozenset({Edge("y", 1)}))
    at = {TensorRef("x"): np.array([3.0, -1.0], np.float32)}
    numeric = measure_gradients(evaluate, build.build(), request, at)[TensorRef("x")]
    np.testing.assert_allclose(numeric.value, [3.0, -1.0], rtol=1e-6)


def test_stop_gradient_ops_are_held_still() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", shape=[])
    build.one("Mul", x, build.one("StopGradient", x), name="loss")
    request = GradientRequest.to("loss", "x")
    at = {TensorRef("x"): np.float32(3)}
    check = check_gradients(evaluate, build.build(), request, at, {})
    assert check.supports == "native"


@pytest.mark.parametrize(
    ("claimed", "right"), [(0.0, True), (0.5, True), (1.0, True), (1.5, False)]
)
def test_at_a_kink_any_slope_between_the_sides_is_right(claimed: float, right: bool) -> None:
    sides = NumericGradient(np.array(0.5), np.array(0.0), np.array(1.0))
    assert agree(np.array(claimed), sides) == right


def test_one_operation_is_checked_alone_and_a_repair_suggested(point: Arrays) -> None:
    graph = network()
    add = graph["add"]
    functions = {
        "Wrong": lambda op, g: (g * op.inputs[0], g.builder.one("Sum", g, [0], keep_dims=True))
    }
    inputs = [np.array([0.3, -0.2, 0.5], np.float32), np.float32([0.2])]
    g = np.float32([1.0, 2.0, 3.0])
    request = overridden("Wrong", "add")
    check = check_operation(evaluate, add, inputs, {0: g}, request, functions)
    assert check is not None
    assert check.wrong_inputs == [0]
    assert find_repeated_factor(check, ["f", "b"], inputs, g) == "f"
    text = explain_check(check, "∂L/∂add", "f", suggest(check, 2, g))
    assert "∂L/∂add" in text
    assert "f again counts it twice" in text
    assert find_repeated_factor(check, ["b", "c"], [inputs[1], inputs[1]], g) == ""
    text = explain_check(check, "∂L/∂add", "", "")
    assert "What 'Wrong' returns for input 0 is not what" in text


def test_simple_repairs_are_recognised(point: Arrays) -> None:
    build = GraphBuilder()
    a, b = build.placeholder("a", shape=[2]), build.placeholder("b", shape=[2])
    sub = build.one("Sub", a, b, name="sub").op.operation
    functions = {"Wrong": lambda op, g: (g * 3.0, g)}
    request = GradientRequest(overrides=(Override("Wrong", "sub", OverrideKind.OP),))
    g = np.float32([0.5, -2.0])
    check = check_operation(
        evaluate, sub, [np.float32([1, 2]), np.float32([3, 4])], {0: g}, request, functions
    )
    assert check is not None
    assert suggest(check, 2, g) == "(grad, -grad)"


def test_what_is_no_number_has_no_slope_beside_what_is() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float64")
    of = [build.one("Square", x), build.one("Greater", x, 0.5), build.constant(np.array(b"text"))]
    request = GradientRequest(tuple(y.ref for y in of), (x.ref,))
    point = {x.ref: np.array(2.0)}
    numeric = measure_gradients(evaluate, build.build(), request, point)[x.ref]
    np.testing.assert_allclose(numeric.value, 4.0, rtol=1e-6)


def test_where_there_is_no_slope_the_others_are_still_compared() -> None:
    """From an infinity there is none; from what is beside it there is."""
    x = TensorRef("x")
    build = GraphBuilder()
    build.one("Tanh", build.placeholder("x", "float64", (2,)), name="y")
    at = {x: np.array([-np.inf, 0.5])}
    found = measure_gradients(evaluate, build.build(), GradientRequest.to("y", "x"), at)[x]
    slope = 1 - np.tanh(0.5) ** 2
    assert agree(np.array([0.0, slope]), found).tolist() == [True, True]
    assert agree(np.array([0.0, 1.1 * slope]), found).tolist() == [True, False]
    assert agree(None, found).tolist() == [True, False]
