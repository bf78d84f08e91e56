"""Which elements slices at computed places are: what gather and scatter of JAX have in common.

A slice begins at a place that a row of indices tells, for some axes, and is so large along each
axis. Axes that are whole in each slice are kept together; for the others there are coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lax.lax_operands import cast, dims, ints, rank, reshape
from gradstep.core.lowering.lowering_table import Site
from gradstep.core.ops.build.builder import Tensor, call


@dataclass(frozen=True)
class Slices:
    """lengths: sizes of the operand. sizes: of each slice, 1 on axes that are dropped.
    told: the axes that a row of indices tells, in its order. dropped: axes that slices have not.
    batch: axis of the operand -> the axis of the indices that goes along with it."""

    lengths: tuple[int, ...]
    sizes: tuple[int, ...]
    told: tuple[int, ...]
    dropped: frozenset[int]
    batch: dict[int, int]

    @property
    def chosen(self) -> list[int]:
        """The axes that coordinates are for; one at least, if there is one."""
        found = [
            i
            for i, (length, size) in enumerate(zip(self.lengths, self.sizes, strict=True))
            if i in self.told or i in self.batch or i in self.dropped or size != length
        ]
        return found or [*range(len(self.lengths))][:1]

    @property
    def whole(self) -> list[int]:
        return [i for i in range(len(self.lengths)) if i not in self.chosen]

    @property
    def kept(self) -> list[int]:
        """The axes that slices have."""
        return [i for i in range(len(self.lengths)) if i not in self.dropped | self.batch.keys()]

    @property
    def windows(self) -> list[int]:
        """Of the axes that coordinates are for, those that slices have."""
        return [i for i in self.chosen if i in self.kept]

    @property
    def last(self) -> np.ndarray:
        """For each axis that is told, the last place at which a slice is inside."""
        return np.array([self.lengths[i] - self.sizes[i] for i in self.told], np.int32)


def fitting(site: Site, indices: Tensor, slices: Slices, mode: str) -> tuple[Tensor, Tensor | None]:
    """The indices, as int32 and moved inside; and for each row whether it was inside: None where
    that is not asked for, or always so. What JAX takes for granted to be inside, and was not when
    it ran, is told of: XLA reads the next that is inside, and writes nothing."""
    rows = cast(indices, DType.INT32)
    known = site.value_of(indices)
    inside = known is not None and bool(((known >= 0) & (known <= slices.last)).all())
    if not slices.told or (inside and (mode.startswith("promise") or _is_constant(site, indices))):
        return rows, None
    moved = call("Minimum", call("Maximum", rows, np.int32(0)), slices.last)
    if not mode.startswith(("fill", "promise")):
        return moved, None
    return moved, call("All", call("Equal", rows, moved), ints([-1]))


def _is_constant(site: Site, x: Tensor) -> bool:
    return site.builder.operation(x.ref.op).type == "Const"


def coordinates(rows: Tensor, slices: Slices) -> Tensor:
    """[rows…, windows…, axes that coordinates are for]: of each element, where it is."""
    batch = dims(rows)[:-1]
    sizes = [slices.sizes[i] for i in slices.windows]
    shape = [*batch, *sizes]
    parts = [_along(rows, slices, axis, shape, len(batch)) for axis in slices.chosen]
    return call("Pack", *parts, axis=len(shape))


def _along(rows: Tensor, slices: Slices, axis: int, shape: Sequence[int], count: int) -> Tensor:
    """Of one axis."""
    offset = np.zeros([1] * len(shape), np.int32)
    if axis in slices.windows:
        offset = offset + _line(slices.sizes[axis], count + slices.windows.index(axis), len(shape))
    if axis in slices.batch:
        offset = offset + _line(slices.lengths[axis], slices.batch[axis], len(shape))
    if axis not in slices.told:
        return rows.builder.constant(np.broadcast_to(offset, shape).astype(np.int32))
    first = call("GatherV2", rows, np.int32(slices.told.index(axis)), np.int32(count))
    first = reshape(first, [*shape[:count], *[1] * (len(shape) - count)])
    if first.shape.dims == tuple(shape) and not offset.any():
        return first
    return call("AddV2", first, np.broadcast_to(offset, [1] * count + list(shape[count:])) if (
        axis not in slices.batch) else np.broadcast_to(offset, shape))  # fmt: skip


def _line(size: int, at: int, count: int) -> np.ndarray:
    """0, 1, … along one of so many axes."""
    return np.arange(size, dtype=np.int32).reshape([size if i == at else 1 for i in range(count)])


def slice_axes(slices: Slices, count: int, offsets: Sequence[int], total: int) -> list[int]:
    """The order that takes [rows…, windows…, whole…] to what gather gives: for each of its axes,
    the one that it is. count: axes of rows. offsets: where those of slices are."""
    source = {axis: count + i for i, axis in enumerate((*slices.windows, *slices.whole))}
    placed = dict(zip(offsets, (source[axis] for axis in slices.kept), strict=True))
    rest = iter(range(count))
    return [placed[i] if i in placed else next(rest) for i in range(total)]


def slices_of(
    operand: Tensor,
    sizes: Sequence[int],
    told: Sequence[int],
    dropped: Sequence[int],
    batch: Sequence[int],
    rows_batch: Sequence[int],
) -> Slices:
    return Slices(
        dims(operand),
        tuple(sizes),
        tuple(told),
        frozenset(dropped),
        dict(zip(batch, rows_batch, strict=True)),
    )


def row_axes(indices: Tensor) -> int:
    """How many axes of rows there are: the last one is a row."""
    return rank(indices) - 1
