"""Where a logarithmic axis has its numbers: as many as there is room for, and round ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

_MARKS = ((1, 2, 3, 4, 5, 6, 7, 8, 9), (1, 2, 5), (1, 3))  # of a decade, the most first
_MANY = 400  # decades that a float64 has, and some


def log_ticks(low: float, high: float, most: int) -> list[float]:
    """Exponents of 10 from `low` to `high`, so that each is at least a `most`-th of the way from
    the next: parts of decades, whole ones, or every so many of those. One that is the only one
    or none is better than numbers that cover each other."""
    if not high > low or not math.isfinite(high - low) or most < 1:
        return []
    apart = (high - low) / most
    for marks in _MARKS:
        found = _within(marks, low, high)
        if found and all(b - a >= apart for a, b in pairwise(found)):
            return found
    every = max(math.ceil(apart), 1)
    decades = range(math.ceil(low), math.floor(high) + 1)
    return [float(k) for k in decades if k % every == 0] or [float(k) for k in decades[:1]]


def _within(marks: Sequence[int], low: float, high: float) -> list[float]:
    decades = range(math.floor(low), math.floor(high) + 1)
    if len(decades) > _MANY:
        return []
    found = (decade + math.log10(mark) for decade in decades for mark in marks)
    return [x for x in found if low <= x <= high]
