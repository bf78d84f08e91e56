"""The gradients of gathers: rows that came from one place are summed there."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.catalogue.arrays.gather_gradient_dynamic_axis import summed_along_any_axis
from gradstep.core.ops.typing.static_values import constant_of, shape_of

_FLAT = np.array([-1], np.int32)
_FROM_ONE = (np.array([1], np.int32), np.array([0], np.int32), np.array([1], np.int32))


def gather_gradient(op: OpView, g: Tensor) -> tuple[Tensor | IndexedSlices, None, None]:
    """The gradient to params: rows where whole rows were taken, else dense. `g` is
    [*batch, *outer, *places, *inner]: the places move before the outer axes, are summed by index,
    and the summed axis moves back."""
    params, indices, axis = op.inputs
    known, batch = constant_of(axis), op.get_attr("batch_dims")
    if known is not None and known == 0 and batch == 0:
        return rows_taken(g, params, indices), None, None
    rank, count = params.shape.rank, indices.shape.rank
    if batch < 0 and count is None:
        raise _needs_rank(op)
    batch = batch + (count or 0) if batch < 0 else batch
    if known is None or rank is None or count is None:
        return summed_along_any_axis(op, g, batch), None, None
    at = int(known) % rank
    places = range(at, at + count - batch)
    rest = range(places.stop, rank - 1 + len(places))
    moved = _transposed(g, [*range(batch), *places, *range(batch, at), *rest])
    order = [*range(batch), at, *range(batch, at), *range(at + 1, rank)]
    summed = _sum_in_batches(op, moved, order, batch) if batch else _sum_rows(op, moved, at)
    return _transposed(summed, np.argsort(order).tolist()), None, None


def rows_taken(g: Tensor, params: Tensor, indices: Tensor) -> IndexedSlices:
    """The gradient of rows [*places, …] of `params` as IndexedSlices."""
    shape = shape_of(params)
    if indices.shape.rank == 1:
        return IndexedSlices(g, indices, shape)
    flat = call("Reshape", indices, _FLAT)
    return IndexedSlices(call("Reshape", g, _rows_shape(shape, flat)), flat, shape)


def _rows_shape(shape: Tensor | np.ndarray, flat: Tensor) -> Tensor | np.ndarray:
    """[how many indices, *what a row is], int32."""
    count = shape_of(flat)
    if isinstance(shape, np.ndarray) and isinstance(count, np.ndarray):
        return np.concatenate([count, shape[1:]]).astype(np.int32)
    row = call("StridedSlice", shape, *_FROM_ONE, end_mask=1)
    return call("ConcatV2", count, row, np.array(0, np.int32))


def _sum_rows(op: OpView, g: Tensor, axis: int) -> Tensor:
    """[*places, …] summed to [size of params along axis, …]."""
    return call("UnsortedSegmentSum", g, op.inputs[1], _size(op.inputs[0], axis))


def _sum_in_batches(op: OpView, g: Tensor, order: list[int], batch: int) -> Tensor:
    """[*batch, *places, …] summed to the sizes of params in `order`, each batch apart."""
    params, indices, _ = op.inputs
    ones = call("OnesLike", indices)
    # Counting ones along an axis gives the position on it, whatever the sizes are.
    places = [call("Cumsum", ones, np.array(i, np.int32), exclusive=True) for i in range(batch)]
    sizes = shape_of(params)
    if isinstance(sizes, np.ndarray):
        shape: Any = sizes[order].astype(indices.dtype.numpy)
    else:
        turned = call("GatherV2", sizes, np.array(order, np.int32), np.array(0, np.int32))
        shape = call("Cast", turned, DstT=indices.dtype)
    return call("ScatterNd", call("Pack", *places, indices, axis=-1), g, shape)


def _size(x: Tensor, axis: int) -> Tensor | np.ndarray:
    """One size of `x`, an int32 scalar."""
    if x.shape.dims is not None and (size := x.shape.dims[axis]) is not None:
        return np.array(size, np.int32)
    at = np.array(axis, np.int32)
    return call("GatherV2", call("Shape", x), at, np.array(0, np.int32))


def _transposed(x: Tensor, order: list[int]) -> Tensor:
    return x if order == sorted(order) else call("Transpose", x, np.array(order, np.int32))


def _needs_rank(op: OpView) -> GradstepError:
    return GradstepError(
        "Currently, it is unsupported to take the gradient of tf.gather when batch_dims < 0 and "
        "the rank of the indices is unknown. Please pass a positive batch_dims or use "
        "tf.ensure_shape to update the shape of indices when calling tf.gather. Got "
        f"batch_dims={op.get_attr('batch_dims')} and indices={op.inputs[1].name}",
        kind="ValueError",
        node=op.name,
        hint="count batch_dims from the front",
    )
