"""ONNX's operators that read and write at indices, which may count from the end."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_known import known
from gradstep.core.lowering.onnx.onnx_operands import (
    Size,
    add_axis,
    cast,
    concat,
    fixed_size,
    number,
    positive,
    product,
    rank,
    reshape,
    shape_tensor,
    size,
    sizes,
)
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call, call_many

_SCATTERS = {
    "none": "TensorScatterUpdate",
    "add": "TensorScatterAdd",
    "max": "TensorScatterMax",
    "min": "TensorScatterMin",
}


def from_front(indices: Tensor, length: Size) -> Tensor:
    """Those below 0 count from the end."""
    value = known(indices)
    if value is not None and (value >= 0).all():
        return indices
    kind = indices.dtype
    count = cast(length, kind) if isinstance(length, Tensor) else np.array(length, kind.numpy)
    below = call("Less", indices, np.zeros((), kind.numpy))
    return call("SelectV2", below, call("AddV2", indices, count), indices)


@lower("Gather")
def gather(site: Site, x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    place = positive(axis, rank(x))
    return call("GatherV2", x, from_front(indices, size(x, place)), np.int32(place))


@lower("GatherND")
def gather_nd(site: Site, x: Tensor, indices: Tensor, *, batch_dims: int = 0) -> Tensor:
    depth = dims_last(indices)
    lengths = [size(x, batch_dims + i) for i in range(depth)]
    places = _each_from_front(indices, lengths)
    if batch_dims:
        places = _with_batch(places, [size(x, i) for i in range(batch_dims)])
    return call("GatherNd", x, places)


def dims_last(x: Tensor) -> int:
    last = tuple(x.shape)[-1]
    if last is None:
        raise UnloweredError("indices of as many axes as may be any")
    return last


def _each_from_front(indices: Tensor, lengths: Sequence[Size]) -> Tensor:
    value = known(indices)
    if value is not None and (value >= 0).all():
        return indices
    whole = [
        cast(n, indices.dtype) if isinstance(n, Tensor) else indices.builder.constant(
            np.array(n, indices.dtype.numpy)
        )
        for n in lengths
    ]  # fmt: skip
    counts = call("Pack", *whole, axis=0)
    below = call("Less", indices, np.zeros((), indices.dtype.numpy))
    return call("SelectV2", below, call("AddV2", indices, counts), indices)


def _with_batch(indices: Tensor, lengths: Sequence[Size]) -> Tensor:
    """Indices with those of the axes that they are for before them."""
    parts = []
    inner = sizes(indices)[:-1]
    for axis, length in enumerate(lengths):
        parts.append(_along(indices, axis, length, inner))
    return concat([*parts, indices], rank(indices) - 1)


def _along(like: Tensor, axis: int, length: Size, inner: Sequence[Size]) -> Tensor:
    """The index of one axis, everywhere, [inner…, 1]."""
    kind = like.dtype
    end = cast(length, kind) if isinstance(length, Tensor) else np.array(length, kind.numpy)
    line = (
        call("Range", np.zeros((), kind.numpy), end, np.ones((), kind.numpy))
        if isinstance(end, Tensor)
        else like.builder.constant(np.arange(int(end), dtype=kind.numpy))
    )
    wide = reshape(line, [length if i == axis else 1 for i in range(len(inner))] + [1])
    return call("BroadcastTo", wide, shape_tensor([*inner, 1]))


@lower("GatherElements")
def gather_elements(site: Site, x: Tensor, indices: Tensor, *, axis: int = 0) -> Tensor:
    return call("GatherNd", x, _full_places(x, indices, axis))


def _full_places(x: Tensor, indices: Tensor, axis: int) -> Tensor:
    """For each element of `indices` all its indices in `x`, of which it says one."""
    place, inner = positive(axis, rank(x)), sizes(indices)
    own = add_axis(from_front(indices, size(x, place)), rank(indices))
    parts = [
        own if i == place else _along(indices, i, length, inner) for i, length in enumerate(inner)
    ]
    return concat(parts, rank(indices))


@lower("ScatterElements", "Scatter")
def scatter_elements(
    site: Site,
    x: Tensor,
    indices: Tensor,
    updates: Tensor,
    *,
    axis: int = 0,
    reduction: str = "none",
) -> Tensor:
    return _scattered(x, _full_places(x, indices, axis), updates, reduction)


@lower("ScatterND")
def scatter_nd(
    site: Site, x: Tensor, indices: Tensor, updates: Tensor, *, reduction: str = "none"
) -> Tensor:
    lengths = [size(x, i) for i in range(dims_last(indices))]
    return _scattered(x, _each_from_front(indices, lengths), updates, reduction)


def _scattered(x: Tensor, places: Tensor, updates: Tensor, reduction: str) -> Tensor:
    if reduction == "mul":
        return _multiplied(x, places, updates)
    if reduction not in _SCATTERS:
        raise UnloweredError(f"the reduction {reduction!r:.40}")
    return call(_SCATTERS[reduction], x, places, updates)


def _multiplied(x: Tensor, places: Tensor, updates: Tensor) -> Tensor:
    """What comes to one place is multiplied first: by its number, counted through all places."""
    lengths = sizes(x)[: dims_last(places)]
    each = product(sizes(x)[dims_last(places) :])
    steps: list[Size] = [product(lengths[i + 1 :]) for i in range(len(lengths))]
    if not all(isinstance(n, int) for n in (*steps, *lengths)):
        raise UnloweredError("a product at places of sizes that may be any")
    weights = np.array([int(n) for n in steps if isinstance(n, int)], np.int64)
    flat = call("Sum", call("Mul", cast(places, DType.INT64), weights), np.array([-1], np.int32))
    total = product(lengths)
    assert isinstance(total, int)
    factors = call(
        "UnsortedSegmentProd",
        reshape(updates, [product(sizes(flat)), each]),
        reshape(flat, [product(sizes(flat))]),
        np.int32(total),
    )
    return call("Mul", x, reshape(factors, sizes(x)))


@lower("TensorScatter")
def tensor_scatter(
    site: Site,
    past: Tensor,
    update: Tensor,
    write: Tensor | None = None,
    *,
    axis: int = -2,
    mode: str = "linear",
) -> Tensor:
    """Rows of a cache written from a place of each sequence on, around its end if it is a ring."""
    place, count = positive(axis, rank(past)), rank(past)
    inner = sizes(update)
    lines = [_along_int(past, i, length, inner) for i, length in enumerate(inner)]
    if write is not None:
        begin = reshape(cast(write, DType.INT64), [size(write, 0), *[1] * count])
        lines[place] = call("AddV2", lines[place], begin)
    if mode == "circular":
        lines[place] = call("FloorMod", lines[place], np.int64(fixed_size(past, place)))
    return call("TensorScatterUpdate", past, concat(lines, count), update)


def _along_int(x: Tensor, axis: int, length: Size, inner: Sequence[Size]) -> Tensor:
    like = x.builder.constant(np.zeros((), np.int64))
    return _along(like, axis, length, inner)


@lower("OneHot")
def one_hot(
    site: Site, indices: Tensor, depth: Tensor, values: Tensor, *, axis: int = -1
) -> Tensor:
    """Indices below 0 count from the end; those out of range are off everywhere."""
    count = int(number(depth, "its depth"))
    places = indices if indices.dtype in (DType.INT32, DType.INT64) else cast(indices, DType.INT64)
    place = -1 if axis in (-1, rank(indices)) else positive(axis, rank(indices) + 1)
    off, on = values[0], values[1]
    front = from_front(places, count)
    return cast(call("OneHot", front, np.int32(count), on, off, axis=place), values.dtype)


@lower("NonZero")
def non_zero(site: Site, x: Tensor) -> Tensor:
    if rank(x) == 0:
        x = reshape(x, [1])
    found = call("Where", x)
    return call("Transpose", found, np.array([1, 0], np.int32))


@lower("Compress")
def compress(site: Site, x: Tensor, condition: Tensor, *, axis: int | None = None) -> Tensor:
    """What a list of conditions says yes to; of all elements in a row where no axis is told."""
    flat = reshape(x, [-1]) if axis is None else x
    places = reshape(call("Where", condition), [-1])
    return call("GatherV2", flat, places, np.int32(0 if axis is None else positive(axis, rank(x))))


@lower("Unique")
def unique(site: Site, x: Tensor, *, axis: int | None = None, sorted: int = 1) -> Sequence[Tensor]:
    """In the order of their first places, or sorted; of an axis, its slices."""
    if axis is not None and rank(x) > 1:
        raise UnloweredError("slices that are there once")
    flat = reshape(x, [-1])
    values, inverse, counts = call_many("UniqueWithCounts", flat, out_idx=DType.INT64)
    many = call("Size", values, out_type=DType.INT32)
    total = call("Size", flat, out_type=DType.INT32)
    places = call("Range", np.int32(0), total, np.int32(1))
    first = cast(call("UnsortedSegmentMin", places, inverse, many), DType.INT64)
    if sorted:
        down = call("Neg", values) if x.dtype.is_floating else call("Invert", values)
        _, order = call_many("TopKV2", down, many, sorted=True)
        rank_of = call("InvertPermutation", order)
        values, first, counts = (
            call("GatherV2", one, order, np.int32(0)) for one in (values, first, counts)
        )
        inverse = cast(call("GatherV2", rank_of, inverse, np.int32(0)), DType.INT64)
    return [values, first, inverse, counts]
