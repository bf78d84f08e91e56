"""JAX's primitives that order elements: sort of several at once, top_k."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lax.lax_operands import cast, dims, moved, rank, tensor
from gradstep.core.lowering.lax.lax_table import lower
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call, call_many


@lower("sort")
def sort(
    site: Site, operands: Sequence[Tensor], dimension: int, num_keys: int = 1
) -> Sequence[Tensor]:
    """All in the order of the first `num_keys`: by the last of these first, each stably."""
    count = rank(operands[0])
    given = [moved(tensor(site, x), dimension, count - 1) for x in operands]
    for key in reversed(range(num_keys)):
        order = _ascending(given[key])
        given = [_in_order(x, order) for x in given]
    return [moved(x, count - 1, dimension) for x in given]


def _ascending(x: Tensor) -> Tensor:
    """Along the last axis, where the elements are from the smallest on."""
    if x.dtype is DType.BOOL or x.dtype.value in ("uint8", "int8", "uint16", "int16"):
        x = cast(x, DType.INT32)
    elif x.dtype.value.startswith("uint"):
        x = cast(x, DType.INT64)
    down = call("Neg", x) if x.dtype.is_floating else call("Invert", x)
    return call_many("TopKV2", down, np.int32(dims(x)[-1]), sorted=True)[1]


def _in_order(x: Tensor, order: Tensor) -> Tensor:
    axis = rank(x) - 1
    return call("GatherV2", x, order, np.int32(axis), batch_dims=axis)


@lower(
    "approx_top_k",
    ignores=("recall_target", "reduction_input_size_override"),
    differs="the largest themselves; on a TPU JAX may miss some",
)
def approximate_top_k(
    site: Site,
    x: Tensor,
    k: int,
    reduction_dimension: int = -1,
    is_max_k: bool = True,
    aggregate_to_topk: bool = True,
) -> Sequence[Tensor]:
    if not aggregate_to_topk:
        raise UnloweredError("more than k of each row")
    if is_max_k:
        return top_k(site, x, k, reduction_dimension)
    values, places = top_k(site, call("Neg", x), k, reduction_dimension)
    return [call("Neg", values), places]


@lower("top_k")
def top_k(site: Site, x: Tensor, k: int, axis: int = -1) -> Sequence[Tensor]:
    last, count = axis % rank(x), rank(x)
    values, places = call_many("TopKV2", moved(x, last, count - 1), np.int32(k), sorted=True)
    found = [moved(values, count - 1, last), moved(places, count - 1, last)]
    return [found[0], cast(found[1], site.dtype(1))]
