"""What a check finds: right, at a kink, at float32's limit, or wrong; how, and where."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.check.check_result import (
    Verdict,
    attribute_to,
    judge,
    leave_out_poles,
)
from gradstep.core.autodiff.check.finite_differences import CENTRAL, COMPLEX, NumericGradient
from gradstep.core.autodiff.check.op_gradcheck import LocalCheck, check_operation
from gradstep.core.autodiff.check.override_advice import find_repeated_factor
from gradstep.core.autodiff.check.tensor_gradcheck import Examined, examine, request_second_order
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, OpView, Tensor, call
from gradstep.core.ops.declare.declared_gradient import Defect
from tests.support.each_case import each_of
from tests.support.networks import evaluate

X = TensorRef("x")


def one(type: str, x: Any, functions: Any = None, **attrs: Any) -> Examined:
    """The sum of one op of `x`, examined at `x`."""
    build, at = GraphBuilder(), np.asarray(x)
    hole = build.placeholder("x", DType.of(at.dtype), at.shape)
    build.one(type, hole, name="y", **attrs)
    request = GradientRequest.to("y", "x")
    if functions:
        override = Override(next(iter(functions)), "y", OverrideKind.OP)
        request = replace(request, overrides=(override,))
    return examine(evaluate, build.build(), request, {X: at}, functions or {})[X]


def test_a_smooth_gradient_is_right_by_a_complex_step() -> None:
    found = one("Tanh", [0.3, -1.2, 2.0]).finding
    assert (found.verdict, found.method) == (Verdict.OK, COMPLEX)
    assert found.difference < 1e-15
    assert (found.looked_at, found.size) == (3, 3)


@pytest.mark.parametrize("type", ["Abs", "Relu", "Floor"])
def test_where_complex_numbers_are_no_help_differences_are_taken(type: str) -> None:
    """NumPy's absolute value drops the imaginary part, and its floor refuses it."""
    found = one(type, [0.3, -1.2, 2.5]).finding
    assert found.verdict is Verdict.OK
    assert found.method == (CENTRAL if type != "Relu" else COMPLEX)


@pytest.mark.parametrize(
    ("type", "at", "sides"),
    [("Abs", 0.0, "-1 on one side and 1"), ("Relu", 0.0, "0 on one side and 1"), ("Sign", 0.0, "")],
)
def test_a_kink_is_told_from_a_mistake(type: str, at: float, sides: str) -> None:
    found = one(type, [at, 1.5]).finding
    assert (found.verdict, found.index) == (Verdict.KINK, (0,))
    assert sides in found.text
    assert found.verdicts == {(0,): Verdict.KINK, (1,): Verdict.OK}


def _doubled(op: OpView, g: Tensor) -> Tensor:
    return g * 3.0


def test_a_slope_outside_both_sides_of_a_kink_is_wrong() -> None:
    assert one("Abs", [0.0], {"Triple": _doubled}).finding.verdict is Verdict.WRONG


@pytest.mark.parametrize("type", ["Square", "Exp", "Reciprocal"])
def test_a_bend_is_no_kink(type: str) -> None:
    assert one(type, [1e-3, -1e-3] if type == "Reciprocal" else [0.0, 9.0]).finding.verdict == "ok"


def test_outside_the_domain_there_is_nothing_to_compare_with() -> None:
    found = one("Log", [0.0, 1.0]).finding
    assert found.verdict is Verdict.KINK
    assert "no values on both sides" in found.text


def test_a_wrong_gradient_names_its_worst_element() -> None:
    def rule(op: OpView, g: Tensor) -> Tensor:
        return g * (1.0 - op.outputs[0] * op.outputs[0]) + np.array([0, 0.5, 0.1])

    found = one("Tanh", [0.3, -1.2, 2.0], {"Off": rule}).finding
    assert (found.verdict, found.index) == (Verdict.WRONG, (1,))
    assert found.difference == pytest.approx(0.5)
    assert found.text.startswith("wrong at index [1]")
    assert found.verdicts[(0,)] is Verdict.OK


@pytest.mark.parametrize("off", [np.inf, -np.inf, np.nan])
def test_no_infinite_gradient_is_right_of_a_finite_slope(off: float) -> None:
    def rule(op: OpView, g: Tensor) -> Tensor:
        return g * (1.0 - op.outputs[0] * op.outputs[0]) + np.array([off, 0.0])

    found = one("Tanh", [0.3, -1.2], {"Off": rule}).finding
    assert found.verdicts == {(0,): Verdict.WRONG, (1,): Verdict.OK}


@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_an_infinite_value_is_no_mistake_and_hides_none(dtype: type) -> None:
    """exp(800) is infinite, and so is its slope, by whatever it is measured."""

    def rule(op: OpView, g: Tensor) -> Tensor:
        return g * op.outputs[0] * np.array([1.0, -1.0, 1.0])

    at = np.array([800.0, 1.0, -2.0], dtype)
    verdicts = one("Exp", at).finding.verdicts
    assert [*verdicts.values()] == [Verdict.KINK, Verdict.OK, Verdict.OK]
    verdicts = one("Exp", at, {"Off": rule}).finding.verdicts
    assert [*verdicts.values()] == [Verdict.KINK, Verdict.WRONG, Verdict.OK]


def test_where_nothing_shows_nothing_is_called_right() -> None:
    """Neither a rule that is right nor another: there is no slope to hold it against."""

    def sign(op: OpView, g: Tensor) -> Tensor:
        return -g * op.outputs[0]

    at = np.array([800.0, 0.5])
    for functions in (None, {"Sign": sign}):
        assert one("Exp", at, functions).finding.verdicts[(0,)] is Verdict.KINK


@pytest.mark.parametrize("type", ["Relu", "Abs"])
def test_an_infinity_beside_an_element_excuses_nothing_there(type: str) -> None:
    """No step shows an infinite slope's element; those beside it show theirs."""
    at = [-1.0, np.inf, 2.0, -np.inf]
    found = [*one(type, at).finding.verdicts.values()]
    assert found[::2] == [Verdict.OK, Verdict.OK]
    assert Verdict.WRONG not in found
    wrong = {"Copied": lambda op, g: g}
    assert one(type, at, wrong).finding.verdicts[(0,)] is Verdict.WRONG


def test_none_is_right_where_the_numbers_are_flat_and_wrong_where_not() -> None:
    assert one("Floor", [0.4]).finding.analytic is None
    assert one("Tanh", [0.4], {"None": lambda op, g: None}).finding.verdict is Verdict.WRONG


def test_none_at_a_kink_is_neither_right_nor_wrong() -> None:
    """The numbers jump there; beside it they are flat, and None says as much."""
    found = one("Floor", [2.0, 0.4]).finding
    assert (found.verdict, found.index, found.analytic) == (Verdict.KINK, (0,), None)
    assert found.text.startswith("a kink at index [0]: the slope is ")
    assert found.verdicts == {(0,): Verdict.KINK, (1,): Verdict.OK}


def test_none_outside_both_sides_of_a_kink_is_wrong() -> None:
    """Of |x| + 3x the slopes at 0 are 2 and 4; None, as 0, is none of what is between them."""

    build = GraphBuilder()
    x = build.placeholder("x", "float64", [2])
    both = build.one("AddV2", build.one("Abs", x, name="abs"), build.one("Mul", x, 3.0, name="m"))
    build.one("Identity", both, name="y")
    overrides = tuple(Override("None", name, OverrideKind.OP) for name in ("abs", "m"))
    request = replace(GradientRequest.to("y", "x"), overrides=overrides)
    at = {X: np.array([0.0, 1.5])}
    found = examine(
        evaluate, build.build(), request, at, {"None": lambda op, g: [None] * len(op.inputs)}
    )[X].finding
    assert found.verdicts == {(0,): Verdict.WRONG, (1,): Verdict.WRONG}


def test_what_float32_rounds_away_is_no_mistake() -> None:
    """1 - tanh(9)² is 6e-8, which float32 cannot tell from 0."""
    found = one("Tanh", np.float32([9.0])).finding
    assert found.verdict is Verdict.FLOAT32
    assert "right in float64" in found.text
    assert one("Tanh", np.float64([9.0])).finding.verdict is Verdict.OK
    assert one("Tanh", np.float32([0.9])).finding.verdict is Verdict.OK


def test_float32s_limit_excuses_no_wrong_rule() -> None:
    assert one("Tanh", np.float32([0.9]), {"Triple": _doubled}).finding.verdict is Verdict.WRONG


def test_what_is_wrong_in_float32_alone_is_wrong() -> None:
    def rule(op: OpView, g: Tensor) -> Tensor:
        half = call("Cast", call("Cast", op.outputs[0], DstT=DType.FLOAT32), DstT=g.dtype)
        off = 0.1 if g.dtype is DType.FLOAT32 else 0.0
        return g * (1.0 - half * half) + off

    assert one("Tanh", np.float32([0.9]), {"Off": rule}).finding.verdict is Verdict.WRONG


def test_random_draws_stand_still_and_are_the_same_in_both_precisions() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", shape=[3])
    noise = build.one("RandomUniform", np.array([3], np.int32), dtype=DType.FLOAT32, seed=1)
    build.one("Mul", x, noise, name="y")
    request, at = GradientRequest.to("y", "x"), {X: np.float32([1, 2, 3])}
    found = examine(evaluate, build.build(), request, at, {})[X].finding
    assert found.verdict is Verdict.OK


def test_the_gradient_of_a_gradient_is_examined_with_weights() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float64", [4])
    build.one("Mul", x, build.one("Tanh", x), name="y")
    request, at = GradientRequest.to("y", "x"), {X: np.array([0.3, -0.2, 1.1, 0.7])}
    graph, asked = request_second_order(build.build(), request, {})
    found = examine(evaluate, graph, asked, at, {})[X]
    t = np.tanh(at[X])
    slope = 2 * (1 - t * t) - 2 * at[X] * t * (1 - t * t)
    np.testing.assert_allclose(found.gradient, slope * [0.3, 0.67, 1.04, 0.41], rtol=1e-12)
    assert (found.finding.verdict, found.finding.method) == (Verdict.OK, COMPLEX)


def node(op_type: str, inputs: list[Any], **extra: Any) -> LocalCheck:
    build = GraphBuilder()
    holes = [build.placeholder(f"a{i}", DType.of(x.dtype), x.shape) for i, x in enumerate(inputs)]
    made = build.one(op_type, *holes, name="y")
    size = int(np.prod(made.shape.static(), dtype=int))
    g = np.linspace(0.5, 1.5, size).reshape(made.shape.static())
    check = check_operation(
        evaluate, made.op.operation, inputs, {0: g}, GradientRequest(), {}, **extra
    )
    assert check is not None
    return check


def alone(op_type: str, inputs: list[np.ndarray], g: np.ndarray, **attrs: Any) -> LocalCheck:
    """One node for a cotangent of its own, of float32 as its inputs are."""
    build = GraphBuilder()
    wide = [np.asarray(x, np.float32) for x in inputs]
    holes = [build.placeholder(f"a{i}", DType.FLOAT32, x.shape) for i, x in enumerate(wide)]
    made = build.one(op_type, *holes, name="y", **attrs)
    arriving = {0: np.asarray(g, np.float32)}
    check = check_operation(evaluate, made.op.operation, wide, arriving, GradientRequest(), {})
    assert check is not None
    return check


@pytest.mark.parametrize("low", [-1e9, float(np.finfo(np.float32).min)])
def test_a_step_that_is_long_beside_the_function_tells_no_mistake(low: float) -> None:
    """A step of a value is in proportion to it; softmax changes within one."""
    x = np.array([[low] * 3, [0.5, -0.25, 1.0]])
    check = alone("Softmax", [x], np.array([[0.5, -1.0, 2.0], [0.3, 0.6, -0.4]]))
    assert check.verdict in (Verdict.OK, Verdict.KINK)
    numeric = check.numeric[0]
    if low == -1e9:  # beyond, no step of a float64 is short enough, and a complex one is
        assert numeric.value[0] == pytest.approx([0.0, -0.5, 0.5], abs=1e-4)
    assert (numeric.low[0] <= [0.0, -0.4999, 0.5001]).all()
    assert (numeric.high[0] >= [0.0, -0.5001, 0.4999]).all()


def test_what_is_added_to_an_infinity_shows_in_nothing() -> None:
    x, mask = np.array([0.3, 0.7]), np.array([0.0, -np.inf])
    check = alone("AddV2", [x, mask], np.array([0.5, 0.25]))
    assert check.verdict in (Verdict.OK, Verdict.KINK)


def test_a_sum_of_what_cancels_is_rounded_on_the_way_back() -> None:
    """The gradient of a bias before softmax: zero, but for roundings of float32."""
    rng = np.random.default_rng(3)
    g = rng.normal(size=(64, 2)).astype(np.float32)
    g -= g.mean(0)
    check = alone("BiasAdd", [np.zeros((64, 2)), np.zeros(2)], g)
    assert check.findings[1].verdict in (Verdict.OK, Verdict.FLOAT32)


def test_one_node_is_checked_in_every_input_and_twice() -> None:
    check = node("MatMul", [np.ones((2, 3)) * 0.3, np.ones((3, 2)) * 0.7], second_order=True)
    assert check.verdict is Verdict.OK
    assert set(check.findings) == set(check.second) == {0, 1}
    assert {f.method for f in check.findings.values()} == {COMPLEX}


def test_of_a_large_input_a_few_elements_are_looked_at() -> None:
    check = node("Mul", [np.full((50, 40), 0.3), np.full((50, 40), 0.7)], most=16)
    assert {(f.looked_at, f.size) for f in check.findings.values()} == {(16, 2000)}
    assert check.verdict is Verdict.OK


@pytest.mark.parametrize(
    ("gradient", "gives", "verdict"),
    [
        (None, 0.0, Verdict.DEFECT),
        (None, 5.0, Verdict.WRONG),
        ([5.0], 5.0, Verdict.DEFECT),
        ([5.0], 0.0, Verdict.WRONG),
        ([1.0], 1.0, Verdict.OK),
    ],
)
def test_only_what_tensorflow_gives_is_laid_to_it(
    gradient: list[float] | None, gives: float, verdict: Verdict
) -> None:
    slope = np.ones(1)
    numeric = NumericGradient(slope, slope, slope, noise=np.zeros(1), kink=np.zeros(1, bool))
    array = None if gradient is None else np.array(gradient)
    found = judge(array, array, numeric, lambda: np.zeros(1))
    defect = Defect("x", "a reason", "a source", gives=gives)
    told = attribute_to(defect, found, array, numeric)
    assert told.verdict is verdict
    assert told.analytic == (None if gradient is None else gradient[0])
    assert told.why == ("a reason (a source)" if verdict is Verdict.DEFECT else "")


def test_a_short_types_limit_keeps_its_name_beside_a_pole_and_a_defect() -> None:
    """An element is right but for float16's rounding, and another is wrong, for a reason that is
    known."""
    slope = np.ones(2)
    numeric = NumericGradient(slope, slope, slope, noise=np.zeros(2), kink=np.zeros(2, bool))
    short, wide = np.array([np.inf, 5.0], np.float16), np.array([1.0, 5.0])
    found = judge(short, wide, numeric, lambda: np.zeros(2))
    told = attribute_to(Defect("x", "a reason", "a source", gives=5.0), found, short, numeric)
    assert [*told.verdicts.values()] == [Verdict.FLOAT32, Verdict.DEFECT]
    pole = np.array([np.inf, np.nan], np.float16)
    found = judge(pole, np.array([1.0, np.nan]), numeric, lambda: np.zeros(2))
    assert found.verdict is Verdict.WRONG
    told = leave_out_poles(found, pole, numeric)
    assert [*told.verdicts.values()] == [Verdict.FLOAT32, Verdict.KINK]
    assert told.text.startswith("float16's limit at index [0]")


@each_of(
    ("gradient", "noise", "verdict"),
    [
        (1.0, 0.0, Verdict.OK),
        (1.01, 0.02, Verdict.FLOAT32),
        (1.01, 0.001, Verdict.WRONG),
        (-1.0, 0.02, Verdict.WRONG),
        (np.nan, 0.0, Verdict.FLOAT32),
        (np.inf, 0.0, Verdict.FLOAT32),
    ],
)
def test_what_rounding_explains_is_float32s(
    gradient: float, noise: float, verdict: Verdict
) -> None:
    """Where the same in float64 is right."""
    slope = np.ones(1)
    numeric = NumericGradient(slope, slope, slope, noise=np.zeros(1), kink=np.zeros(1, bool))
    found = judge(np.array([gradient], np.float32), slope, numeric, lambda: np.array([noise]))
    assert found.verdict is verdict


@pytest.mark.parametrize(
    ("factor", "named"),
    [
        (np.full(3, 2.0, np.float32), "factor"),
        (np.full(3, 2), ""),  # no number that could be in a gradient
        (np.full(1, 2.0), ""),
        (np.full(3, 2.5), ""),
        (np.ones(3), ""),
    ],
)
def test_a_factor_that_is_there_once_too_often(factor: np.ndarray, named: str) -> None:
    slope, arrived = np.ones(3), np.array([1.0, 2, 3])
    numeric = NumericGradient(slope, slope, slope, noise=np.zeros(3), kink=np.zeros(3, bool))
    times = 1.0 if factor.dtype.kind == "f" and (factor == 1).all() else 2.0
    given = times * arrived
    wrong = judge(-slope, -slope, numeric, lambda: np.zeros(3))
    check = LocalCheck("y", "Mine", {0: given}, {0: numeric}, {0: wrong})
    assert find_repeated_factor(check, ["factor"], [factor], arrived) == named


def test_of_no_elements_nothing_is_looked_at() -> None:
    empty = np.zeros(0)
    numeric = NumericGradient(empty, empty, empty, noise=empty, kink=np.zeros(0, bool))
    found = judge(empty, empty, numeric, lambda: empty)
    assert (found.verdict, found.looked_at, found.size) == (Verdict.OK, 0, 0)


@pytest.mark.parametrize(
    ("slope", "verdict"),
    [(-1.0, Verdict.KINK), (0.3, Verdict.KINK), (1.0, Verdict.KINK), (1.1, Verdict.WRONG),
     (-1.1, Verdict.WRONG)],
)  # fmt: skip
def test_either_side_of_a_kink_is_right_and_what_is_between(slope: float, verdict: Verdict) -> None:
    def rule(op: OpView, g: Tensor) -> Tensor:
        return g * slope

    assert one("Abs", [0.0], {"Mine": rule}).finding.verdict is verdict


def test_in_double_precision_nothing_is_computed_twice() -> None:
    double, single = one("Tanh", np.float64([0.9])), one("Tanh", np.float32([0.9]))
    assert double.gradient is double.own
    assert single.gradient is not None
    assert single.gradient.dtype == np.float64


def test_draws_without_a_seed_stand_still_too() -> None:
    """The gradient and the numbers are of one run, not of several that drew something else."""
    build = GraphBuilder()
    x = build.placeholder("x", "float64", [3])
    noise = build.one("RandomUniform", np.array([3], np.int32), dtype=DType.FLOAT64)
    build.one("Mul", x, noise, name="y")
    draws = iter(np.random.default_rng(0).random((99, 3)))

    def drawing(graph: Any, fetches: Any, point: Any) -> Any:
        drawn = {noise.ref: next(draws)} if noise.ref not in point else {}
        return evaluate(graph, fetches, {**point, **drawn})

    at = {X: np.array([1.0, 2, 3])}
    found = examine(drawing, build.build(), GradientRequest.to("y", "x"), at, {})[X].finding
    assert found.verdict is Verdict.OK


def slopes(
    value: Any, noise: float = 0.0, kink: bool = False, method: str = CENTRAL, side: float = 0.0
) -> NumericGradient:
    v = np.array(value, np.float64)
    low, high = v - side, v + side
    return NumericGradient(v, low, high, method, np.full(v.shape, kink), np.full(v.shape, noise))


def verdict_of(gradient: Any, numeric: NumericGradient) -> Verdict:
    array = np.array(gradient, np.float64)
    return judge(array, array, numeric, lambda: np.zeros(array.shape)).verdict


@each_of(
    ("gradient", "numeric", "verdict"),
    [
        ([2e-8], slopes([1e-8]), Verdict.WRONG),  # small is no excuse
        ([1 + 0.9e-5], slopes([1.0]), Verdict.OK),
        ([1 + 1.3e-5], slopes([1.0]), Verdict.WRONG),
        ([1e-6, 1.0], slopes([0, 1.0]), Verdict.OK),  # next to something larger
        ([1e-6, 0.1], slopes([0, 0.1]), Verdict.WRONG),
        ([1.0 + 60e-4], slopes([1.0], noise=1e-4), Verdict.OK),
        ([1.0 + 70e-4], slopes([1.0], noise=1e-4), Verdict.WRONG),
        ([1.0 + 7e-4], slopes([1.0], noise=1e-4, method=COMPLEX), Verdict.OK),
        ([1.0 + 9e-4], slopes([1.0], noise=1e-4, method=COMPLEX), Verdict.WRONG),
        ([1.5], slopes([1.0], kink=True, side=0.5), Verdict.KINK),
        ([0.5], slopes([1.0], kink=True, side=0.5), Verdict.KINK),
        ([1.6], slopes([1.0], kink=True, side=0.5), Verdict.WRONG),
        ([0.4], slopes([1.0], kink=True, side=0.5), Verdict.WRONG),
        ([1.5], slopes([1.0], side=0.5), Verdict.WRONG),
        ([np.nan], slopes([1.0]), Verdict.WRONG),
        ([np.nan], slopes([np.nan], kink=True), Verdict.KINK),
        ([5.0], slopes([np.inf], kink=True), Verdict.KINK),
    ],
)
def test_how_near_a_gradient_must_be(
    gradient: Any, numeric: NumericGradient, verdict: Verdict
) -> None:
    assert verdict_of(gradient, numeric) is verdict


@each_of(
    ("gradient", "wide", "verdict"),
    [
        ([1.0009], [1.0], Verdict.OK),  # as near as float32 mostly is
        ([1.0011], [1.0], Verdict.WRONG),
        ([0.9e-5, 1.0], [0.0, 1.0], Verdict.OK),  # next to something larger
        ([1.1e-5, 1.0], [0.0, 1.0], Verdict.WRONG),
        ([1e-12], [0.0], Verdict.WRONG),
        ([np.inf], [1.0], Verdict.FLOAT32),
        ([np.nan, 1.0], [np.nan, 1.0], Verdict.KINK),
        ([1.0, 1.0], [np.nan, 1.0], Verdict.WRONG),
    ],
)
def test_how_near_float32_must_be_to_float64(gradient: Any, wide: Any, verdict: Verdict) -> None:
    """Where that is right, or where there are no numbers to hold it against."""
    numeric = slopes(wide)
    numeric = replace(numeric, kink=np.isnan(numeric.value))
    found = judge(
        np.array(gradient), np.array(wide), numeric, lambda: np.zeros(numeric.value.shape)
    )
    assert found.verdict is verdict


def test_without_a_gradient_in_one_precision_there_is_none() -> None:
    numeric = slopes([1.0])
    for own, wide in ((None, np.ones(1)), (np.ones(1), None)):
        found = judge(own, wide, numeric, lambda: np.zeros(1))
        assert (found.verdict, found.analytic) == (Verdict.WRONG, None)
        assert found.text == "wrong at index [0]: None, but 1 by central differences"


@pytest.mark.parametrize(("off", "verdict"), [(0.5, Verdict.FLOAT32), (0.51, Verdict.WRONG)])
def test_rounding_explains_as_much_as_it_makes(off: float, verdict: Verdict) -> None:
    """Around 0, where float32 itself adds nothing."""
    numeric = slopes([0.0])
    found = judge(np.array([off]), np.zeros(1), numeric, lambda: np.full(1, 0.5))
    assert found.verdict is verdict


def test_of_equal_concern_the_farthest_off_is_named() -> None:
    numeric = slopes([[1.0, 1.0], [1.0, 1.0]])
    array = np.array([[1.0, 1.2], [1.9, 0.5]])
    found = judge(array, array, numeric, lambda: np.zeros((2, 2)))
    assert (found.index, found.analytic, found.numeric) == ((1, 0), 1.9, 1.0)
    assert found.difference == pytest.approx(0.9)
    assert found.text == "wrong at index [1, 0]: 1.9, but 1 by central differences"
    array = np.array([[1.0, np.nan], [1.9, 0.5]])
    assert judge(array, array, numeric, lambda: np.zeros((2, 2))).index == (0, 1)
