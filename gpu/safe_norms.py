"""Norms of two tensors and of their difference, whatever the size of their elements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gradstep.core.graph.number_kinds import kind_of

Array = np.ndarray

PIECE = 1 << 20  # elements converted to float64 at a time


@dataclass(frozen=True, slots=True)
class Norm:
    """`value` · 2^`exponent`: the number itself may be too large or too small for float64."""

    value: float
    exponent: int

    def over(self, other: Norm) -> float:
        """How many times the other norm this one is: 0 only where this one is 0, infinite where
        the other one is and this is not, and beyond the largest number."""
        if self.value == 0.0:
            return 0.0
        if other.value == 0.0:
            return math.inf
        try:
            found = math.ldexp(self.value / other.value, self.exponent - other.exponent)
        except OverflowError:
            return math.inf
        return max(found, math.ulp(0.0))


@dataclass(frozen=True, slots=True)
class Norms:
    """Of both tensors and of right − left, over the elements that are finite in both; cosine:
    left · right / (‖left‖ ‖right‖), 1 where both are zero and 0 where only one is."""

    left: Norm
    right: Norm
    apart: Norm
    cosine: float


def norms(left: Array, right: Array) -> Norms:
    """Of two tensors of numbers of one shape, of which neither the squares overflow or vanish nor
    the last bit of a difference is lost: elements are subtracted first, and then scaled."""
    a, b = real(left), real(right)
    wide = 8 in (a.dtype.itemsize, b.dtype.itemsize)  # squares of others have room in float64
    (ex, ey, eapart), halved = _exponents(a, b) if wide else ((0, 0, 0), False)
    sums = np.zeros(4)
    for x, y, apart in _subtracted(a, b, halved):
        if wide:
            x, y, apart = np.ldexp(x, -ex), np.ldexp(y, -ey), np.ldexp(apart, -eapart)
        sums += [_dot(x, x), _dot(y, y), _dot(apart, apart), _dot(x, y)]
    own, other, between = np.sqrt(sums[:3]).tolist()
    return Norms(
        Norm(own, ex),
        Norm(other, ey),
        Norm(between, eapart + halved),
        _cosine(float(sums[3]), own, other),
    )


def _dot(a: Array, b: Array) -> float:
    """np.dot gives so short a sum to OpenBLAS's threads, which wait for each other in loops: on
    processors that other programs keep busy, for seven times as long."""
    return float(np.einsum("i,i->", a, b))


def pieces(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """The arrays flat, as float64, some elements at a time."""
    for parts in _raw(*map(real, arrays)):
        yield tuple(part.astype(np.float64) for part in parts)


def finite(a: Array, b: Array) -> Iterator[tuple[Array, Array, Array]]:
    """Likewise the elements that are finite in both, and b − a of them."""
    yield from _subtracted(real(a), real(b))


def largest(numbers: Array) -> float:
    """The largest magnitude; 0 where there are none."""
    return float(np.max(np.abs(numbers), initial=0.0))


def real(array: Array) -> Array:
    """Complex numbers as pairs of real ones; others as they are."""
    if kind_of(array.dtype) != "c":
        return array
    return np.ascontiguousarray(array).view(array.real.dtype)


def _raw(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    flat = [array.reshape(-1) for array in arrays]
    for start in range(0, flat[0].size, PIECE):
        yield tuple(array[start : start + PIECE] for array in flat)


def _subtracted(a: Array, b: Array, halved: bool = False) -> Iterator[tuple[Array, Array, Array]]:
    """Pieces of `a`, `b` and b − a, or half of that, without what is not finite in both."""
    for x, y in _raw(a, b):
        use = np.isfinite(x) & np.isfinite(y)
        if not use.all():
            x, y = x[use], y[use]
        wide = x.astype(np.float64), y.astype(np.float64)
        yield *wide, _integers(x, y) if _is_exact(x, y) else _difference(*wide, halved)


def _is_exact(x: Array, y: Array) -> bool:
    """Whether they are integers of a kind that float64 does not hold exactly."""
    return x.dtype == y.dtype and kind_of(x.dtype) in "iu" and x.dtype.itemsize == 8


def _integers(x: Array, y: Array) -> Array:
    """|y − x| of 64-bit integers."""
    larger, smaller = (z.astype(np.uint64) for z in (np.maximum(x, y), np.minimum(x, y)))
    return np.asarray(larger - smaller, np.float64)


def _difference(x: Array, y: Array, halved: bool) -> Array:
    with np.errstate(over="ignore"):  # the largest numbers are apart by infinity, and then halved
        return np.asarray(y / 2 - x / 2 if halved else y - x)


def _exponents(a: Array, b: Array) -> tuple[tuple[int, int, int], bool]:
    """Powers of two above the largest element of `a`, of `b` and of their difference; whether that
    is beyond the largest number, and so has to be halved."""
    tops = [0.0, 0.0, 0.0]
    for parts in _subtracted(a, b):
        tops = [max(top, largest(part)) for top, part in zip(tops, parts, strict=True)]
    halved = math.isinf(tops[2])
    own, other, apart = (math.frexp(top)[1] for top in tops)
    return (own, other, 1024 if halved else apart), halved


def _cosine(product: float, left: float, right: float) -> float:
    """Kept in its range: the square of a tiny element may have few bits left."""
    if left * right == 0:
        return float(left == right)
    return max(-1.0, min(1.0, product / (left * right)))
