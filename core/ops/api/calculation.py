"""Functions of `tf` that compute: sums, products, reductions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from core.ops.api.creation import Axes, constant
from core.ops.known import all_axes
from core.ops.tensor import Tensor, TensorLike, call


def matmul(
    a: TensorLike, b: TensorLike, transpose_a: bool = False, transpose_b: bool = False
) -> Tensor:
    return call("MatMul", a, b, transpose_a=transpose_a, transpose_b=transpose_b)


def add_n(inputs: Sequence[TensorLike]) -> Tensor:
    return call("AddN", *inputs)


def clip_by_value(x: TensorLike, clip_value_min: TensorLike, clip_value_max: TensorLike) -> Tensor:
    return call("Maximum", call("Minimum", x, clip_value_max), clip_value_min)


def cumsum(x: TensorLike, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Tensor:
    at = np.array(axis, np.int32)
    return call("Cumsum", x, at, exclusive=exclusive, reverse=reverse)


def argmax(x: TensorLike, axis: int = 0) -> Tensor:
    return call("ArgMax", x, np.array(axis, np.int32))


def _reduction(own_name: str, op_type: str) -> Callable[..., Tensor]:
    def function(
        x: TensorLike,
        axis: Axes = None,
        keepdims: bool = False,
        name: str | None = None,
    ) -> Tensor:
        x = constant(x)
        axes: Any = all_axes(x) if axis is None else np.array(axis, np.int32)
        return call(op_type, x, axes, keep_dims=keepdims, name=name)

    function.__name__ = own_name
    function.__doc__ = f"The op {op_type}; without axes, over all of them."
    return function


_REDUCTIONS = {
    "reduce_sum": "Sum",
    "reduce_mean": "Mean",
    "reduce_max": "Max",
    "reduce_min": "Min",
    "reduce_prod": "Prod",
}

FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "add_n": add_n,
    "argmax": argmax,
    "clip_by_value": clip_by_value,
    "cumsum": cumsum,
    "matmul": matmul,
    **{name: _reduction(name, op_type) for name, op_type in _REDUCTIONS.items()},
}
