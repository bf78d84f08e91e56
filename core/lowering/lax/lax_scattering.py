"""Slices written at computed places: JAX's scatter, by dimension numbers, and updates of slices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.lowering.lax.lax_gathering import OUTSIDE, begin_of
from gradstep.core.lowering.lax.lax_operands import (
    dims,
    ints,
    inverse,
    part,
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
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call

_OPS = {
    "scatter": "TensorScatterUpdate",
    "scatter-add": "TensorScatterAdd",
    "scatter-sub": "TensorScatterSub",
    "scatter-max": "TensorScatterMax",
    "scatter-min": "TensorScatterMin",
}


@lower("scatter", "scatter-add", "scatter-sub", "scatter-max", "scatter-min", "scatter_max",
       "scatter_min", "scatter_add", "scatter_sub", "scatter-mul", "scatter_mul",
       differs=OUTSIDE)  # fmt: skip
def scatter(
    site: Site,
    operand: Tensor,
    indices: Tensor,
    updates: Any,
    update_window_dims: Sequence[int],
    inserted_window_dims: Sequence[int],
    scatter_dims_to_operand_dims: Sequence[int],
    operand_batching_dims: Sequence[int] = (),
    scatter_indices_batching_dims: Sequence[int] = (),
    mode: str = "clip",
) -> Tensor:
    """A slice that is not wholly inside is dropped, or moved inside, as the mode says."""
    given = tensor(site, updates)
    gone = {*inserted_window_dims, *operand_batching_dims}
    own = iter(dims(given)[axis] for axis in update_window_dims)
    sizes = [1 if i in gone else next(own) for i in range(rank(operand))]
    slices = slices_of(
        operand, sizes, scatter_dims_to_operand_dims, inserted_window_dims, operand_batching_dims,
        scatter_indices_batching_dims,
    )  # fmt: skip
    rows, inside = fitting(site, indices, slices, mode)
    order = slice_axes(slices, row_axes(indices), update_window_dims, rank(given))
    given = transpose(given, inverse(order))
    if row_axes(indices) == 0:  # of one row, as of several
        rows, given = reshape(rows, [1, *dims(rows)]), reshape(given, [1, *dims(given)])
        inside = inside if inside is None else reshape(inside, [1])
    return _scattered(site, operand, rows, given, slices, inside)


def _scattered(
    site: Site, x: Tensor, rows: Tensor, updates: Tensor, slices: Slices, inside: Tensor | None
) -> Tensor:
    order = [*slices.chosen, *slices.whole]
    turned, kind = transpose(x, order), site.variant.replace("_", "-")
    if not slices.chosen:
        raise UnloweredError("slices that are all of it")
    places = coordinates(rows, slices)
    can_meet = kind == "scatter" and _can_meet(rows, slices)
    if inside is not None or can_meet:
        turned = _with_a_row_more(turned)
    if inside is not None:
        places = _behind_unless(inside, turned, places)
    if can_meet:
        places = _behind_unless(_are_last(turned, places), turned, places)
    made = _written(kind, turned, places, updates)
    return transpose(part(made, 0, 0, dims(x)[order[0]]), inverse(order))


def _with_a_row_more(x: Tensor) -> Tensor:
    """With a row behind the others, for what is to be dropped; it is cut off again."""
    around = [[0, 1], *[[0, 0]] * (rank(x) - 1)]
    return call("Pad", x, np.array(around, np.int32))


def _behind_unless(kept: Tensor, x: Tensor, places: Tensor) -> Tensor:
    """The places, but those of what is not kept in the last row of `x`."""
    behind = np.zeros(dims(places)[-1], np.int32)
    behind[0] = dims(x)[0] - 1
    wide = reshape(kept, [*dims(kept), *[1] * (rank(places) - rank(kept))])
    return call("SelectV2", wide, places, behind)


def _written(kind: str, x: Tensor, places: Tensor, updates: Tensor) -> Tensor:
    if kind in _OPS:
        return call(_OPS[kind], x, places, updates)
    ones = call("Fill", ints(dims(x)), scalar(x, 1))
    return call("Mul", x, _product(ones, places, updates))


def _can_meet(rows: Tensor, slices: Slices) -> bool:
    """Whether there is more than one row for what is one, along the axes that go along."""
    axes = (size for i, size in enumerate(dims(rows)[:-1]) if i not in slices.batch.values())
    return math.prod(axes) > 1


def _are_last(x: Tensor, places: Tensor) -> Tensor:
    """Of each update, whether it stays: of several to one place the last, to which alone a gradient
    comes back. Each has a number, and stays where no larger one is written."""
    lengths, depth = dims(places)[:-1], dims(places)[-1]
    numbers = np.arange(1, math.prod(lengths) + 1, dtype=np.int32).reshape(lengths)
    none = np.zeros(dims(x)[:depth], np.int32)
    written = call("TensorScatterMax", x.builder.constant(none), places, numbers)
    return call("Equal", call("GatherNd", written, places), numbers)


def _product(ones: Tensor, places: Tensor, updates: Tensor) -> Tensor:
    """For each element the product of what comes to it: by its number, counted through all."""
    depth = dims(places)[-1]
    lengths, each = dims(ones)[:depth], dims(ones)[depth:]
    steps = np.array([int(np.prod(lengths[i + 1 :])) for i in range(depth)], np.int32)
    flat = call("Sum", call("Mul", places, steps), ints([-1]))
    count = int(np.prod(dims(flat)))
    rows = reshape(updates, [count, *each])
    total = np.int32(np.prod(lengths))
    found = call("UnsortedSegmentProd", rows, reshape(flat, [count]), total)
    return reshape(found, dims(ones))


@lower("dynamic_update_slice")
def dynamic_update_slice(site: Site, operand: Tensor, update: Any, starts: Sequence[Any]) -> Tensor:
    """The slice that begins there, or as far on as it fits, is `update`."""
    given = tensor(site, update)
    sizes, lengths = dims(given), dims(operand)
    last = [n - size for n, size in zip(lengths, sizes, strict=True)]
    if not any(last):
        return call("Identity", given)
    told = [i for i, end in enumerate(last) if end]
    begin = begin_of(site, [starts[i] for i in told], [last[i] for i in told])
    rows = begin if isinstance(begin, Tensor) else site.constant(begin)
    slices = Slices(lengths, sizes, tuple(told), frozenset(), {})
    order = [*slices.chosen, *slices.whole]
    turned = transpose(given, order)
    made = call("TensorScatterUpdate", transpose(operand, order), coordinates(rows, slices), turned)
    return transpose(made, inverse(order))
