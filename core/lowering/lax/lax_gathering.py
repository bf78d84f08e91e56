"""Slices read at computed places: JAX's gather, by dimension numbers, and dynamic_slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lax.lax_operands import (
    cast,
    dims,
    ints,
    rank,
    reshape,
    scalar,
    tensor,
    transpose,
)
from gradstep.core.lowering.lax.lax_slices import (
    Slices,
    coordinates,
    fitting,
    row_axes,
    slice_axes,
    slices_of,
)
from gradstep.core.lowering.lax.lax_table import lower
from gradstep.core.lowering.lowering_table import Site
from gradstep.core.ops.build.builder import Tensor, call

OUTSIDE = "an index that JAX takes for granted to be inside, and is not, is an error"


@lower("gather", differs=OUTSIDE)
def gather(
    site: Site,
    operand: Tensor,
    indices: Tensor,
    offset_dims: Sequence[int],
    collapsed_slice_dims: Sequence[int],
    start_index_map: Sequence[int],
    slice_sizes: Sequence[int],
    operand_batching_dims: Sequence[int] = (),
    start_indices_batching_dims: Sequence[int] = (),
    mode: str = "clip",
    fill_value: Any = None,
) -> Tensor:
    slices = slices_of(
        operand, slice_sizes, start_index_map, collapsed_slice_dims, operand_batching_dims,
        start_indices_batching_dims,
    )  # fmt: skip
    rows, inside = fitting(site, indices, slices, mode)
    count, total = row_axes(indices), len(site.sizes())
    if slices.chosen == [*slices.told] and len(slices.told) == 1 and not slices.windows:
        found = _of_one_axis(operand, rows, slices, count, offset_dims, total)
    else:
        turned = transpose(operand, [*slices.chosen, *slices.whole])
        read = call("GatherNd", turned, coordinates(rows, slices)) if slices.chosen else turned
        found = transpose(read, slice_axes(slices, count, offset_dims, total))
    if inside is None:
        return found
    where = iter(dims(inside))
    wide = reshape(inside, [1 if i in offset_dims else next(where) for i in range(total)])
    if mode.startswith("promise"):  # what is read so has no gradient
        return call("SelectV2", wide, found, call("StopGradient", found))
    return call("SelectV2", wide, found, _outside(found, fill_value))


def _of_one_axis(
    x: Tensor, rows: Tensor, slices: Slices, count: int, offsets: Sequence[int], total: int
) -> Tensor:
    """Whole slices at places along one axis: what is before it, the rows, what is behind it."""
    axis = slices.told[0]
    read = call("GatherV2", x, reshape(rows, dims(rows)[:-1]), np.int32(axis))
    own = [*range(axis), *range(axis + count, rank(read))]
    placed, rest = dict(zip(offsets, own, strict=True)), iter(range(axis, axis + count))
    return transpose(read, [placed[i] if i in placed else next(rest) for i in range(total)])


def _outside(x: Tensor, value: Any) -> np.ndarray:
    """What an element is that there is none of."""
    if value is not None:
        return scalar(x, value)
    if x.dtype.is_floating or x.dtype.is_complex:
        return scalar(x, np.nan)
    if x.dtype is DType.BOOL:
        return scalar(x, True)
    limits = np.iinfo(x.dtype.numpy)
    return scalar(x, limits.min if limits.min else limits.max)


@lower("dynamic_slice")
def dynamic_slice(
    site: Site, operand: Tensor, starts: Sequence[Any], slice_sizes: Sequence[int]
) -> Tensor:
    """Moved inside, where it is not."""
    last = [n - size for n, size in zip(dims(operand), slice_sizes, strict=True)]
    return call("Slice", operand, begin_of(site, starts, last), ints(slice_sizes))


def begin_of(site: Site, starts: Sequence[Any], last: Sequence[int]) -> Any:
    """Where a slice begins, between 0 and its last place along each axis."""
    if not any(isinstance(one, Tensor) for one in starts):
        return ints([min(max(int(one), 0), end) for one, end in zip(starts, last, strict=True)])
    places = [cast(tensor(site, one, DType.INT32), DType.INT32) for one in starts]
    found = call("Pack", *places)
    return call("Minimum", call("Maximum", found, np.int32(0)), ints(last))
