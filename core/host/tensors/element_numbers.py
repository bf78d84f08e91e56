"""Statistics of tensors of any size: percentiles that are exact, histograms, ranges."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.host.tensors.element_chunks import CHUNK, Array, chunks, real

_DIGIT = 16  # bits of an element's key that one pass counts


def extent(view: Array) -> tuple[float, float] | None:
    """The smallest and the largest finite element; None where there is none."""
    least, most = math.inf, -math.inf
    for piece in chunks(view):
        finite = finite_of(piece)
        if finite.size:
            least, most = min(least, float(finite.min())), max(most, float(finite.max()))
    return (least, most) if least <= most else None


def finite_of(piece: Array) -> Array:
    """The finite ones of flat elements, as numbers that can be ordered."""
    values = real(piece)
    if kind_of(values.dtype) != "f":
        return values
    finite = np.isfinite(values)
    return values if finite.all() else values[finite]


def percentiles(view: Array, percents: Sequence[float]) -> list[float]:
    """Of the finite elements, interpolated as NumPy's default does; nothing where there are none.
    Large tensors are not sorted: passes over 16 bits of the elements at a time find the very same
    ones (a radix selection)."""
    if view.size <= CHUNK:
        values = finite_of(view.reshape(-1))
        if not values.size:
            return []
        return [float(x) for x in np.percentile(values.astype(np.float64), percents)]
    count = sum(finite_of(piece).size for piece in chunks(view))
    if not count:
        return []
    places = [percent / 100 * (count - 1) for percent in percents]
    found = _select(view, {rank for p in places for rank in (math.floor(p), math.ceil(p))})
    return [_between(found, place) for place in places]


def _between(found: dict[int, float], place: float) -> float:
    low, high = found[math.floor(place)], found[math.ceil(place)]
    return float(np.percentile([low, high], 100 * (place - math.floor(place))))


def _select(view: Array, ranks: set[int]) -> dict[int, float]:
    """The elements of these ranks among the finite ones; the smallest has rank 0."""
    kind = real(view[(slice(0, 0), ...)] if view.ndim else view).dtype
    bits = max(8 * kind.itemsize, _DIGIT)
    found = {rank: (0, rank) for rank in ranks}  # upper bits of its key, its rank among such
    for shift in range(bits - _DIGIT, -1, -_DIGIT):
        counts = _count(view, {upper for upper, _ in found.values()}, shift, bits)
        found = {rank: _step(*at, counts[at[0]]) for rank, at in found.items()}
    return {rank: _value(key, kind) for rank, (key, _) in found.items()}


def _step(upper: int, rank: int, counts: Array) -> tuple[int, int]:
    """The upper bits with one digit more, and the rank among those that have it."""
    ends = counts.cumsum()
    digit = int(np.searchsorted(ends, rank, "right"))
    return upper << _DIGIT | digit, rank - int(ends[digit] - counts[digit])


def _count(view: Array, uppers: set[int], shift: int, bits: int) -> dict[int, Array]:
    """How many elements of which the upper bits are each of `uppers` go on with which digit."""
    found = {upper: np.zeros(1 << _DIGIT, np.int64) for upper in uppers}
    for piece in chunks(view):
        keys = _keys(finite_of(piece))
        digits = (keys >> np.uint64(shift)).astype(np.uint16)
        for upper, counts in found.items():
            if shift + _DIGIT < bits:
                chosen = digits[keys >> np.uint64(shift + _DIGIT) == upper]
            else:
                chosen = digits  # the first ones: all of them
            counts += np.bincount(chosen, minlength=1 << _DIGIT)
    return found


def _keys(values: Array) -> Array:
    """Whole numbers that are ordered as the values are (IEEE 754's total order)."""
    size = 8 * values.dtype.itemsize
    raw = values.view(f"u{values.dtype.itemsize}").astype(np.uint64)
    if kind_of(values.dtype) == "u":
        return raw
    sign, all_bits = np.uint64(1 << (size - 1)), np.uint64((1 << size) - 1)
    if kind_of(values.dtype) == "i":
        return raw ^ sign
    return np.where(raw & sign, raw ^ all_bits, raw | sign)


def _value(key: int, kind: np.dtype[Any]) -> float:
    """The value of which this is the key."""
    size = 8 * kind.itemsize
    sign, all_bits = 1 << (size - 1), (1 << size) - 1
    if kind.kind == "i":
        key ^= sign
    elif kind.kind == "f":
        key = key ^ sign if key & sign else key ^ all_bits
    return float(np.array(key, f"u{kind.itemsize}").view(kind))


def histogram(view: Array, bins: int, least: float, most: float) -> list[int]:
    """How many finite elements lie in each of `bins` equal parts of the range from the least to
    the most of them; in the first one if all are alike. Unlike numpy.histogram it takes ranges
    that are narrower than its bins' edges can say, and wider than the largest number."""
    counts = np.zeros(bins, np.int64)
    width = most / 2 - least / 2  # halves: of huge numbers the width overflows
    for piece in chunks(view):
        halves = finite_of(piece).astype(np.float64) / 2 - least / 2
        places = np.zeros(halves.size) if width <= 0 else halves / width * bins
        counts += np.bincount(np.clip(places, 0, bins - 1).astype(np.intp), minlength=bins)
    return [int(count) for count in counts]


def deviation(view: Array, mean: float) -> float:
    """The standard deviation of the finite elements, of which there are some."""
    total, count = 0.0, 0
    with np.errstate(over="ignore"):
        for piece in chunks(view):
            values = finite_of(piece).astype(np.float64)
            total += float(np.square(values - mean).sum())
            count += values.size
    return math.sqrt(total / count) if count else 0.0
