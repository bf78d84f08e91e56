"""Functions of `tf` that pick: by condition, by index, by rank; each as TensorFlow builds it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops.api.tf_creation import alike, constant, ints
from gradstep.core.ops.build.tensor import Tensor, TensorLike, call, call_many
from gradstep.core.ops.typing.static_values import shape_of

_ZERO = np.array(0, np.int32)


def where(
    condition: TensorLike, x: TensorLike = None, y: TensorLike = None, name: str | None = None
) -> Tensor:
    """`x` where the condition holds, else `y`; Select for equal shapes, SelectV2 to broadcast.
    Without them, the indices where it holds."""
    condition = constant(condition)
    if x is None and y is None:
        return call("Where", condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    like = next((t for t in (x, y) if isinstance(t, Tensor)), None)
    chosen = alike(x, like), alike(y, like)
    equal = condition.shape == chosen[0].shape == chosen[1].shape
    return call("Select" if equal else "SelectV2", condition, *chosen, name=name)


def gather(
    params: TensorLike,
    indices: TensorLike,
    validate_indices: bool | None = None,
    name: str | None = None,
    axis: TensorLike = None,
    batch_dims: int = 0,
) -> Tensor:
    """The slices that the indices name along an axis; the leading `batch_dims` are shared."""
    at = batch_dims if axis is None else axis
    attrs = {"batch_dims": batch_dims}
    return call("GatherV2", constant(params), constant(indices), ints(at), **attrs, name=name)


def boolean_mask(
    tensor: TensorLike, mask: TensorLike, name: str = "boolean_mask", axis: TensorLike = None
) -> Tensor:
    """The elements, or slices, whose flag in `mask` is set."""
    tensor, mask = constant(tensor), constant(mask)
    rank, at = mask.shape.rank, 0 if axis is None else int(np.asarray(axis))
    if rank == 0:
        raise ValueError("mask cannot be scalar.")
    if rank is None:
        raise ValueError(
            "Number of mask dimensions must be specified, even if some dimensions are None.  "
            "E.g. shape=[None] is ok, but shape=None is not."
        )
    if tensor.shape.dims is not None:
        Shape(tensor.shape.dims[at : at + rank]).merge(mask.shape)
    with tensor.builder.scope(name):
        flat = call("Reshape", tensor, _masked_shape(tensor, at, rank))
        flags = call("Reshape", mask, np.array([-1], np.int32))
        places = call("Squeeze", call("Where", flags), squeeze_dims=(1,))
        return call("GatherV2", flat, places, np.array(at, np.int32))


def _masked_shape(tensor: Tensor, at: int, rank: int) -> Tensor | np.ndarray:
    """The sizes of `tensor` with the masked axes made one."""
    sizes = shape_of(tensor)
    if isinstance(sizes, np.ndarray):
        leading = np.prod(sizes[at : at + rank], dtype=np.int32)
        return np.array([*sizes[:at], leading, *sizes[at + rank :]], np.int32)
    ends = ((0, at), (at, at + rank), (at + rank, None))
    before, masked, after = (_cut(sizes, *end) for end in ends)
    leading_op = call("ExpandDims", call("Prod", masked, np.array([0], np.int32)), _ZERO)
    return call("ConcatV2", before, leading_op, after, _ZERO)


def _cut(x: Tensor, start: int, stop: int | None) -> Tensor:
    """x[start:stop] of a vector."""
    ends = np.array([start], np.int32), np.array([stop or 0], np.int32)
    mask = 1 if stop is None else 0
    return call("StridedSlice", x, *ends, np.array([1], np.int32), end_mask=mask)


class TopK(NamedTuple):
    values: Tensor
    indices: Tensor


def top_k(
    input: TensorLike,
    k: TensorLike = 1,
    sorted: bool = True,
    index_type: DType | str = "int32",
    name: str | None = None,
) -> TopK:
    """The k largest elements of each row, and where they are."""
    attrs = {"sorted": sorted, "index_type": DType(index_type)}
    return TopK(*call_many("TopKV2", constant(input), ints(k), **attrs, name=name))


def in_top_k(
    predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = None
) -> Tensor:
    """Whether fewer than k predictions of each row are larger than its target's."""
    targets = constant(targets)
    rank = alike(k, targets)
    return call("InTopKV2", constant(predictions), targets, rank, name=name)


def sort(
    values: TensorLike, axis: int = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """The elements in order along an axis."""
    return _in_order(constant(values), axis, direction, name or "sort", 0)


def argsort(
    values: TensorLike,
    axis: int = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The indices that put the elements in order along an axis; equal ones stay as they were."""
    return _in_order(constant(values), axis, direction, name or "argsort", 1)


def _in_order(values: Tensor, axis: int, direction: str, name: str, which: int) -> Tensor:
    """TensorFlow sorts with TopKV2; ascending, what it sorts are negatives."""
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            "Argument `direction` should be one of ASCENDING, DESCENDING. Received: "
            f"direction={direction}"
        )
    with values.builder.scope(name):
        if direction == "DESCENDING":
            return _descending(values, axis, which)
        found = _descending(_mirrored(values), axis, which)
        return found if which else _mirrored(found)


def _mirrored(x: Tensor) -> Tensor:
    """The largest for the smallest: its own inverse."""
    if x.dtype.value.startswith("uint"):
        highest = np.array(np.iinfo(x.dtype.numpy).max, x.dtype.numpy)
        return call("Sub", highest, x)
    if x.dtype.is_integer:  # the lowest has no negative
        return call("Sub", call("Neg", x), np.array(1, x.dtype.numpy))
    return call("Neg", x)


def _descending(values: Tensor, axis: int, which: int) -> Tensor:
    rank = values.shape.rank
    if axis == -1 or axis + 1 == rank:
        return call_many("TopKV2", values, _size(values, axis))[which]
    order = _axes_exchanged(values, axis)
    turned = call("Transpose", values, order)
    return call("Transpose", call_many("TopKV2", turned, _size(values, axis))[which], order)


def _axes_exchanged(x: Tensor, axis: int) -> Tensor | np.ndarray:
    """The axes of `x` in order, but for `axis` and the last."""
    if x.shape.rank is not None:
        order = np.arange(x.shape.rank, dtype=np.int32)
        order[[axis, -1]] = order[[-1, axis]]
        return order
    rank = call("Rank", x)
    own = call("AddV2", rank, np.array(axis, np.int32)) if axis < 0 else np.array(axis, np.int32)
    pair = call("Pack", own, call("Sub", rank, np.array(1, np.int32)))
    axes = call("Range", _ZERO, rank, np.array(1, np.int32))
    places = call("ExpandDims", pair, np.array(1, np.int32))
    return call(
        "TensorScatterUpdate", axes, places, call("ReverseV2", pair, np.array([0], np.int32))
    )


def _size(x: Tensor, axis: int) -> Tensor | np.ndarray:
    if x.shape.dims is not None and (known := x.shape.dims[axis]) is not None:
        return np.array(known, np.int32)
    ends = np.array([axis], np.int32), np.array([axis + 1], np.int32)
    one = np.array([1], np.int32)
    return call("StridedSlice", call("Shape", x), *ends, one, shrink_axis_mask=1)


def unique(x: TensorLike, out_idx: DType | str = "int32", name: str | None = None) -> Any:
    """The distinct values in order of appearance, and which one each is."""
    return call_many("Unique", constant(x), out_idx=DType(out_idx), name=name)


def unique_with_counts(
    x: TensorLike, out_idx: DType | str = "int32", name: str | None = None
) -> Any:
    return call_many("UniqueWithCounts", constant(x), out_idx=DType(out_idx), name=name)


def setdiff1d(
    x: TensorLike, y: TensorLike, index_dtype: DType | str = "int32", name: str | None = None
) -> Any:
    """The values of x that y lacks, and their indices in x."""
    x = constant(x)
    return call_many("ListDiff", x, alike(y, x), out_idx=DType(index_dtype), name=name)


FUNCTIONS = {
    "argsort": argsort,
    "boolean_mask": boolean_mask,
    "gather": gather,
    "in_top_k": in_top_k,
    "setdiff1d": setdiff1d,
    "sort": sort,
    "top_k": top_k,
    "unique": unique,
    "unique_with_counts": unique_with_counts,
    "where": where,
}
