"""JAX's primitives that only put elements elsewhere, or make them of nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.lowering.lax.lax_operands import (
    add_axis,
    broadcast,
    dims,
    ints,
    operands,
    part,
    rank,
    reshape,
    tensor,
    transpose,
)
from gradstep.core.lowering.lax.lax_table import lower
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call, call_many

_MANY = 1 << 16  # elements of a constant that could as well be computed


@lower("broadcast_in_dim")
def broadcast_in_dim(
    site: Site, x: Any, shape: Sequence[int], broadcast_dimensions: Sequence[int]
) -> Tensor:
    """Axis i of x is axis broadcast_dimensions[i] of the result."""
    if not isinstance(x, Tensor):
        return call("Fill", ints(shape), np.array(x, site.dtype().numpy))
    sizes = [1] * len(shape)
    for axis, size in zip(broadcast_dimensions, dims(x), strict=True):
        sizes[axis] = size
    return broadcast(reshape(x, sizes), shape)


@lower("reshape")
def reshaped(
    site: Site, x: Any, new_sizes: Sequence[int], dimensions: Sequence[int] | None = None
) -> Tensor:
    turned = tensor(site, x) if dimensions is None else transpose(x, dimensions)
    return call("Reshape", turned, ints(new_sizes))


@lower("squeeze")
def squeeze(site: Site, x: Tensor, dimensions: Sequence[int]) -> Tensor:
    return call("Reshape", x, ints(site.sizes()))


@lower("transpose")
def transposed(site: Site, x: Tensor, permutation: Sequence[int]) -> Tensor:
    return call("Transpose", x, ints(permutation))


@lower("rev")
def reverse(site: Site, x: Tensor, dimensions: Sequence[int]) -> Tensor:
    return call("ReverseV2", x, ints(dimensions))


@lower("concatenate")
def concatenate(site: Site, operands: Sequence[Any], dimension: int) -> Tensor:
    parts = [tensor(site, x) for x in operands]
    return parts[0] if len(parts) == 1 else call("ConcatV2", *parts, np.int32(dimension))


@lower("stack")
def stack(
    site: Site, axis: int, operands: Sequence[Any] = (), x: Any = None, y: Any = None
) -> Tensor:
    """One new axis; two operands may be called x and y."""
    given = [one for one in (x, y, *operands) if one is not None]
    return call("Pack", *(tensor(site, one) for one in given), axis=axis)


@lower("unstack")
def unstack(site: Site, x: Tensor, axis: int) -> Sequence[Tensor]:
    return call_many("Unpack", x, num=dims(x)[axis], axis=axis)


@lower("split")
def split(site: Site, x: Tensor, sizes: Sequence[int], axis: int) -> Sequence[Tensor]:
    return call_many("SplitV", x, ints(sizes), np.int32(axis), num_split=len(sizes))


@lower("tile")
def tile(site: Site, x: Tensor, reps: Sequence[int]) -> Tensor:
    wide = reshape(x, [1] * (len(reps) - rank(x)) + [*dims(x)])
    return call("Tile", wide, ints([1] * (rank(wide) - len(reps)) + [*reps]))


@lower("slice")
def strided(
    site: Site,
    x: Tensor,
    start_indices: Sequence[int],
    limit_indices: Sequence[int],
    strides: Sequence[int] | None = None,
) -> Tensor:
    if strides is None or {*strides} == {1}:
        sizes = [end - first for first, end in zip(start_indices, limit_indices, strict=True)]
        return call("Slice", x, ints(start_indices), ints(sizes))
    return call("StridedSlice", x, ints(start_indices), ints(limit_indices), ints(strides))


@lower("iota", ignores=("dtype",))
def iota(site: Site, shape: Sequence[int], dimension: int) -> Tensor:
    kind, sizes = site.dtype().numpy, [1] * len(shape)
    sizes[dimension] = shape[dimension]
    line = np.arange(shape[dimension]).astype(kind).reshape(sizes)
    if np.prod(shape) <= _MANY:
        return site.constant(np.broadcast_to(line, shape).copy())
    return broadcast(site.constant(line), shape)


@lower("pad")
def pad(
    site: Site, operand: Any, padding_value: Any, padding_config: Sequence[Sequence[int]]
) -> Tensor:
    x, value = operands(site, operand, padding_value)
    return padded(x, value, padding_config)


def padded(x: Tensor, value: Any, config: Sequence[Sequence[int]]) -> Tensor:
    """For each axis: how many of `value` before, behind, and between each two; below 0 before and
    behind cuts off."""
    for axis, (_, _, between) in enumerate(config):
        x = _spread(x, value, axis, between)
    for axis, (before, behind, _) in enumerate(config):
        x = part(x, axis, max(0, -before), dims(x)[axis] - max(0, -behind))
    around = [[max(0, before), max(0, behind)] for before, behind, _ in config]
    return call("PadV2", x, np.array(around, np.int32), value) if any(map(any, around)) else x


def _spread(x: Tensor, value: Any, axis: int, between: int) -> Tensor:
    """So many of `value` between each two along an axis."""
    size = dims(x)[axis]
    if not between or size < 2:
        return x
    around = [[0, 0]] * (axis + 1) + [[0, between]] + [[0, 0]] * (rank(x) - axis - 1)
    gaps = call("PadV2", add_axis(x, axis + 1), np.array(around, np.int32), value)
    sizes = [*dims(x)[:axis], size * (1 + between), *dims(x)[axis + 1 :]]
    return part(reshape(gaps, sizes), axis, 0, size * (1 + between) - between)


@lower("empty", "empty2", ignores=("dtype",))
def empty(site: Site) -> Tensor:
    if site.dtype().is_integer or site.dtype().is_floating:
        return site.constant(np.zeros(site.sizes(), site.dtype().numpy))
    raise UnloweredError("nothing, of this type")
