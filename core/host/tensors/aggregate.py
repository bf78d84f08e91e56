"""A table of any size as few cells, each of a block of elements, of which none is overlooked."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.host.tensors.element_chunks import CHUNK, Array, real

FINITE, NAN, INF, NEGATIVE_INF, ZERO = range(5)  # what is to be said of a cell beside its number


@dataclass(frozen=True, slots=True)
class Cells:
    """least, most, mean: of the finite elements of each block, NaN where there are none; kinds:
    NAN where one is in it, or else infinite, or else ZERO where all are zero. block: elements of
    one down and across; the last blocks may have fewer."""

    least: Array
    most: Array
    mean: Array
    kinds: Array
    block: tuple[int, int]

    @property
    def extreme(self) -> Array:
        """Of each block the finite element of the largest modulus: nothing that sticks out is
        averaged away."""
        return np.where(np.abs(self.most) >= np.abs(self.least), self.most, self.least)


def aggregate(table: Array, height: int, width: int) -> Cells:
    """At most height × width cells of a table, whatever its size; moduli of complex numbers."""
    rows, columns = table.shape
    block = (_up(rows, height), _up(columns, width))
    shape = (_up(rows, block[0]), _up(columns, block[1]))
    least, most, mean = (np.full(shape, np.nan) for _ in range(3))
    found = Cells(least, most, mean, np.zeros(shape, np.uint8), block)
    across = max(1, CHUNK // (block[0] * block[1]))  # cells that are looked at together
    for row, column, cells in _bands(shape, across):
        check_cancelled()
        part = table[
            row * block[0] : (row + cells[0]) * block[0],
            column * block[1] : (column + cells[1]) * block[1],
        ]
        _fill(found, part, (slice(row, row + cells[0]), slice(column, column + cells[1])))
    return found


def _bands(shape: tuple[int, int], together: int) -> Iterator[tuple[int, int, tuple[int, int]]]:
    """Rectangles of cells that cover all: (row, column, (rows, columns))."""
    wide = max(1, min(shape[1], together))
    high = max(1, together // wide)
    for row in range(0, shape[0], high):
        for column in range(0, shape[1], wide):
            yield row, column, (min(high, shape[0] - row), min(wide, shape[1] - column))


def _fill(found: Cells, part: Array, place: tuple[slice, slice]) -> None:
    values = real(part).astype(np.float64)
    finite = np.isfinite(values)
    clean = bool(finite.all())
    high = values if clean else np.where(finite, values, -np.inf)
    low = values if clean else np.where(finite, values, np.inf)
    count = _blocks(np.add, finite.astype(np.float64), found.block)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        total = _blocks(np.add, values if clean else np.where(finite, values, 0.0), found.block)
        found.mean[place] = total / count
    some = count > 0
    most, least = (
        _blocks(np.maximum, high, found.block),
        _blocks(np.minimum, low, found.block),
    )
    found.most[place] = np.where(some, most, np.nan)
    found.least[place] = np.where(some, least, np.nan)
    kinds = found.kinds[place]
    kinds[(most == 0) & (least == 0)] = ZERO
    if not clean:
        for kind, wrong in (
            (NEGATIVE_INF, values == -np.inf),
            (INF, values == np.inf),
            (NAN, np.isnan(values)),
        ):
            kinds[_blocks(np.logical_or, wrong, found.block)] = kind


def _blocks(combine: np.ufunc, values: Array, block: tuple[int, int]) -> Array:
    """The values of each block, combined to one."""
    for axis, size in enumerate(block):
        if size > 1:
            values = combine.reduceat(values, np.arange(0, values.shape[axis], size), axis=axis)
    return values


def _up(count: int, size: int) -> int:
    return max(1, -(-count // max(size, 1)))
