"""Functions of `tf` that add up, multiply and compare over axes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.api.tf_creation import Axes, constant
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call
from gradstep.core.ops.typing.static_values import all_axes, conj


def add_n(inputs: Sequence[TensorLike], name: str | None = None) -> Tensor:
    return call("AddN", *inputs, name=name)


def over(x: Tensor, axis: Axes | Tensor) -> Any:
    """Axes as the reduction ops take them; None: all of them."""
    if axis is None:
        return all_axes(x)
    return axis if isinstance(axis, Tensor) else np.array(axis, np.int32)


def _reduction(own_name: str, op_type: str) -> Callable[..., Tensor]:
    def function(
        input_tensor: TensorLike,
        axis: Axes | Tensor = None,
        keepdims: bool | None = None,
        name: str | None = None,
        reduction_indices: Axes = None,
        keep_dims: bool | None = None,
    ) -> Tensor:
        x = constant(input_tensor)
        axes = over(x, reduction_indices if axis is None else axis)
        return call(op_type, x, axes, keep_dims=bool(keepdims or keep_dims), name=name)

    function.__name__ = own_name
    function.__doc__ = f"The op {op_type}; without axes, over all of them."
    return function


def reduce_logsumexp(
    input_tensor: TensorLike,
    axis: Axes = None,
    keepdims: bool = False,
    name: str | None = None,
) -> Tensor:
    """log(sum(exp(x))), where the largest x, taken out first, keeps the sum finite."""
    with builder_of((input_tensor,)).scope(name or "ReduceLogSumExp") as scope:
        x = constant(input_tensor)
        most = call("Max", x, over(x, axis), keep_dims=True)
        finite = call("SelectV2", call("IsFinite", most), most, call("ZerosLike", most))
        shift = call("StopGradient", finite)
        total = call("Log", call("Sum", call("Exp", x - shift), over(x, axis), keep_dims=keepdims))
        if not keepdims:
            shift = call("Reshape", shift, call("Shape", total))
        return call("AddV2", total, shift, name=f"{scope}/")


def reduce_variance(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The mean squared distance from the mean."""
    with builder_of((input_tensor,)).scope(name or "reduce_variance"):
        x = constant(input_tensor)
        if x.dtype.is_integer:
            raise TypeError(
                f"Input must be either real or complex. Received integer type {x.dtype}."
            )
        apart = x - call("Mean", x, over(x, axis), keep_dims=True)
        squares = call("Square", apart)
        if apart.dtype.is_complex:
            double = apart.dtype is DType.COMPLEX128
            real = DType.FLOAT64 if double else DType.FLOAT32
            squares = call("Real", conj(apart) * apart, Tout=real)
        return call("Mean", squares, over(x, axis), keep_dims=keepdims)


def reduce_std(
    input_tensor: TensorLike, axis: Axes = None, keepdims: bool = False, name: str | None = None
) -> Tensor:
    """The square root of the variance."""
    with builder_of((input_tensor,)).scope(name or "reduce_std"):
        return call("Sqrt", reduce_variance(input_tensor, axis, keepdims))


def count_nonzero(
    input: TensorLike,
    axis: Axes = None,
    keepdims: bool = False,
    dtype: DType | str = "int64",
    name: str | None = None,
) -> Tensor:
    """How many elements are not zero."""
    with builder_of((input,)).scope(name or "count_nonzero"):
        x = constant(input)
        if x.dtype is not DType.BOOL:
            x = call("NotEqual", x, np.zeros((), x.dtype.numpy))
        ones = call("Cast", x, DstT=DType.INT64)
        total = call("Sum", ones, over(ones, axis), keep_dims=keepdims)
        return call("Cast", total, DstT=DType(dtype))


def _place(own_name: str, op_type: str) -> Callable[..., Tensor]:
    def function(
        input: TensorLike,
        axis: int | Tensor | None = None,
        name: str | None = None,
        dimension: int | None = None,
        output_type: DType | str = "int64",
    ) -> Tensor:
        x = constant(input)
        along = over(x, (dimension or 0) if axis is None else axis)
        return call(op_type, x, along, output_type=DType(output_type), name=name)

    function.__name__ = own_name
    function.__doc__ = f"The op {op_type}, along the first axis if not told otherwise."
    return function


def _cumulative(own_name: str, op_type: str) -> Callable[..., Tensor]:
    def function(
        x: TensorLike,
        axis: int | Tensor = 0,
        exclusive: bool = False,
        reverse: bool = False,
        name: str | None = None,
    ) -> Tensor:
        x = constant(x)
        return call(op_type, x, over(x, axis), exclusive=exclusive, reverse=reverse, name=name)

    function.__name__ = own_name
    function.__doc__ = f"The op {op_type}, along the first axis if not told otherwise."
    return function


_REDUCTIONS = {
    "reduce_all": "All",
    "reduce_any": "Any",
    "reduce_euclidean_norm": "EuclideanNorm",
    "reduce_max": "Max",
    "reduce_mean": "Mean",
    "reduce_min": "Min",
    "reduce_prod": "Prod",
    "reduce_sum": "Sum",
}
_CUMULATIVE = {
    "cumprod": "Cumprod",
    "cumsum": "Cumsum",
    "cumulative_logsumexp": "CumulativeLogsumexp",
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "add_n": add_n,
    "count_nonzero": count_nonzero,
    "reduce_logsumexp": reduce_logsumexp,
    "reduce_std": reduce_std,
    "reduce_variance": reduce_variance,
    **{name: _reduction(name, op_type) for name, op_type in _REDUCTIONS.items()},
    **{name: _cumulative(name, op_type) for name, op_type in _CUMULATIVE.items()},
    **{
        name: _place(name, op_type)
        for name, op_type in (("argmax", "ArgMax"), ("argmin", "ArgMin"))
    },
}
