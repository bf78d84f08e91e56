"""PyTorch's operations that order elements: sort, topk, argmax."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.aten.aten_indexing import gather
from gradstep.core.lowering.aten.aten_table import lower_as_given
from gradstep.core.lowering.aten.aten_tensors import cast, rank, reshape, size_at, transpose
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
    if not largest and not x.dtype.is_floating:
        raise UnloweredError("the smallest of whole numbers")
    values, index = site.builder.op("TopKV2", moved if largest else call("Neg", moved), np.int32(k))
    values = values if largest else call("Neg", values)
    return [transpose(values, back), cast(transpose(index, back), DType.INT64)]


@lower_as_given("argmax", "argmin")
def argmax(site: Site, self: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    type = "ArgMax" if "argmax" in site.node.op else "ArgMin"
    x = reshape(self, [-1]) if dim is None else self
    found = call(type, x, np.int32((dim or 0) % rank(x)), output_type=DType.INT64)
    return reshape(found, site.shape()) if keepdim else found


@lower_as_given("median.default")
def median(site: Site, self: Tensor) -> Tensor:
    """The lower of two in the middle."""
    flat = reshape(self, [-1])
    rank_ = (size_at(flat, 0) - 1) // 2
    values, _ = site.builder.op("TopKV2", call("Neg", flat), np.int32(rank_ + 1))
    return call("Neg", values[rank_])


@lower_as_given("max.dim", "min.dim")
def max_dim(site: Site, self: Tensor, dim: int, keepdim: bool = False) -> list[Tensor]:
    """The gradient goes to the one element whose index is given."""
    type = "ArgMax" if ".max." in site.node.op else "ArgMin"
    axis = dim % rank(self)
    found = call(type, self, np.int32(axis), output_type=DType.INT64)
    kept = call("ExpandDims", found, np.int32(axis))
    values = gather(site, self, axis, kept)
    return [values, kept] if keepdim else [call("Squeeze", values, squeeze_dims=(axis,)), found]
