"""A rule's backward of JAX as text: what can be written is what it says, what cannot is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.lowering.foreign_graph import (
    CustomFunction,
    ForeignNode,
    ForeignRef,
    ForeignTensor,
)
from gradstep.core.lowering.gradient_source import gradient_source
from gradstep.core.lowering.lax_expressions import lax_expression, product_equation
from gradstep.core.lowering.lowering_table import UnloweredError
from tests.support.each_case import each_of

X = ForeignRef("x")


def written(op: str, args: dict[str, Any]) -> str:
    """Of one that gives [2, 3]."""
    node = ForeignNode("n", f"lax.{op}", args, (ForeignTensor("float32", (2, 3)),))
    return lax_expression(node, lambda v: "x" if v is X else repr(v), lambda ref: 2)


@each_of(
    ("text", "op", "args"),
    [
        ("tf.tanh(x)", "tanh", {"x": X}),
        ("x * 2.0", "mul", {"x": X, "y": 2.0}),
        ("tf.maximum(0.0, x)", "max", {"x": 0.0, "y": X}),
        ("tf.clip_by_value(x, -1.0, 1.0)", "clamp", {"min": -1.0, "x": X, "max": 1.0}),
        ("-x", "neg", {"x": X}),
        ("x ** 3", "integer_pow", {"x": X, "y": 3}),
        ("tf.where(x, 1.0, 0.0)", "select_n", {"which": X, "cases": [0.0, 1.0]}),
        ("tf.reduce_sum(x, axis=[1])", "reduce_sum", {"x": X, "axes": [1]}),
        ("tf.reshape(x, [2, 3])", "squeeze", {"x": X, "dimensions": [1]}),
        ("tf.transpose(x, [1, 0])", "transpose", {"x": X, "permutation": [1, 0]}),
        ("tf.cast(x, 'float32')", "convert_element_type", {"x": X, "new_dtype": None}),
        ("tf.fill([2, 3], 1.0)", "broadcast_in_dim",
         {"x": 1.0, "shape": [2, 3], "broadcast_dimensions": []}),
        ("tf.broadcast_to(tf.expand_dims(x, 0), [2, 3])", "broadcast_in_dim",
         {"x": X, "shape": [2, 3], "broadcast_dimensions": [1]}),
        ("2.0 * x", "dot_general",
         {"lhs": 2.0, "rhs": X, "dimension_numbers": [[[], []], [[], []]]}),
        ("tf.ones_like(x)", "integer_pow", {"x": X, "y": 0}),
        ("tf.stack([x, x], axis=1)", "stack", {"x": X, "y": X, "axis": 1}),
        ("tf.stack([x, 2.0, x], axis=0)", "stack", {"operands": [X, 2.0, X], "axis": 0}),
        ("tf.einsum('ab,bd->ad', x, x)", "dot_general",
         {"lhs": X, "rhs": X, "dimension_numbers": [[[1], [0]], [[], []]]}),
    ],
)  # fmt: skip
def test_expressions(text: str, op: str, args: dict[str, Any]) -> None:
    assert written(op, args) == text


@pytest.mark.parametrize(
    ("op", "args"),
    [
        ("fft", {"x": X}),
        ("reshape", {"x": X, "new_sizes": [6], "dimensions": [1, 0]}),
        ("select_n", {"which": X, "cases": [X, X, X]}),
    ],
)
def test_what_cannot_be_written_is_refused(op: str, args: dict[str, Any]) -> None:
    with pytest.raises(UnloweredError, match="its backward has"):
        written(op, args)


def test_a_product_of_what_is_not_told_is_refused() -> None:
    """How many axes the other has, nobody says."""
    args = {"lhs": X, "rhs": ForeignRef("saved"), "dimension_numbers": [[[1], [0]], [[], []]]}
    node = ForeignNode("m", "lax.dot_general", args, (ForeignTensor("float32", (2, 2)),))
    function = CustomFunction("F", "", (X,), (ForeignRef("y"),), (ForeignRef("g"),), (None,))
    with pytest.raises(UnloweredError, match="whose axes are not told"):
        gradient_source("F", function, [node], lambda ref: 2 if ref == X else None)


def test_equations() -> None:
    """Batch axes first, what is left of each behind them, as dot_general orders them."""
    drawn = np.random.default_rng(0)
    a, b = drawn.normal(size=(4, 2, 3)), drawn.normal(size=(3, 5, 2))
    equation = product_equation(3, 3, [[[2], [0]], [[1], [2]]])
    wanted = np.stack([a[:, i] @ b[:, :, i] for i in range(2)])
    np.testing.assert_allclose(np.einsum(equation, a, b), wanted)
