"""TensorFlow's histogram of numbers: its buckets, and the bytes of its HistogramProto.

Source: TensorFlow's histogram.cc and summary.proto.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from gradstep.core.ops.formats.protobuf import double_field, doubles_field

_LARGEST = float(np.finfo(np.float64).max)


def histogram_bytes(values: np.ndarray) -> bytes:
    """The HistogramProto of finite float64 numbers [n], added one after another."""
    first, last = (values[values.argmin()], values[values.argmax()]) if values.size else _NOTHING
    limits, counts = _filled(values)
    numbers = (first, last, values.size, _running(values), _running(values * values))
    fields = [double_field(i, float(number)) for i, number in enumerate(numbers, 1)]
    return b"".join([*fields, doubles_field(6, limits), doubles_field(7, counts)])


_NOTHING = (_LARGEST, -_LARGEST)  # minimum and maximum of no numbers


def _running(values: np.ndarray) -> float:
    """Their sum from the first to the last; NumPy's own adds in another order."""
    return float(np.cumsum(np.concatenate([[0.0], values]))[-1])


def _filled(values: np.ndarray) -> tuple[list[float], list[float]]:
    """Right edges and counts of the buckets: those that hold something, and each run of empty
    ones as one, up to where it ends."""
    limits = _limits()
    places = np.minimum(limits.searchsorted(values, side="right"), limits.size - 1)
    counts = np.bincount(places, minlength=limits.size).astype(np.float64)
    holds = counts > 0
    kept = holds | np.append(holds[1:], True)
    return limits[kept].tolist(), counts[kept].tolist()


@cache
def _limits() -> np.ndarray:
    """The right edges of all buckets: 1e-12, 10% more each time up to 1e20; the same negative."""
    edges, edge = [], 1e-12
    while edge < 1e20:
        edges.append(edge)
        edge *= 1.1
    edges.append(_LARGEST)
    return np.array([*(-e for e in reversed(edges)), 0.0, *edges])
