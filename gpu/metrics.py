"""How far apart two tensors are: the measures of a comparison.

No verdict rests on maximum relative error or maximum ULP distance: both explode at sign changes
near zero, where nothing is wrong. Sums and maxima are over all elements, taken in pieces so that
memory stays bounded; the two quantiles are over an even sample of large tensors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

Array = np.ndarray

_PIECE = 1 << 20  # elements converted to float64 at a time
_SAMPLE = 1 << 18  # elements that quantiles look at
_SMALL = 1e-6  # of the largest magnitude; below, relative errors and ULPs mean little


# The largest numbers are apart by infinity: that is data, nothing to warn of.
_quiet = np.errstate(over="ignore", invalid="ignore", divide="ignore")


@_quiet
def measure(left: Array, right: Array, reference: Array | None = None) -> dict[str, float]:
    """Measures of `right` against `left` (same shape), as named in messages.ComparedNode.

    Non-finite elements count only as mismatches. reference: the float64 value, for error_left and
    error_right (relative L2). Empty for tensors that are not numbers, or of two shapes.
    """
    if not comparable(left, right):
        return {}
    same = identical(left, right)
    found = {"equal": float(np.mean(same)) if left.size else 1.0}
    found.update(_EQUAL if same.all() else _distances(_real(left), _real(right)))
    if reference is not None and comparable(reference, left):
        found["error_left"] = relative_l2(reference, left)
        found["error_right"] = relative_l2(reference, right)
    return found


def comparable(left: Array, right: Array) -> bool:
    """Whether both are numbers, and of one shape."""
    return (
        left.shape == right.shape and left.dtype.kind in _NUMBERS and right.dtype.kind in _NUMBERS
    )


def identical(left: Array, right: Array) -> Array:
    """Element by element: the same value, two NaN, or two zeros; shapes must be equal."""
    if left.dtype.kind in "fc" and right.dtype.kind in "fc":
        return np.asarray((left == right) | (np.isnan(left) & np.isnan(right)))
    return np.asarray(left == right)


def relative_l2(reference: Array, other: Array) -> float:
    """‖other − reference‖ / ‖reference‖ over the elements finite in both. 0 where nothing
    differs, infinite where only the reference is all zeros."""
    difference, size, _, _ = _norms(_real(reference), _real(other))
    if difference == 0.0:
        return 0.0
    return difference / size if size > 0 else math.inf


def distance(reference: Array, other: Array) -> float | None:
    """`relative_l2` as a finite number: 1 at least where a NaN or an infinity is on one side
    only, and 1 for anything that should be zero. None where it means nothing."""
    if not comparable(reference, other):
        return None
    found = relative_l2(reference, other)
    if mismatches(reference, other):
        return max(found, 1.0) if math.isfinite(found) else 1.0
    return found if math.isfinite(found) else 1.0


def mismatches(left: Array, right: Array) -> int:
    """How many elements are NaN, or an infinity of one sign, on one side only."""
    return sum(int(np.count_nonzero(~_same_kind(a, b))) for a, b in _pieces(left, right))


@_quiet
def scaled_error(left: Array, right: Array, magnitudes: Array) -> float:
    """Largest |right − left| / (ε · magnitudes) over the finite elements: how many roundings apart
    two sums are, whatever cancels in them. magnitudes: the same sum of absolute values."""
    worst = 0.0
    for a, b, size in _pieces(left, right, np.broadcast_to(magnitudes, left.shape)):
        use = np.isfinite(a) & np.isfinite(b) & (a != b)
        if use.any():
            worst = max(worst, float(np.max(np.abs(b - a)[use] / np.abs(size[use]))))
    return worst / float(np.finfo(left.dtype).eps)


@_quiet
def worst_index(left: Array, right: Array) -> tuple[int, ...] | None:
    """Where the two differ most; an element non-finite in only one of them comes first. None where
    nothing differs, and for tensors that are not numbers, or of two shapes."""
    if not comparable(left, right) or not left.size or identical(left, right).all():
        return None
    best, at, start = -1.0, 0, 0
    for a, b in _pieces(left, right):
        apart = np.where(_same_kind(a, b), np.nan_to_num(np.abs(a - b)), np.inf)
        here = int(np.argmax(apart))
        if apart[here] > best:
            best, at = float(apart[here]), start + here
        start += len(apart)
    return tuple(int(i) for i in np.unravel_index(at, left.shape))


_NUMBERS = "fiubc"
_EQUAL = {"nan_mismatches": 0.0, "max_abs": 0.0, "rel_l2": 0.0, "cosine": 1.0, "rel_p99": 0.0,
          "ulp_p99": 0.0}  # fmt: skip


def _distances(a: Array, b: Array) -> dict[str, float]:
    """All measures of two tensors that are not identical."""
    difference, left, right, product = _norms(a, b)
    found = {
        "nan_mismatches": float(mismatches(a, b)),
        "max_abs": max((_largest(np.abs(x - y)) for x, y in _finite(a, b)), default=0.0),
        "rel_l2": difference / left if left > 0 else math.inf if difference else 0.0,
        "cosine": _cosine(product, left, right),
    }
    found.update(_quantiles(a, b))
    return found


def _cosine(product: float, left: float, right: float) -> float:
    """a·b / (‖a‖ ‖b‖), kept in its range: the square of a tiny element may have few bits left."""
    if left * right == 0:
        return float(left == right)
    return max(-1.0, min(1.0, product / (left * right)))


def _norms(a: Array, b: Array) -> tuple[float, float, float, float]:
    """‖b − a‖, ‖a‖, ‖b‖ and a·b over the elements finite in both; of float64 in units of the
    largest magnitude, so that squares neither overflow nor vanish."""
    unit = _unit(a, b) if 8 in (a.dtype.itemsize, b.dtype.itemsize) else 1.0
    sums = np.zeros(4)
    for x, y in _finite(a, b):
        if unit != 1.0:
            x, y = x / unit, y / unit
        apart = y - x
        sums += [np.dot(apart, apart), np.dot(x, x), np.dot(y, y), np.dot(x, y)]
    return math.sqrt(sums[0]), math.sqrt(sums[1]), math.sqrt(sums[2]), float(sums[3])


def _unit(a: Array, b: Array) -> float:
    """The largest finite magnitude; 1 for zeros."""
    largest = (max(_largest(np.abs(x)), _largest(np.abs(y))) for x, y in _finite(a, b))
    return max(largest, default=0.0) or 1.0


def _quantiles(a: Array, b: Array) -> dict[str, float]:
    """99th percentiles of the relative error and of the ULP distance, over an even sample."""
    step = -(-a.size // _SAMPLE)
    x, y = a.reshape(-1)[::step], b.reshape(-1)[::step]
    wide = x.astype(np.float64)
    use = np.isfinite(wide) & np.isfinite(y.astype(np.float64))
    large = np.abs(wide[use]) > _SMALL * _largest(np.abs(wide[use]))
    if not large.any():
        return {}
    x, y = x[use][large], y[use][large]
    wide = x.astype(np.float64)
    found = {"rel_p99": _percentile(np.abs(y.astype(np.float64) - wide) / np.abs(wide))}
    if x.dtype == y.dtype and x.dtype.kind == "f":
        found["ulp_p99"] = _percentile(ulp_distance(x, y))
    return found


def _percentile(values: Array) -> float:
    """The 99th; one of the values, as between two infinities there is nothing."""
    return float(np.quantile(values, 0.99, method="higher"))


def ulp_distance(left: Array, right: Array) -> Array:
    """How many representable numbers lie between, element by element, in float64."""
    a, b = _ordered(left), _ordered(right)
    return np.asarray(np.where(a > b, a - b, b - a), np.float64)


def _ordered(array: Array) -> Array:
    """Floating-point numbers as unsigned integers in the same order; neighbours differ by 1, and
    the two zeros by nothing."""
    unsigned = np.dtype(f"u{array.dtype.itemsize}")
    top = unsigned.type(1 << (8 * array.dtype.itemsize - 1))
    bits = np.ascontiguousarray(array).view(unsigned)
    return np.asarray(np.where(bits & top, top - (bits & ~top), bits | top))


def _pieces(*arrays: Array) -> Iterator[tuple[Array, ...]]:
    """The arrays flat, as float64, some elements at a time."""
    flat = [_real(array).reshape(-1) for array in arrays]
    for start in range(0, flat[0].size, _PIECE):
        yield tuple(array[start : start + _PIECE].astype(np.float64) for array in flat)


def _finite(a: Array, b: Array) -> Iterator[tuple[Array, Array]]:
    for x, y in _pieces(a, b):
        both = np.isfinite(x) & np.isfinite(y)
        yield (x, y) if both.all() else (x[both], y[both])


def _same_kind(a: Array, b: Array) -> Array:
    """Finite in both, NaN in both, or the same infinity in both."""
    finite = np.isfinite(a) & np.isfinite(b)
    return np.asarray(finite | (np.isnan(a) & np.isnan(b)) | (np.isinf(a) & (a == b)))


def _largest(magnitudes: Array) -> float:
    return float(np.max(magnitudes, initial=0.0))


def _real(array: Array) -> Array:
    """Complex numbers as pairs of real ones; others as they are."""
    if array.dtype.kind != "c":
        return array
    return np.ascontiguousarray(array).view(array.real.dtype)
