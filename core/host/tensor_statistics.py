"""Statistics of a tensor: counts of NaN, infinity and zero; smallest, largest, mean, norm."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np

from gradstep.core.graph.number_kinds import kind_of, widened
from gradstep.core.graph.splat_array import element_of, is_splat
from gradstep.core.host.tensors.element_chunks import CHUNK, chunks
from gradstep.core.protocol.messages import Stats

Array = np.ndarray[Any, Any]


def summarize(array: Array) -> Stats | None:
    """Counts and norm over all elements, the rest over the finite ones (complex: over the moduli).
    None for a tensor that is not numeric."""
    if kind_of(array.dtype) not in "biufc":
        return None
    if is_splat(array):
        return _of_one_value(array)
    if array.size <= CHUNK:
        return _summarize(array)
    return _merged([(_summarize(piece), piece.size) for piece in chunks(array)])


def _summarize(array: Array) -> Stats:
    """Of a few numbers, that need not be looked at piece by piece. Nearly all tensors are that
    small, and what takes time is how often NumPy is asked."""
    array = widened(array)
    zeros = array.size - int(np.count_nonzero(array))
    if not array.size:
        return Stats(nans=0, infs=0, zeros=zeros)
    values = np.abs(array) if kind_of(array.dtype) == "c" else array
    with np.errstate(all="ignore"):  # a sum may be infinite, and may be said so
        least, most = _ends(values)
        if math.isfinite(least) and math.isfinite(most):
            return _of_finite(values, least, most, zeros)
        nans, infs = (int(np.count_nonzero(find(array))) for find in (np.isnan, np.isinf))
        norm = math.nan if nans else math.inf if infs else None
        values = values[np.isfinite(array)]
        if not values.size:
            return Stats(norm=norm, nans=nans, infs=infs, zeros=zeros)
        found = _of_finite(values, *_ends(values), zeros)
        if norm is None:  # a complex modulus overflowed, of a number that is finite
            return found
        return msgspec.structs.replace(found, norm=norm, nans=nans, infs=infs)


def _ends(values: Array) -> tuple[float, float]:
    """The smallest and the largest; NaN where one is."""
    least = np.minimum.reduce(values, axis=None)
    return float(least), float(np.maximum.reduce(values, axis=None))


def _of_finite(values: Array, least: float, most: float, zeros: int) -> Stats:
    """Of these alone. zeros: in the whole."""
    return Stats(
        minimum=least,
        maximum=most,
        mean=float(np.add.reduce(values, axis=None, dtype=np.float64) / values.size),
        norm=_norm(values, max(abs(least), abs(most))),
        zeros=zeros,
    )


def _merged(parts: Sequence[tuple[Stats, int]]) -> Stats:
    """Of the whole, from the statistics and sizes of its parts."""
    finite = [(s, n - s.nans - s.infs) for s, n in parts if s.minimum is not None]
    count = sum(n for _, n in finite)
    nans, infs, zeros = (sum(getattr(s, c) for s, _ in parts) for c in ("nans", "infs", "zeros"))
    norm = math.nan if nans else math.hypot(*(s.norm or 0.0 for s, _ in parts))
    if not count:
        return Stats(norm=norm, nans=nans, infs=infs, zeros=zeros)
    return Stats(
        minimum=min(s.minimum for s, _ in finite if s.minimum is not None),
        maximum=max(s.maximum for s, _ in finite if s.maximum is not None),
        mean=math.fsum((s.mean or 0.0) * (n / count) for s, n in finite),
        norm=norm,
        nans=nans,
        infs=infs,
        zeros=zeros,
    )


def _of_one_value(array: Array) -> Stats | None:
    """From one element, however many there are."""
    one, count = summarize(element_of(array)), array.size
    if one is None:
        return None
    norm = None if one.norm is None else one.norm * math.sqrt(count)
    return msgspec.structs.replace(
        one, norm=norm, nans=one.nans * count, infs=one.infs * count, zeros=one.zeros * count
    )


def difference(now: Array, before: Array) -> Array:
    """now - before, of two numeric arrays of one shape and dtype; whole numbers as float64, since
    those without a sign have no negative differences, and bfloat16 as float32."""
    wide = kind_of(now.dtype) in "iu"
    with np.errstate(invalid="ignore", over="ignore"):  # Inf - Inf is NaN, and may be said so
        found = np.subtract(widened(now), widened(before), dtype=np.float64 if wide else None)
    return np.asarray(found)


def differs(now: Array, before: Array) -> Array:
    """Which elements of two arrays of one shape and dtype differ; a NaN is like another NaN."""
    now, before = widened(now), widened(before)
    different = np.asarray(now != before)
    if kind_of(now.dtype) in "fc":
        different &= ~(np.isnan(now) & np.isnan(before))
    return different


def _norm(values: Array, largest: float) -> float:
    """The Euclidean norm, scaled so that large elements do not overflow. largest: in size."""
    if largest == 0.0 or not math.isfinite(largest):  # a complex modulus may overflow
        return largest
    squares = np.square(values.astype(np.float64) / largest)
    return float(largest * np.sqrt(np.add.reduce(squares, axis=None)))
