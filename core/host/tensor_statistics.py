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
    """Counts over all elements, the rest over the finite ones (complex: over their moduli).
    None for a tensor that is not numeric."""
    if kind_of(array.dtype) not in "biufc":
        return None
    if is_splat(array):
        return _of_one_value(array)
    if array.size <= CHUNK:
        return _summarize(array)
    return _merged([(_summarize(piece), piece.size) for piece in chunks(array)])


def _summarize(array: Array) -> Stats:
    """Of a few numbers, that need not be looked at piece by piece."""
    array = widened(array)
    nans, infs = int(np.isnan(array).sum()), int(np.isinf(array).sum())
    zeros = int(array.size - np.count_nonzero(array))
    values = np.abs(array) if kind_of(array.dtype) == "c" else array
    if nans or infs:
        values = values[np.isfinite(array)]
    if values.size == 0:
        return Stats(nans=nans, infs=infs, zeros=zeros)
    return Stats(
        minimum=float(values.min()),
        maximum=float(values.max()),
        mean=_mean(values),
        norm=_norm(values),
        nans=nans,
        infs=infs,
        zeros=zeros,
    )


def _merged(parts: Sequence[tuple[Stats, int]]) -> Stats:
    """Of the whole, from the statistics and sizes of its parts."""
    finite = [(s, n - s.nans - s.infs) for s, n in parts if s.minimum is not None]
    count = sum(n for _, n in finite)
    nans, infs, zeros = (sum(getattr(s, c) for s, _ in parts) for c in ("nans", "infs", "zeros"))
    if not count:
        return Stats(nans=nans, infs=infs, zeros=zeros)
    return Stats(
        minimum=min(s.minimum for s, _ in finite if s.minimum is not None),
        maximum=max(s.maximum for s, _ in finite if s.maximum is not None),
        mean=math.fsum((s.mean or 0.0) * (n / count) for s, n in finite),
        norm=math.hypot(*(s.norm or 0.0 for s, _ in finite)),
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


def _mean(values: Array) -> float:
    with np.errstate(over="ignore"):  # the sum of huge elements is infinite, and may be said so
        return float(values.mean(dtype=np.float64))


def _norm(values: Array) -> float:
    """The Euclidean norm, scaled so that large elements do not overflow."""
    wide = np.abs(values.astype(np.float64))
    largest = float(wide.max())
    if largest == 0.0 or not np.isfinite(largest):  # a complex modulus may overflow
        return largest
    with np.errstate(over="ignore", under="ignore"):
        return float(largest * np.sqrt(np.square(wide / largest).sum()))
