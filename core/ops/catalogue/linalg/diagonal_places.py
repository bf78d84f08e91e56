"""Where the elements of diagonals lie, in the matrix and in the rows that diagonals are given as.

Diagonals are counted from the main one: 1 is above it, -1 below. Those from `low` to `high` are
given as rows, the highest first, all as long as the longest; `align` says at which end a shorter
one is filled up (superdiagonals, subdiagonals).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError

ALIGNMENTS = ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT")


@dataclass(frozen=True)
class Diagonals:
    """The diagonals `low` to `high`."""

    low: int
    high: int

    @property
    def count(self) -> int:
        return self.high - self.low + 1

    def longest(self, rows: int, columns: int) -> int:
        """The length of the longest in a matrix of this size."""
        return min(rows + min(self.high, 0), columns - max(self.low, 0))

    def given_shape(self, rows: int, columns: int) -> tuple[int, ...]:
        """The shape they are given in, for one matrix; one alone is a vector."""
        length = self.longest(rows, columns)
        return (length,) if self.count == 1 else (self.count, length)

    def check_inside(self, rows: int, columns: int, stops: tuple[str, str] = ("", "")) -> None:
        """Fail for one that a matrix of this size has not. (`stops`: TensorFlow's punctuation.)"""
        named = (("lower_diag_index", self.low), ("upper_diag_index", self.high))
        for (name, value), stop in zip(named, stops, strict=True):
            if value and not -rows < value < columns:
                raise GradstepError(
                    f"{name} is out of bound: {value}{stop} "
                    f"It must be between {-rows} and {columns}",
                    hint="both ends excluded",
                )

    def matrix_size(self, length: int, rows: int = -1, columns: int = -1) -> tuple[int, int]:
        """The size of the matrix whose longest diagonal is so long; -1: as small as can be."""
        least = length - min(self.high, 0), length + max(self.low, 0)
        if rows == columns == -1:
            return max(least), max(least)
        size = least[0] if rows == -1 else rows, least[1] if columns == -1 else columns
        for found, needed, name in zip(size, least, ("rows", "columns"), strict=True):
            if found < needed:
                raise GradstepError(
                    f"The number of {name} is too small.", hint=f"{needed} are needed"
                )
        if size[0] != least[0] and size[1] != least[1]:
            raise GradstepError(
                "The number of rows or columns is not consistent with the specified d_lower, "
                "d_upper, and diagonal.",
                hint=f"{least[0]} rows, or {least[1]} columns, fit diagonals of length {length}",
            )
        return size


def diagonals(k: Sequence[int]) -> Diagonals:
    """From one number or a pair. Raises GradstepError."""
    if len(k) not in (1, 2):
        raise GradstepError(
            f"diag_index must have only one or two elements, received {len(k)} elements.",
            hint="k is one diagonal, or the lowest and the highest",
        )
    if k[0] > k[-1]:
        raise GradstepError(
            f"lower_diag_index must not be larger than upper_diag_index: {k[0]} > {k[-1]}",
            hint="k is the lowest and the highest diagonal, in this order",
        )
    return Diagonals(k[0], k[-1])


def places(which: Diagonals, rows: int, columns: int, align: str) -> tuple[Any, ...]:
    """Index vectors of all elements: which given row, where in it, which matrix row and column."""
    above, below = (side == "LEFT" for side in align.split("_"))
    longest = which.longest(rows, columns)
    parts = []
    for row, k in enumerate(range(which.high, which.low - 1, -1)):
        length = min(rows + min(k, 0), columns - max(k, 0))
        left = (k >= 0 and above) or (k <= 0 and below)
        along = np.arange(max(length, 0))
        start = 0 if left else longest - length
        parts.append(
            (np.full_like(along, row), along + start, along - min(k, 0), along + max(k, 0))
        )
    return tuple(np.concatenate(each) for each in zip(*parts, strict=True))
