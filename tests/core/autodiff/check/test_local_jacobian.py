"""Local Jacobians: what rules give, entry by entry, and which entries are wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.check.check_result import Verdict
from gradstep.core.autodiff.check.local_jacobian import (
    MOST_ROWS,
    JacobianBlock,
    local_jacobian,
)
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import (
    GradientRequest,
    Override,
    OverrideKind,
)
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.builder import GraphBuilder

WRONG = [*Verdict].index(Verdict.WRONG)
KINK = [*Verdict].index(Verdict.KINK)


def operation(type: str, *inputs: np.ndarray, **attrs: Any) -> Operation:
    build = GraphBuilder()
    holes = [build.placeholder(f"x{i}", DType.of(x.dtype), x.shape) for i, x in enumerate(inputs)]
    build.op(type, *holes, name="y", **attrs)
    return build.build()["y"]


def jacobian(
    op: Operation,
    *inputs: np.ndarray,
    request: GradientRequest = GradientRequest(),
    functions: Any = None,
) -> list[JacobianBlock]:
    return local_jacobian(Evaluator({}), op, inputs, request, functions or {})


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def test_of_a_product_of_matrices_it_is_what_the_book_says() -> None:
    a, b = numbers(2, 3), numbers(3, 2, seed=1)
    by_a, by_b = jacobian(operation("MatMul", a, b), a, b)
    assert np.allclose(by_a.rule, np.kron(np.eye(2), b.T), atol=1e-6)
    assert np.allclose(by_b.rule, np.kron(a, np.eye(2)), atol=1e-6)
    for block in (by_a, by_b):
        assert block.numeric is not None
        assert np.allclose(block.rule, block.numeric, atol=1e-5)
        assert block.wrong == 0
    assert (by_a.shapes, by_b.shapes) == (((2, 2), (2, 3)), ((2, 2), (3, 2)))


@pytest.mark.parametrize(
    ("type", "slope"),
    [("Tanh", lambda x: 1 - np.tanh(x) ** 2), ("Exp", np.exp), ("Neg", lambda x: -np.ones_like(x))],
)
def test_what_is_done_to_each_element_has_a_diagonal(type: str, slope: Any) -> None:
    x = numbers(4)
    (block,) = jacobian(operation(type, x), x)
    assert np.allclose(block.rule, np.diag(slope(x)), atol=1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_its_rows_add_up_to_the_gradient_of_any_weights(seed: int) -> None:
    """J transposed times what arrives is what the rule gives for that."""
    random = np.random.default_rng(seed)
    x = random.normal(size=(2, int(random.integers(2, 5)))).astype(np.float32)
    type = ("Softmax", "LogSoftmax", "Square", "Sigmoid")[seed % 4]
    op = operation(type, x)
    (block,) = jacobian(op, x)
    weights = random.normal(size=x.shape).astype(np.float32)
    build = GraphBuilder()
    given = build.placeholder("x0", shape=x.shape)
    y = build.one(type, given, name="y")
    build.one("Mul", y, build.tensor(weights, DType.FLOAT32), name="weighted")

    request = GradientRequest.to("weighted", "x0")
    derived = differentiate(build.build(), request)
    held = derived.gradients[request.wrt[0]]
    (whole,) = Evaluator({})(derived.graph, [held], {request.wrt[0]: x})
    assert whole is not None
    assert np.allclose(weights.ravel() @ block.rule, whole.ravel(), atol=1e-5)


def test_a_rule_that_is_wrong_in_one_entry_is_found_there() -> None:
    def spoilt(op: Any, g: Any) -> Any:
        right = g * op.inputs[0] * 2.0
        return right + g * np.array([0, 0, 1], np.float32)

    x, request = numbers(3), GradientRequest(overrides=(Override("Bad", "y", OverrideKind.OP),))
    (block,) = jacobian(operation("Square", x), x, request=request, functions={"Bad": spoilt})
    assert block.verdicts is not None
    assert block.numeric is not None
    assert np.argwhere(block.verdicts == WRONG).tolist() == [[2, 2]]
    assert block.wrong == 1
    assert np.isclose(block.rule[2, 2] - block.numeric[2, 2], 1, atol=1e-5)


def test_a_rule_that_gives_nothing_is_wrong_where_there_is_something() -> None:
    x, request = numbers(2), GradientRequest(overrides=(Override("No", "y", OverrideKind.OP),))
    found = jacobian(operation("Exp", x), x, request=request, functions={"No": lambda op, g: None})
    (block,) = found
    assert not block.rule.any()
    assert block.wrong == 2, "not where the slope is zero"


def test_at_a_kink_any_slope_between_is_right() -> None:
    x = np.array([0, 1, -1], np.float32)
    (block,) = jacobian(operation("Relu", x), x)
    assert block.wrong == 0
    assert block.verdicts is not None
    assert block.verdicts[0, 0] == KINK


def test_of_many_entries_only_the_rule_is_asked() -> None:
    x = numbers(100)
    (block,) = jacobian(operation("Neg", x), x)
    assert block.numeric is None
    assert block.verdicts is None
    assert np.array_equal(block.rule, -np.eye(100))


def test_of_too_many_there_is_none() -> None:
    x = numbers(MOST_ROWS + 1)
    with pytest.raises(GradstepError, match="1,025 rows"):
        jacobian(operation("Neg", x), x)


def test_integers_are_held_and_what_has_no_numbers_has_none() -> None:
    x, rows = numbers(3, 2), np.array([2, 0], np.int32)
    (block,) = jacobian(operation("Gather", x, rows), x, rows)
    wanted = np.zeros((4, 6))
    wanted[[0, 1, 2, 3], [4, 5, 0, 1]] = 1
    assert np.array_equal(block.rule, wanted)
    with pytest.raises(GradstepError, match="no floating-point"):
        jacobian(operation("Neg", rows), rows)


@pytest.mark.parametrize(("type", "x", "there"), [("Exp", [1000, 1], np.e), ("Log", [0, 2], 0.5)])
def test_an_infinite_element_spoils_no_row_but_its_own(
    type: str, x: list[float], there: float
) -> None:
    point = np.array(x, np.float32)
    (block,) = jacobian(operation(type, point), point)
    assert block.numeric is not None
    assert block.verdicts is not None
    assert block.numeric[1] == pytest.approx([0, there], rel=1e-3)
    assert block.rule[1, 1] == pytest.approx(there, rel=1e-3)
    assert block.verdicts[1].tolist() == [WRONG, 0], "the rule makes NaN of 0 times infinity"
