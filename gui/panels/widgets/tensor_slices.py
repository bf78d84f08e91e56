"""Slices of a tensor of any rank: which two-dimensional table is shown, and where it lies."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod


@dataclass(frozen=True, slots=True)
class Slice:
    """The table spanned by the last two axes at fixed `lead` indexes of the axes before them.

    shape: of the whole tensor; scalars are a 1×1 table, vectors a column of rows.
    """

    shape: tuple[int, ...]
    lead: tuple[int, ...] = ()

    @property
    def rows(self) -> int:
        if len(self.shape) < 2:
            return self.shape[0] if self.shape else 1
        return self.shape[-2]

    @property
    def columns(self) -> int:
        return self.shape[-1] if len(self.shape) >= 2 else 1

    @property
    def offset(self) -> int:
        """Row-major number of the table's first element."""
        number = 0
        for size, index in zip(self.shape, self.lead, strict=False):
            number = number * size + index
        return number * self.rows * self.columns

    @property
    def elements(self) -> int:
        return prod(self.shape)

    def index(self, row: int, column: int) -> tuple[int, ...]:
        """The element's index in the tensor."""
        if not self.shape:
            return ()
        return (*self.lead, row, column) if len(self.shape) >= 2 else (row,)

    def number(self, row: int, column: int) -> int:
        """The element's row-major number in the tensor."""
        return self.offset + row * self.columns + column

    def at(self, axis: int, index: int) -> Slice:
        """The same with another index on a leading axis."""
        lead = list(self.lead or (0,) * max(len(self.shape) - 2, 0))
        lead[axis] = max(0, min(index, self.shape[axis] - 1))
        return Slice(self.shape, tuple(lead))


def first_slice(shape: tuple[int, ...]) -> Slice:
    """The slice at index 0 of every leading axis."""
    return Slice(shape, (0,) * max(len(shape) - 2, 0))
