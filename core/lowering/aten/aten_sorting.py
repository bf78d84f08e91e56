"""PyTorch's operations that order elements: sort, topk, argmax."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.aten.aten_indexing import gather
from gradstep.core.lowering.aten.aten_table import lower_as_given
from gradstep.core.lowering.aten.aten_tensors import (
    cast,
    ints,
    rank,
    reshape,
    scalar,
    size_at,
    transpose,
)
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call

_TIES = "equal elements may come in another order"


@lower_as_given("topk", ignores=("sorted",), differs=_TIES)
def topk(site: Site, self: Tensor, k: int, dim: int = -1, largest: bool = True) -> Sequence[Tensor]:
    return _ordered(site, self, k, dim, largest)


@lower_as_given("sort", ignores=("stable",), differs=_TIES)
def sort(site: Site, self: Tensor, dim: int = -1, descending: bool = False) -> Sequence[Tensor]:
    return _ordered(site, self, size_at(self, dim), dim, descending)


@lower_as_given("argsort", ignores=("stable",), differs=_TIES)
def argsort(site: Site, self: Tensor, dim: int = -1, descending: bool = False) -> Tensor:
    return _ordered(site, self, size_at(self, dim), dim, descending)[1]


def _ordered(site: Site, x: Tensor, k: int, dim: int, largest: bool) -> list[Tensor]:
    """The k largest, or smallest, along an axis, and where they are."""
    axis, count = dim % rank(x), rank(x)
    order = [*(i for i in range(count) if i != axis), axis]
    back = [int(i) for i in np.argsort(order)]
    moved = transpose(x, order)
    turned = "Neg" if x.dtype.is_floating else "Invert"  # the lowest whole number has no negative
    values, index = site.builder.op(
        "TopKV2", moved if largest else call(turned, moved), np.int32(k)
    )
    values = values if largest else call(turned, values)
    return [transpose(values, back), cast(transpose(index, back), DType.INT64)]


@lower_as_given("argmax", "argmin")
def argmax(site: Site, self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    type = "ArgMax" if "argmax" in site.node.op else "ArgMin"
    x = reshape(self, [-1]) if dim is None else self
    found = call(type, x, np.int32((dim or 0) % rank(x)), output_type=DType.INT64)
    return reshape(found, site.shape()) if keepdim else found


@lower_as_given("median.default", "nanmedian.default")
def median(site: Site, self: Tensor) -> Tensor:
    """The lower of two in the middle; equal ones share its gradient."""
    flat = reshape(self, [-1])
    skips = "nanmedian" in site.node.op
    found, _ = _middle(site, flat, 0, skips)
    if not flat.dtype.is_floating:
        return reshape(found, [])
    equal = call("Equal", flat, call("StopGradient", found))
    chosen = call("Max", call("SelectV2", equal, flat, scalar(flat, -np.inf)), ints([0]))
    none = call("IsNan", reshape(call("StopGradient", found), []))
    return call("SelectV2", none, reshape(found, []), chosen)


@lower_as_given("median.dim", "nanmedian.dim", differs=_TIES)
def median_along(site: Site, self: Tensor, dim: int, keepdim: bool = False) -> list[Tensor]:
    """The gradient goes to the one element whose index is given."""
    axis = dim % max(rank(self), 1)
    found = _middle(site, self, axis, "nanmedian" in site.node.op)
    return [*found] if keepdim else [call("Squeeze", x, squeeze_dims=(axis,)) for x in found]


def _middle(site: Site, x: Tensor, axis: int, skips: bool) -> tuple[Tensor, Tensor]:
    """The lower of two in the middle along an axis, which stays, and where it is. A NaN is it,
    unless they are skipped."""
    if rank(x) == 0:
        raise UnloweredError("the median of a single number")
    size = size_at(x, axis)
    where = np.int32(axis)
    if not x.dtype.is_floating:
        _, places = _ordered(site, x, size, axis, False)
        place = call("GatherV2", places, ints([(size - 1) // 2]), where)
        return gather(site, x, axis, place), place
    none = call("IsNan", x)
    numbers = call("Sum", cast(call("LogicalNot", none), DType.INT64), ints([axis]), keep_dims=True)
    _, places = _ordered(site, _known(x, none), size, axis, False)
    middle = call("FloorDiv", call("Maximum", call("Sub", numbers, np.int64(1)), np.int64(0)),
                  np.int64(2))  # fmt: skip
    place = gather(site, places, axis, middle)
    if not skips:
        first = _first(none, axis)
        whole = call("Equal", numbers, np.int64(size))
        place = call("SelectV2", whole, place, first)
    return gather(site, x, axis, place), place


def _known(x: Tensor, none: Tensor) -> Tensor:
    """The numbers, with what is none behind all others."""
    return call("StopGradient", call("SelectV2", none, scalar(x, np.inf), x))


def _first(flags: Tensor, axis: int) -> Tensor:
    """Where the first that holds is along an axis, which stays."""
    where = np.int32(axis)
    found = call("ArgMax", cast(flags, DType.INT32), where, output_type=DType.INT64)
    return call("ExpandDims", found, where)


@lower_as_given("kthvalue", differs=_TIES)
def kthvalue(
    site: Site, self: Tensor, k: int, dim: int = -1, keepdim: bool = False
) -> list[Tensor]:
    """The k-th smallest, and where it is."""
    axis = dim % max(rank(self), 1)
    _, places = _ordered(site, self, k, axis, False)
    place = call("GatherV2", places, ints([k - 1]), np.int32(axis))
    found = [gather(site, self, axis, place), place]
    return found if keepdim else [call("Squeeze", x, squeeze_dims=(axis,)) for x in found]


@lower_as_given("quantile.scalar")
def quantile(
    site: Site,
    self: Tensor,
    q: float,
    dim: int | None = None,
    keepdim: bool = False,
    interpolation: str = "linear",
) -> Tensor:
    """Between the two that are next to that share of the way, in order; a NaN is it."""
    x = reshape(self, [-1]) if dim is None else self
    axis = 0 if dim is None else dim % rank(self)
    number = x.dtype.numpy.type  # in which PyTorch rounds it, as 0.7 * 10 to 7
    share = float(number(q) * number(size_at(x, axis) - 1))
    low, high = int(np.floor(share)), int(np.ceil(share))
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise UnloweredError(f"interpolation {interpolation!r:.20}")
    part = {"linear": share - low, "lower": 0.0, "higher": 1.0, "midpoint": 0.5,
            "nearest": float(np.round(share) > low)}[interpolation]  # fmt: skip
    none = call("IsNan", x)
    _, places = _ordered(site, _known(x, none), size_at(x, axis), axis, False)
    some = call("Any", none, ints([axis]), keep_dims=True)
    first = _first(none, axis)

    def at(rank_: int) -> Tensor:
        place = call("GatherV2", places, ints([rank_]), np.int32(axis))
        return gather(site, x, axis, call("SelectV2", some, first, place))

    below, above = at(low), at(high)
    step = call("Mul", call("Sub", above, below), scalar(x, part))
    return reshape(call("AddV2", below, step), site.shape())


@lower_as_given("max.dim", "min.dim")
def max_dim(site: Site, self: Tensor, dim: int, keepdim: bool = False) -> list[Tensor]:
    """The gradient goes to the one element whose index is given."""
    type = "ArgMax" if ".max." in site.node.op else "ArgMin"
    axis = dim % rank(self)
    found = call(type, self, np.int32(axis), output_type=DType.INT64)
    kept = call("ExpandDims", found, np.int32(axis))
    values = gather(site, self, axis, kept)
    return [values, kept] if keepdim else [call("Squeeze", values, squeeze_dims=(axis,)), found]
