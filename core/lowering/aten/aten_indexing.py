"""PyTorch's operations that read and write at indices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.aten.aten_table import lower_as_given
from gradstep.core.lowering.aten.aten_tensors import (
    cast,
    dims,
    ints,
    rank,
    reshape,
    scalar,
    size_at,
    transpose,
)
from gradstep.core.lowering.lowering_table import Site, UnloweredError, fixed
from gradstep.core.ops.build.builder import Tensor, call

_NEGATIVE = "indices below 0 count from the end in PyTorch; here, if there were any when it ran"


@lower_as_given("embedding", ignores=("sparse",))
def embedding(
    site: Site,
    weight: Tensor,
    indices: Tensor,
    padding_idx: int = -1,
    scale_grad_by_freq: bool = False,
) -> Tensor:
    """The padding's row gets no gradient."""
    if scale_grad_by_freq:
        raise UnloweredError("gradients scaled by how often a row is read")
    rows = call("GatherV2", weight, indices, np.int32(0))
    if padding_idx < 0:
        return rows
    kept = call("NotEqual", indices, scalar(indices, padding_idx))
    mask = call("ExpandDims", kept, np.int32(-1))
    return call("SelectV2", mask, rows, call("StopGradient", rows))


@lower_as_given("index_select", differs=_NEGATIVE)
def index_select(site: Site, self: Tensor, dim: int, index: Tensor) -> Tensor:
    return call(
        "GatherV2", self, wrapped(site, index, size_at(self, dim)), np.int32(dim % rank(self))
    )


@lower_as_given("take_along_dim", "gather", ignores=("sparse_grad",), differs=_NEGATIVE)
def gather(
    site: Site, self: Tensor, dim: int, index: Tensor | None = None, indices: Tensor | None = None
) -> Tensor:
    places = index if index is not None else indices
    assert places is not None
    if rank(self) == 0:
        return call("Identity", self)
    return call("GatherNd", self, along(site, self, dim, places))


def as_much_as(src: Tensor, index: Tensor) -> Tensor:
    """Of src the first elements along each axis, as many as index has."""
    return src if dims(src) == dims(index) else src[tuple(slice(0, size) for size in dims(index))]


@lower_as_given(
    "scatter.src",
    "scatter_add",
    "scatter.value",
    "scatter.reduce",
    differs="where an element is written twice, PyTorch does not say which stays",
)
def scatter(
    site: Site,
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor | None = None,
    value: Any = None,
    reduce: str = "",
) -> Tensor:
    """Of src, as much is read as index is large."""
    if src is None:
        news = site.builder.constant(np.full(dims(index), value, self.dtype.numpy))
    else:
        news = as_much_as(src, index)
    adds = "scatter_add" in site.node.op or reduce in ("add", "sum")
    if reduce and not adds:
        raise UnloweredError(f"scatter that reduces by {reduce}")
    type = "TensorScatterAdd" if adds else "TensorScatterUpdate"
    return call(type, self, along(site, self, dim, index), cast(news, self.dtype))


def along(site: Site, x: Tensor, dim: int, index: Tensor) -> Tensor:
    """The places in `x` that `index` means along an axis: [*index's shape, x's rank]."""
    axis, grid = dim % rank(x), np.indices(dims(index)).astype(np.int64)
    known = cast(wrapped(site, index, size_at(x, axis)), DType.INT64)
    parts = [known if i == axis else site.constant(grid[i]) for i in range(rank(x))]
    return call("Pack", *parts, axis=rank(x))


@lower_as_given("index_add", "index_copy")
def index_add(
    site: Site, self: Tensor, dim: int, index: Tensor, source: Tensor, alpha: float = 1
) -> Tensor:
    axis, count = dim % rank(self), rank(self)
    order = [axis, *(i for i in range(count) if i != axis)]
    back = [int(i) for i in np.argsort(order)]
    news = source if alpha == 1 else call("Mul", source, scalar(source, alpha))
    type = "TensorScatterAdd" if "add" in site.node.op else "TensorScatterUpdate"
    places = reshape(wrapped(site, index, size_at(self, axis)), [-1, 1])
    return transpose(call(type, transpose(self, order), places, transpose(news, order)), back)


@lower_as_given("index", "_unsafe_index", differs=_NEGATIVE)
def index(site: Site, self: Tensor, indices: list[Tensor | None]) -> Tensor:
    """x[a, b], x[:, a], x[mask]: indexed axes are brought to the front, and what they give goes
    where they were if they were side by side."""
    picked = _Picked(site, self, indices)
    found = call("GatherNd", transpose(self, picked.order), picked.places)
    return transpose(found, picked.order_of_result)


@lower_as_given("index_put", "_unsafe_index_put", "index_put_", ignores=("unsafe",))
def index_put(
    site: Site, self: Tensor, indices: list[Tensor | None], values: Tensor, accumulate: bool = False
) -> Tensor:
    picked = _Picked(site, self, indices)
    if picked.mask is not None:
        return _put_by_mask(self, picked.mask, values, accumulate)
    rest = [size_at(self, i) for i in picked.order[len(picked.axes) :]]
    shape = [*fixed(picked.shape), *rest]
    back = [int(i) for i in np.argsort(picked.order_of_result)]
    moved = call("BroadcastTo", values, ints([shape[i] for i in picked.order_of_result]))
    moved = transpose(moved, back)
    type = "TensorScatterAdd" if accumulate else "TensorScatterUpdate"
    written = call(type, transpose(self, picked.order), picked.places, cast(moved, self.dtype))
    return transpose(written, [int(i) for i in np.argsort(picked.order)])


def _put_by_mask(x: Tensor, mask: Tensor, value: Tensor, accumulate: bool) -> Tensor:
    if rank(value) or accumulate:
        raise UnloweredError("values written where a mask says")
    wide = reshape(mask, [*dims(mask), *[1] * (rank(x) - rank(mask))])
    return call("SelectV2", wide, cast(value, x.dtype), x)


class _Picked:
    """Axes of a tensor that are indexed by tensors.

    axes:   these axes. order: all axes, these first. places: [*shape, len(axes)].
    shape:  what the indices broadcast to; None for as many as a mask has. mask: the one there is.
    order_of_result: the axes of what is read, where PyTorch has them.
    """

    def __init__(self, site: Site, x: Tensor, indices: list[Tensor | None]) -> None:
        self.mask: Tensor | None = None
        found = self._without_masks(indices)
        self.axes = [i for i, index in enumerate(found) if index is not None]
        self.order = [*self.axes, *(i for i in range(rank(x)) if i not in self.axes)]
        named = [
            wrapped(site, index, size_at(x, i))
            for i, index in enumerate(found)
            if index is not None
        ]
        self.shape: tuple[int | None, ...] = (None,)
        if self.mask is None:
            self.shape = np.broadcast_shapes(*(dims(index) for index in named))
            named = [_spread(index, [size or 0 for size in self.shape]) for index in named]
        kind = DType.INT64 if any(i.dtype is DType.INT64 for i in named) else DType.INT32
        self.places = call("Pack", *(cast(i, kind) for i in named), axis=len(self.shape))
        self.order_of_result = self._result_order(rank(x))

    def _without_masks(self, indices: list[Tensor | None]) -> list[Tensor | None]:
        """A mask is the places where it is true, an axis for each of its own."""
        found: list[Tensor | None] = []
        for index in indices:
            if index is None or index.dtype is not DType.BOOL:
                found.append(index)
                continue
            if self.mask is not None or any(one is not None for one in found):
                raise UnloweredError("a mask beside other indices")
            self.mask = index
            where = call("Where", index)
            found += [where[:, i] for i in range(rank(index))]
        return found

    def _result_order(self, count: int) -> list[int]:
        new, rest = len(self.shape), count - len(self.axes)
        first = self.axes[0]
        adjacent = self.axes == list(range(first, first + len(self.axes)))
        before = first if adjacent else 0
        return [*range(new, new + before), *range(new), *range(new + before, new + rest)]


def _spread(index: Tensor, shape: Sequence[int]) -> Tensor:
    return index if dims(index) == tuple(shape) else call("BroadcastTo", index, ints(shape))


def wrapped(site: Site, index: Tensor, size: int) -> Tensor:
    """Indices that were below 0 when the framework ran count from the end."""
    known = site.value_of(index)
    if known is None or not known.size or known.min() >= 0:
        return index
    low = call("Less", index, scalar(index, 0))
    return call("SelectV2", low, call("AddV2", index, scalar(index, size)), index)


@lower_as_given("masked_select")
def masked_select(site: Site, self: Tensor, mask: Tensor) -> Tensor:
    return index(site, self, [mask])


@lower_as_given("nonzero")
def nonzero(site: Site, self: Tensor) -> Tensor:
    return call("Where", cast(self, DType.BOOL))


@lower_as_given("one_hot")
def one_hot(site: Site, self: Tensor, num_classes: int = -1) -> Tensor:
    depth = site.sizes()[-1]
    return call("OneHot", self, np.int32(depth), np.int64(1), np.int64(0))
