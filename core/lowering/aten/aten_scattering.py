"""PyTorch's operations in which several elements meet at one place, and are reduced there."""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.aten.aten_indexing import along, as_much_as, wrapped
from gradstep.core.lowering.aten.aten_table import lower
from gradstep.core.lowering.aten.aten_tensors import (
    cast,
    dims,
    product,
    rank,
    reshape,
    scalar,
    size_at,
    transpose,
)
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call

_SEGMENTS = {
    "sum": "UnsortedSegmentSum",
    "add": "UnsortedSegmentSum",
    "mean": "UnsortedSegmentSum",
    "prod": "UnsortedSegmentProd",
    "multiply": "UnsortedSegmentProd",
    "amax": "UnsortedSegmentMax",
    "amin": "UnsortedSegmentMin",
}


@lower("scatter_reduce")
def scatter_reduce(
    site: Site,
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    include_self: bool = True,
) -> Tensor:
    """Of src, as much is read as index is large."""
    if rank(self) == 0:
        raise UnloweredError("a single number")
    sizes = dims(self)
    news = as_much_as(src, index)
    steps = np.array([product(sizes[axis + 1 :]) for axis in range(rank(self))], np.int64)
    places = along(site, self, dim, index)
    last = np.array([rank(places) - 1], np.int32)
    flat = call("Sum", call("Mul", places, steps), last)
    own, others = reshape(self, [-1]), cast(reshape(news, [-1]), self.dtype)
    return reshape(_met(site, own, others, reshape(flat, [-1]), reduce, include_self), sizes)


@lower("index_reduce")
def index_reduce(
    site: Site,
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    include_self: bool = True,
) -> Tensor:
    """The same of whole rows."""
    axis, count = dim % rank(self), rank(self)
    order = [axis, *(i for i in range(count) if i != axis)]
    back = [int(i) for i in np.argsort(order)]
    rows = reshape(wrapped(site, index, size_at(self, axis)), [-1])
    own, others = transpose(self, order), transpose(source, order)
    return transpose(_met(site, own, others, rows, reduce, include_self), back)


def _met(
    site: Site, own: Tensor, others: Tensor, places: Tensor, how: str, include_self: bool
) -> Tensor:
    """own: [n, …], others: [m, …], which come to the rows that `places` says, [m]."""
    if how not in _SEGMENTS:
        raise UnloweredError(f"what meets reduced by {how}")
    count = size_at(own, 0)
    rows = cast(places, DType.INT64)
    ones = np.ones(size_at(others, 0), own.dtype.numpy)
    met = call("UnsortedSegmentSum", ones, rows, np.int32(count))
    met = reshape(met, [count, *[1] * (rank(own) - 1)])
    touched = call("Greater", met, scalar(own, 0))
    if not include_self:
        own = call("SelectV2", touched, _neutral(own, others, rows, how), own)
    everything = call("ConcatV2", own, others, np.int32(0))
    ids = call("ConcatV2", np.arange(count, dtype=np.int64), rows, np.int32(0))
    found = call(_SEGMENTS[how], everything, ids, np.int32(count))
    if how != "mean":
        return found
    parts = call("AddV2", met, scalar(own, 1)) if include_self else met
    parts = call("Maximum", parts, scalar(own, 1))
    return call("RealDiv" if own.dtype.is_floating else "FloorDiv", found, parts)


def _neutral(own: Tensor, others: Tensor, rows: Tensor, how: str) -> Tensor | np.ndarray:
    """What changes nothing. Of the largest and the smallest PyTorch shares the gradient with an
    element of its own that is equal, and then drops that share."""
    if how in ("sum", "add", "mean"):
        return scalar(own, 0)
    if how in ("prod", "multiply"):
        return scalar(own, 1)
    far = _farthest(own, -1 if how == "amax" else 1)
    found = call(_SEGMENTS[how], others, rows, np.int32(size_at(own, 0)))
    return call("StopGradient", call("SelectV2", call("Equal", own, found), own, far))


def _farthest(x: Tensor, sign: int) -> np.ndarray:
    """The lowest number of its type, or the highest."""
    if x.dtype.is_floating:
        return scalar(x, sign * np.inf)
    limits = np.iinfo(x.dtype.numpy)
    return scalar(x, limits.min if sign < 0 else limits.max)
