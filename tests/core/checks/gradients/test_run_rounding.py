"""A row of scores that is masked whole: what float32 has is right, but of its own numbers alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.checks.gradients.gradient_checks import gradient_table
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, OpView, Tensor
from gradstep.core.program.gradient_context import Situation
from gradstep.core.protocol.messages import GradientTable

X = np.array([[0.77, -1.23, 2.04], [1.5, 0.25, -0.75]], np.float32)
LOWEST = float(np.finfo(np.float32).min)


def masked(low: float, dtype: str = "float32") -> Graph:
    """loss = the sum of softmax(x² + mask) by numbers of its own, one row of which is all `low`."""
    build = GraphBuilder()
    kind = np.dtype(dtype).type
    x = build.placeholder("x", dtype, (2, 3))
    mask = np.array([[low] * 3, [0, low, 0]]).astype(kind)
    square = build.one("Square", x, name="square")
    hidden = build.one("AddV2", square, mask, name="hidden")
    shares = build.one("Softmax", hidden, name="shares")
    weighted = build.one("Mul", shares, np.array([1, 2, 4], kind), name="weighted")
    build.one("Sum", weighted, np.array([0, 1], np.int32), name="loss")
    return build.build()


def checked(graph: Graph, *overrides: Override, at: np.ndarray = X) -> GradientTable:
    request = replace(GradientRequest.to("loss", "x"), overrides=overrides)
    return gradient_table(Evaluator({}), Situation(graph, request, {}, {TensorRef("x"): at}))


@pytest.mark.parametrize("low", [-1e9, LOWEST])
def test_a_sum_that_keeps_nothing_of_the_scores_is_named(low: float) -> None:
    table = checked(masked(low))
    assert table.supports == "native"
    verdicts = {tuple(row.index): row.verdict for row in table.rows}
    assert {verdicts[0, j] for j in range(3)} == {"float32 limit"}
    assert {verdicts[1, j] for j in range(3)} == {"ok"}
    assert "float32's limit" in table.text
    assert f"hidden (AddV2) adds 0.593 to {low:.3g}, which keeps nothing of it" in table.text
    assert "differs from finite differences" not in table.text


@pytest.mark.parametrize(("name", "rule"), [("square", "Identity"), ("weighted", "AddV2")])
def test_a_gradient_that_is_wrong_stays_wrong_there(name: str, rule: str) -> None:
    table = checked(masked(-1e9), Override(rule, name, OverrideKind.OP))
    assert table.supports == "neither"
    assert {row.index[0] for row in table.rows if row.verdict == "wrong"} >= {1}


def test_what_is_no_rounding_of_the_run_is_wrong() -> None:
    table = checked(masked(-3.0), Override("Identity", "square", OverrideKind.OP))
    assert {row.verdict for row in table.rows} == {"wrong"}


@pytest.mark.parametrize(("weight", "factor"), [(1.0, 2.001), (1e5, -2.0)])
def test_a_rule_that_is_off_by_little_is_no_rounding(weight: float, factor: float) -> None:
    """By a thousandth, and by the sign where another element is far larger."""

    def rule(op: OpView, g: Tensor) -> Tensor:
        return g * op.inputs[0] * np.array([2.0, factor])

    build = GraphBuilder()
    x = build.placeholder("x", "float32", (2,))
    square = build.one("Square", x, name="square")
    build.one("Mul", square, np.float32([weight, 1]), name="loss")
    override = Override("Mine", "square", OverrideKind.OP)
    request = replace(GradientRequest.to("loss", "x"), overrides=(override,))
    at = {TensorRef("x"): np.float32([0.3, 1])}
    situation = Situation(build.build(), request, {"Mine": rule}, at)
    table = gradient_table(Evaluator({}), situation)
    assert [row.verdict for row in table.rows] == ["ok", "wrong"]
    assert table.supports == "native"


def test_where_sums_lose_little_nothing_is_named() -> None:
    """Beside a million float32 has steps of 0.06: too long ones for what differences say."""
    table = checked(masked(-1e6))
    verdicts = {tuple(row.index): row.verdict for row in table.rows}
    assert "float32 limit" in {verdicts[0, j] for j in range(3)}
    assert "wrong" not in verdicts.values()
    assert "keeps nothing" not in table.text


def test_float64_has_no_such_limit() -> None:
    table = checked(masked(-1e6, "float64"), at=X.astype(np.float64))
    assert {row.verdict for row in table.rows} == {"ok"}
