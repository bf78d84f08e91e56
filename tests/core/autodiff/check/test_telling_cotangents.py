"""A wrong rule is found whatever arrives at it: behind saturated units, masks and dead ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.check.op_gradcheck import LocalCheck, check_operation
from gradstep.core.autodiff.check.telling_cotangents import find_telling, largest, vanishes
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.checks.gradients.check_conclusion import conclusion
from gradstep.core.checks.gradients.gradient_checks import gradient_table
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import Constant
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.program.questions.first_run_values import situation
from gradstep.core.program.questions.loaded_document import Loaded
from gradstep.core.protocol.messages import GradientTable
from tests.support.networks import evaluate

X = np.array([0.3, -0.2, 0.7])
Rule = Callable[[Any, Any], Any]
RULES: Mapping[str, tuple[Rule, bool]] = {  # of Square; and whether it is right
    "right": (lambda op, g: g * 2.0 * op.inputs[0], True),
    "factor": (lambda op, g: g * 3.0 * op.inputs[0], False),
    "sign": (lambda op, g: g * -2.0 * op.inputs[0], False),
    "through": (lambda op, g: g, False),
    "slightly": (lambda op, g: g * 2.001 * op.inputs[0], False),
}


def _checked(rule: Rule, cotangent: np.ndarray, second_order: bool = False) -> LocalCheck:
    b = GraphBuilder()
    y = b.one("Square", b.placeholder("x", "float64", [3]), name="y")
    request = GradientRequest(overrides=(Override("R", "y", OverrideKind.OP),))
    op, functions = y.op.operation, {"R": rule}
    check = check_operation(
        evaluate, op, [X], {0: cotangent}, request, functions, second_order=second_order
    )
    assert check is not None
    return check


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("size", [0.0, 1e-300, 1e-15, 1e-6, 1e12])
@pytest.mark.parametrize("second_order", [False, True])
def test_a_wrong_rule_is_found_whatever_arrives(name: str, size: float, second_order: bool) -> None:
    rule, right = RULES[name]
    cotangent = size * np.array([1.0, -0.5, 0.25])
    check = _checked(rule, cotangent, second_order)
    assert check.agrees == right
    if size >= 1e-6:
        assert check.cotangents[0] is cotangent
    if size <= 1e-15:
        assert largest(check.cotangents) > 0.25


@pytest.mark.parametrize("least", [0.0, 1e-15])
def test_a_rule_that_is_wrong_where_little_arrives_is_found(least: float) -> None:
    def rule(op: Any, g: Any) -> Any:
        return g * 2.0 * op.inputs[0] * np.array([1.0, 1.0, 5.0])

    check = _checked(rule, np.array([1.0, -0.5, least]))
    assert check.wrong_inputs == [0]
    assert check.findings[0].index == (2,)
    assert check.cotangents[0][:2].tolist() == [1.0, -0.5]


def test_what_is_wrong_for_what_arrives_is_said_of_that() -> None:
    cotangent = np.array([1.0, -0.5, 0.0])
    check = _checked(RULES["factor"][0], cotangent)
    assert check.wrong_inputs == [0]
    assert check.cotangents[0] is cotangent


def test_what_clips_a_gradient_is_right_where_nothing_is_clipped() -> None:
    def rule(op: Any, g: Any) -> Any:
        return tf.clip_by_value(g, -1.0, 1.0) * 2.0 * op.inputs[0]

    assert _checked(rule, np.full(3, 1e-15)).agrees
    assert not _checked(rule, np.full(3, 3.0)).agrees


def test_a_pole_that_a_mask_leaves_out_is_nobodys_mistake() -> None:
    """1 / 0, of which nothing is read: with numbers for the gradient it gives NaN."""
    b = GraphBuilder()
    one, x = b.placeholder("one", "float64", []), b.placeholder("x", "float64", [3])
    op = b.one("RealDiv", one, x, name="y").op.operation
    at = [np.array(1.0), np.array([0.0, 2.0, 0.0])]
    check = check_operation(evaluate, op, at, {0: np.array([0.0, 1.0, 0.0])}, GradientRequest(), {})
    assert check is not None
    assert check.agrees


def test_numbers_stand_for_what_is_too_small_alone() -> None:
    large = {0: np.array([1.0, 1e-3]), 1: np.array([0.5j])}
    assert find_telling(large) is large
    broken = {0: np.array([np.nan, 0.0])}
    assert find_telling(broken) is broken
    small = {0: np.zeros((2, 3), np.float16), 1: np.full(2, 1e-20 + 0j, np.complex64)}
    found = find_telling(small)
    assert vanishes(small)
    assert not vanishes(found)
    assert [found[i].dtype for i in found] == [np.float16, np.complex64]
    for each in found.values():
        assert (np.abs(each) > 0.25).all()
        assert (np.abs(each) <= 1.0).all()
    again = find_telling(small)
    assert all(np.array_equal(found[i], again[i]) for i in found)
    much = find_telling({0: np.array([1e30, 0.0])})
    assert much[0][0] == 1e30
    assert abs(much[0][1]) > 1e29
    assert largest({}) == 0.0


def _table(rule: str, scale: float) -> GradientTable:
    """Tanh of something large, behind an override: what arrives there is hardly anything."""
    b = GraphBuilder()
    with b.as_default():
        x = b.variable("x", "float64", [3])
        y = tf.square(x, name="y")
        t = tf.tanh(tf.multiply(y, np.float64(scale), name="large"), name="flat")
        tf.reduce_sum(t, name="loss")
    code = {"R": CodeItem("R", CodeKind.GRADIENT, f"def R(op, grad):\n    return {rule}\n")}
    bent = (Override("R", "y", OverrideKind.OP),)
    request = replace(GradientRequest.to("loss", "x"), overrides=bent)
    document = Document(graph=b.build(), request=request, initial={"x": Constant(X + 1)}, code=code)
    loaded = Loaded(document, {"R": eval(f"lambda op, grad: {rule}")})
    here = situation(loaded, NumpyBackend())
    return gradient_table(Evaluator({}), here)


@pytest.mark.parametrize("scale", [1.0, 25.0, 1e4])
def test_the_check_of_a_document_fails_by_a_wrong_rule_behind_flat_units(scale: float) -> None:
    wrong = _table("grad * 3.0 * op.inputs[0]", scale)
    end = conclusion((), wrong)
    assert not end.passed
    assert [p.node for p in end.problems if p.severity == "error"] == ["y"]
    (node,) = [one for one in wrong.nodes if not one.agrees]
    assert node.unseen == (scale > 1)
    if node.unseen:
        assert "tells nothing: numbers of order one stand for it." in node.text
        assert wrong.text == (
            "Those that were asked for are too small to tell, but other gradients differ from "
            "finite differences. Wrong by itself: y (R)."
        )
        assert wrong.rows[0].verdict == "ok"
    right = _table("grad * 2.0 * op.inputs[0]", scale)
    assert conclusion((), right).passed
    assert all(one.agrees for one in right.nodes)
    if scale == 25:
        assert any("too small to tell: at most" in row.text for row in right.rows)
