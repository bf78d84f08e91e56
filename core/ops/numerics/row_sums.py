"""Many rows added up into few, on the host: quicker than one after another, to the same bits.

Floating-point sums depend on the order, and TensorFlow adds rows in the order in which they come.
NumPy keeps it when it reduces a leading axis. So places that get equally many rows are summed
together: all their first rows, plus all their second rows, and so on. However many rows there
are, few such numbers differ: for n rows at most the square root of 2 n.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

# Below, adding row after row is quicker; narrow rows are, too, and a single column NumPy would not
# add up in order.
_SMALLEST, _NARROWEST = 1 << 13, 4
_reduce: Callable[..., Any] = np.add.reduce  # whose stub knows no positional `out`


def worthwhile(values: np.ndarray) -> bool:
    """Whether rows [n, width] are better summed here than by `numpy.add.at`."""
    wide = values.shape[1] >= _NARROWEST and values.size >= _SMALLEST
    return wide and values.dtype.kind in "iufc"


def sums_in_order(values: np.ndarray, places: np.ndarray, count: int) -> np.ndarray:
    """[count, width]: `values` [n, width] added up by `places` [n], all within [0, count)."""
    width = values.shape[1]
    groups = _Groups.of(places, count)
    rows = values.take(groups.order(places), 0).reshape(-1)
    sums = np.empty((len(groups.taken), width), values.dtype)
    flat, start, first = sums.reshape(-1), 0, 0
    for size, many in groups.sizes:
        part, wide = rows[start * width : (start + size * many) * width], many * width
        _reduce(part.reshape(size, wide), 0, None, flat[first : first + wide])
        start, first = start + size * many, first + wide
    sums += 0  # as if added to zeros: no sum is -0.0
    return groups.in_place(sums)


@dataclass(frozen=True, eq=False)
class _Groups:
    """Places with equally many rows. taken: the places that get rows, those with few first;
    rank: the number of each among these; sizes: how many rows, and how many places get so many."""

    taken: np.ndarray
    rank: np.ndarray
    sizes: list[tuple[int, int]]

    @classmethod
    def of(cls, places: np.ndarray, count: int) -> _Groups:
        sizes = np.bincount(places, minlength=count)
        taken = np.flatnonzero(sizes)
        sizes = sizes.take(taken)
        taken = taken.take(_sorted(sizes, len(places)))
        rank = np.empty(count, np.intp)
        rank[taken] = np.arange(len(taken))
        many = np.bincount(sizes)
        found = np.flatnonzero(many)
        return cls(taken, rank, list(zip(found.tolist(), many.take(found).tolist(), strict=True)))

    def order(self, places: np.ndarray) -> np.ndarray:
        """Positions of rows: group by group, of each the first rows of all places, the second…"""
        order = _sorted(self.rank.take(places), len(self.taken))
        start = 0
        for size, many in self.sizes:
            if size > 1 and many > 1:
                part = order[start : start + size * many]
                part.reshape(size, many)[...] = part.reshape(many, size).T.copy()
            start += size * many
        return order

    def in_place(self, sums: np.ndarray) -> np.ndarray:
        """`sums`, in the order of `taken`, at their places; zeros elsewhere."""
        if len(self.taken) == len(self.rank):
            return sums.take(self.rank, 0)
        total = np.zeros((len(self.rank), sums.shape[1]), sums.dtype)
        total[self.taken] = sums
        return total


def _sorted(numbers: np.ndarray, largest: int) -> np.ndarray:
    """The order that sorts numbers up to `largest`, equal ones as they were. NumPy sorts 16 bits
    by their digits."""
    short = numbers.astype(np.uint16) if largest < 1 << 16 else numbers
    return np.argsort(short, kind="stable")
