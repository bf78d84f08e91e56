"""How far apart two right results may be: both are rounded, and add up in an order of their own.

Processors with other vector units, other BLAS libraries and other numbers of threads give other
last bits. A tolerance follows from what was computed: how many numbers were summed, how often in a
row, and how large they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

# Of ε: two sides that are each off by half a bit at every rounding, and functions of libraries,
# which were measured up to 3.6 off.
_ROOM = 4.0


@dataclass(frozen=True)
class Rounding:
    """terms: that the longest sum on the way has. Its errors are as often up as down, so they grow
    with the root of that.
    steps: how many such sums follow each other, each taking over the error of the last: layers,
    iterations, updates.
    size: of the numbers that are added, where what is expected is smaller, as they cancel.
    dtype: in which was computed, where what is expected has more bits.
    """

    terms: int = 1
    steps: int = 1
    size: float = 0.0
    dtype: Any = None

    def of(self, **others: Any) -> Rounding:
        """The same with other fields."""
        return replace(self, **others)

    def slack(self, expected: Any) -> float:
        """The largest absolute difference from `expected` that is rounding; 0 for integers. It is
        one for all elements: a small one is often a sum of large terms."""
        array = np.asarray(expected)
        dtype = array.dtype if self.dtype is None else np.dtype(self.dtype)
        if dtype.kind not in "fc":
            return 0.0
        finite = np.abs(array[np.isfinite(array)]).astype(np.float64)
        size = max(self.size, float(np.max(finite, initial=0.0)))
        return _ROOM * float(np.finfo(dtype).eps) * (1 + self.terms**0.5) * self.steps * size


def rounded_alike(found: Any, expected: Any, rounding: Rounding = Rounding()) -> bool:
    """Whether `found` is apart from `expected` by no more than rounding; NaN is NaN."""
    slack = rounding.slack(expected)
    return bool(np.allclose(found, expected, rtol=0, atol=slack, equal_nan=True))


def assert_rounded_alike(
    found: Any, expected: Any, rounding: Rounding = Rounding(), what: str = ""
) -> None:
    """The same, saying where; of one shape."""
    slack = rounding.slack(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=slack, err_msg=what)


def of_ratio(over: Sequence[Any], under: Sequence[Any]) -> Rounding:
    """Of (b - a) / (d - c), for a, b and c, d: what is lost of it where they hardly differ."""
    (a, b), (c, d) = (tuple(np.asarray(x) for x in pair) for pair in (over, under))
    ratio = np.abs((b - a) / (d - c))
    lost = np.abs(b / (b - a)) + np.abs(d / (d - c))
    return Rounding(size=float(np.max(ratio * lost)), dtype=b.dtype)


def fan_in(*shapes: Sequence[int]) -> int:
    """The terms of the longest sum through matrices or kernels of these shapes, outputs last."""
    return max(int(np.prod(shape[:-1])) for shape in shapes)
