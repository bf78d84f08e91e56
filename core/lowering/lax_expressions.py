"""JAX's primitives as expressions of Python with `tf`: what a rule's backward is written in."""

from __future__ import annotations

import string
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from gradstep.core.lowering.foreign_graph import ForeignNode, ForeignRef
from gradstep.core.lowering.lowering_table import UnloweredError

Text = Callable[[Any], str]  # of a tensor or a number
Rank = Callable[[ForeignRef], int]

_CALLS = {
    "abs": "abs", "ceil": "ceil", "clamp": "clip_by_value", "cos": "cos", "erf": "erf",
    "exp": "exp", "expm1": "expm1", "floor": "floor", "is_finite": "is_finite", "log": "log",
    "log1p": "log1p", "logistic": "sigmoid", "max": "maximum", "min": "minimum", "not":
    "logical_not", "and": "logical_and", "or": "logical_or", "relu": "nn.relu", "rsqrt": "rsqrt",
    "sign": "sign", "sin": "sin", "sqrt": "sqrt", "square": "square", "stop_gradient":
    "stop_gradient", "tanh": "tanh", "eq": "equal", "ne": "not_equal", "gt": "greater", "ge":
    "greater_equal", "lt": "less", "le": "less_equal",
}  # fmt: skip
_SIGNS = {"add": "+", "add_any": "+", "sub": "-", "mul": "*", "div": "/", "pow": "**"}
_REDUCED = {"reduce_sum": "reduce_sum", "reduce_max": "reduce_max", "reduce_min": "reduce_min"}


def lax_expression(node: ForeignNode, text: Text, rank: Rank) -> str:
    """Of one operation. text: what its tensors and numbers are called there; rank: of a tensor.
    Raises UnloweredError for what cannot be written."""
    kind, args = node.op.partition(".")[2], node.args
    tensors = [text(args[k]) for k in ("min", "x", "y", "max") if k in args]
    if kind in _CALLS:
        order = [1, 0, 2] if kind == "clamp" else range(len(tensors))
        return f"tf.{_CALLS[kind]}({', '.join(tensors[i] for i in order)})"
    if kind in _SIGNS:
        return f" {_SIGNS[kind]} ".join(tensors)
    if kind in _REDUCED:
        return f"tf.{_REDUCED[kind]}({tensors[0]}, axis={args['axes']})"
    if (write := _OTHERS.get(kind)) is None:
        raise UnloweredError(f"its backward has {node.op}")
    return write(node, text, rank)


def _alone(node: ForeignNode, text: Text, rank: Rank) -> str:
    return text(node.args["x"])


def _negative(node: ForeignNode, text: Text, rank: Rank) -> str:
    return f"-{text(node.args['x'])}"


def _power(node: ForeignNode, text: Text, rank: Rank) -> str:
    if node.args["y"] == 0:  # whose slope is 0 at 0, too
        return f"tf.ones_like({text(node.args['x'])})"
    return f"{text(node.args['x'])} ** {text(node.args['y'])}"


def _cast(node: ForeignNode, text: Text, rank: Rank) -> str:
    return f"tf.cast({text(node.args['x'])}, {node.outputs[0].dtype!r})"


def _choice(node: ForeignNode, text: Text, rank: Rank) -> str:
    cases = node.args["cases"]
    if len(cases) != 2:
        raise UnloweredError("its backward has a choice between more than two")
    return f"tf.where({text(node.args['which'])}, {text(cases[1])}, {text(cases[0])})"


def _reshaped(node: ForeignNode, text: Text, rank: Rank) -> str:
    if node.op == "lax.reshape" and node.args.get("dimensions"):
        raise UnloweredError("its backward has axes in another order")
    return f"tf.reshape({text(node.args['x'])}, {[*node.outputs[0].shape]})"


def _transposed(node: ForeignNode, text: Text, rank: Rank) -> str:
    return f"tf.transpose({text(node.args['x'])}, {node.args['permutation']})"


def _broadcast(node: ForeignNode, text: Text, rank: Rank) -> str:
    """Axes that it has not are put in, from the first on."""
    x, shape, kept = node.args["x"], node.args["shape"], node.args["broadcast_dimensions"]
    made = text(x)
    if not isinstance(x, ForeignRef):
        return f"tf.fill({shape}, {made})"
    for axis in range(len(shape)):
        if axis not in kept:
            made = f"tf.expand_dims({made}, {axis})"
    return f"tf.broadcast_to({made}, {shape})"


def _product(node: ForeignNode, text: Text, rank: Rank) -> str:
    lhs, rhs = node.args["lhs"], node.args["rhs"]
    if not (isinstance(lhs, ForeignRef) and isinstance(rhs, ForeignRef)):  # it has no axes
        return f"{text(lhs)} * {text(rhs)}"
    equation = product_equation(rank(lhs), rank(rhs), node.args["dimension_numbers"])
    return f"tf.einsum({equation!r}, {text(lhs)}, {text(rhs)})"


def _stack(node: ForeignNode, text: Text, rank: Rank) -> str:
    two = [node.args[name] for name in ("x", "y") if name in node.args]
    parts = ", ".join(text(one) for one in (*two, *node.args.get("operands", ())))
    return f"tf.stack([{parts}], axis={node.args['axis']})"


_OTHERS: Mapping[str, Callable[[ForeignNode, Text, Rank], str]] = {
    "broadcast_in_dim": _broadcast,
    "convert_element_type": _cast,
    "copy": _alone,
    "dot_general": _product,
    "integer_pow": _power,
    "neg": _negative,
    "reshape": _reshaped,
    "select_n": _choice,
    "squeeze": _reshaped,
    "stack": _stack,
    "transpose": _transposed,
}


def product_equation(count_a: int, count_b: int, axes: Sequence[Sequence[Sequence[int]]]) -> str:
    """dot_general as Einsum has it: summed over pairs of axes, others are there once, and what is
    left is behind them."""
    (left, right), (batch_a, batch_b) = axes
    letters = iter(string.ascii_letters)
    a = [next(letters) for _ in range(count_a)]
    b = [next(letters) for _ in range(count_b)]
    for i, j in zip([*left, *batch_a], [*right, *batch_b], strict=True):
        b[j] = a[i]
    own = [letter for i, letter in enumerate(a) if i not in (*left, *batch_a)]
    others = [letter for j, letter in enumerate(b) if j not in (*right, *batch_b)]
    batch = [a[i] for i in batch_a]
    return f"{''.join(a)},{''.join(b)}->{''.join((*batch, *own, *others))}"
