"""Gradients of tensors that a loop reads from outside: summed over the backward iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import Tensor, call
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.typing.static_values import shape_of

Gradient = Tensor | IndexedSlices
Argument = Callable[[Tensor, str], Tensor]  # of the loop on the way back, from a tensor outside

_FROM_ONE = tuple(np.array([i], np.int32) for i in (1, 0, 1))  # begin, end, strides: [1:]


def add_to_sum(grad: Tensor, source: Tensor, argument: Argument) -> list[Tensor]:
    """The next value of the sum of the gradients of `source`, a tensor outside, of which one
    iteration gives `grad`."""
    return [call("AddV2", argument(_zeros(source, grad.dtype), "b_acc"), grad)]


def append_rows(
    values: Tensor, indices: Tensor, source: Tensor, argument: Argument
) -> list[Tensor]:
    """Likewise of rows: all so far and their indices, then those of the iteration. As TensorFlow's,
    they begin with zeros for row 0, so that there are some where no iteration took place."""
    so_far = _zero_row(source, values), source.builder.constant(np.zeros(1, indices.dtype.numpy))
    rows, numbers = (argument(x, "b_acc") for x in so_far)
    axis = np.array(0, np.int32)
    return [call("ConcatV2", rows, values, axis), call("ConcatV2", numbers, indices, axis)]


def finish_sum(sums: Sequence[Tensor], source: Tensor) -> Gradient:
    """The gradient of `source`, from the last values of what `add_to_sum` or `append_rows` gave."""
    if len(sums) == 1:
        return sums[0]
    values, indices = sums
    return IndexedSlices(values, indices, _sizes(source))


def _zeros(like: Tensor, dtype: DType) -> Tensor:
    if like.dtype is not DType.RESOURCE:
        return call("ZerosLike", like)
    return call("Fill", _sizes(like), np.zeros((), dtype.numpy), name="zeros")


def _zero_row(like: Tensor, values: Tensor) -> Tensor:
    """[1, …]: a row of zeros like those in `values`, which belong to rows of `like`."""
    zero = np.zeros((), values.dtype.numpy)
    for shape in (values.shape, like.shape):
        if shape.dims is not None and None not in (row := shape.dims[1:]):
            return like.builder.constant(np.full((1, *row), zero))
    rest = call("StridedSlice", _sizes(like), *_FROM_ONE, end_mask=1)
    size = call("ConcatV2", np.array([1], np.int32), rest, np.array(0, np.int32))
    return call("Fill", size, zero, name="zeros")


def _sizes(source: Tensor) -> Tensor | np.ndarray:
    """The shape of a tensor, or of the variable that a handle stands for."""
    if source.dtype is DType.RESOURCE:
        return call("VariableShape", source, out_type=DType.INT32)
    return shape_of(source)
