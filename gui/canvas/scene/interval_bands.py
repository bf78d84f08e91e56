"""Intervals in bands, found by place: what reaches into a range, and which ranges are free.

An interval lies in one or more bands (rows or columns of a plane) and is sorted into each. What is
asked for costs what is there, not how many intervals there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np


@dataclass(frozen=True, eq=False)
class Bands:
    """One entry for each interval in each of its bands, by the band and then by the beginning.

    keys: float64[e], ascending: of an entry, `span` times its band, and how far from `base` it
    begins. items: int64[e], numbers of intervals. bands: int64[e]. begin, end: float64[n], of each
    interval. longest: no interval is longer.
    """

    keys: np.ndarray
    items: np.ndarray
    bands: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    base: float
    span: float
    longest: float

    @classmethod
    def of(cls, first: np.ndarray, last: np.ndarray, begin: np.ndarray, end: np.ndarray) -> Bands:
        """first, last: int64[n], the bands of each interval; begin, end: float64[n]."""
        base = float(begin.min(initial=0.0)) - 1.0
        span = float(end.max(initial=0.0)) + 1.0 - base
        items, bands = spread(first, last)
        keys = bands * span + (begin[items] - base)
        order = np.argsort(keys, kind="stable")
        longest = float((end - begin).max(initial=0.0))
        return cls(keys[order], items[order], bands[order], begin, end, base, span, longest)

    def reaching(
        self, bands: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Pairs of a place (its number: a band, and a range in it) and an interval that overlaps
        it. int64[k] each."""
        start = np.searchsorted(self.keys, self._key(bands, low - self.longest))
        stop = np.searchsorted(self.keys, self._key(bands, high))
        places, within = counted(np.maximum(stop - start, 0))
        items = self.items[start[places] + within]
        overlap = self.end[items] > low[places]
        return places[overlap], items[overlap]

    def are_free(self, bands: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Whether no interval overlaps a place. bool[k]."""
        before = np.searchsorted(self.keys, self._key(bands, high))
        return np.asarray(self._reach[before] <= self._key(bands, low))

    @cached_property
    def _reach(self) -> np.ndarray:
        """How far entries before each place reach, as a key. float64[e + 1]."""
        ends = self.bands * self.span + (self.end[self.items] - self.base)
        return np.maximum.accumulate(np.append(-np.inf, ends))

    def _key(self, bands: np.ndarray, at: np.ndarray) -> np.ndarray:
        return bands * self.span + np.clip(at - self.base, 0.5, self.span - 0.5)


def spread(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ranges of whole numbers, written out: of each number its range, and the number itself."""
    ranges, within = counted(last - first + 1)
    return ranges, first[ranges] + within


def counted(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """0, 1, 2, … as often as `counts` says: whose each is, and the numbers. int64[k] each."""
    whose = np.repeat(np.arange(len(counts)), counts)
    return whose, np.arange(len(whose)) - np.repeat(np.cumsum(counts) - counts, counts)
