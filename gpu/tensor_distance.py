"""How far apart two tensors are: the measures of a comparison.

No verdict rests on maximum relative error or maximum ULP distance: both explode at sign changes
near zero, where nothing is wrong. Sums and maxima are over all elements, taken in pieces so that
memory stays bounded; the two quantiles are over an even sample of large tensors.
"""

from __future__ import annotations

import math

import numpy as np

from gradstep.core.graph.number_kinds import kind_of, limits_of
from gradstep.gpu.safe_norms import Array, finite, largest, norms, pieces, real

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
    found.update(_EQUAL if same.all() else _distances(left, right))
    if reference is not None and comparable(reference, left):
        found["error_left"] = relative_l2(reference, left)
        found["error_right"] = relative_l2(reference, right)
    return found


def comparable(left: Array, right: Array) -> bool:
    """Whether both are numbers, and of one shape."""
    return (
        left.shape == right.shape
        and kind_of(left.dtype) in _NUMBERS
        and kind_of(right.dtype) in _NUMBERS
    )


def identical(left: Array, right: Array) -> Array:
    """Element by element: the same value, two NaN, or two zeros; shapes must be equal."""
    if kind_of(left.dtype) in "fc" and kind_of(right.dtype) in "fc":
        return np.asarray((left == right) | (np.isnan(left) & np.isnan(right)))
    return np.asarray(left == right)


def relative_l2(reference: Array, other: Array) -> float:
    """‖other − reference‖ / ‖reference‖ over the elements finite in both. 0 where nothing
    differs, infinite where only the reference is all zeros."""
    found = norms(reference, other)
    return found.apart.over(found.left)


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
    return sum(int(np.count_nonzero(~_same_kind(a, b))) for a, b in pieces(left, right))


@_quiet
def scaled_error(left: Array, right: Array, magnitudes: Array) -> float:
    """Largest |right − left| / (ε · magnitudes) over the finite elements: how many roundings apart
    two sums are, whatever cancels in them. magnitudes: the same sum of absolute values, which is
    that of both parts of a complex number."""
    sizes = np.broadcast_to(magnitudes, left.shape)
    if kind_of(left.dtype) == "c":
        sizes = np.repeat(sizes, 2)
    worst = 0.0
    for a, b, size in pieces(left, right, sizes):
        use = np.isfinite(a) & np.isfinite(b) & (a != b)
        if use.any():
            worst = max(worst, float(np.max(np.abs(b - a)[use] / np.abs(size[use]))))
    return worst / float(limits_of(left.dtype).eps)


@_quiet
def worst_index(left: Array, right: Array) -> tuple[int, ...] | None:
    """Where the two differ most; an element non-finite in only one of them comes first. None where
    nothing differs, and for tensors that are not numbers, or of two shapes."""
    if not comparable(left, right) or not left.size or identical(left, right).all():
        return None
    best, at, start = -1.0, 0, 0
    for a, b in pieces(left, right):
        apart = np.where(_same_kind(a, b), np.nan_to_num(np.abs(a - b)), np.inf)
        here = int(np.argmax(apart))
        if apart[here] > best:
            best, at = float(apart[here]), start + here
        start += len(apart)
    parts = real(left).size // left.size  # 2 of a complex number
    return tuple(int(i) for i in np.unravel_index(at // parts, left.shape))


_NUMBERS = "fiubc"
_EQUAL = {"nan_mismatches": 0.0, "max_abs": 0.0, "rel_l2": 0.0, "cosine": 1.0, "rel_p99": 0.0,
          "ulp_p99": 0.0}  # fmt: skip


def _distances(a: Array, b: Array) -> dict[str, float]:
    """All measures of two tensors that are not identical."""
    found = norms(a, b)
    return {
        "nan_mismatches": float(mismatches(a, b)),
        "max_abs": max((largest(apart) for _, _, apart in finite(a, b)), default=0.0),
        "rel_l2": found.apart.over(found.left),
        "cosine": found.cosine,
        **_quantiles(real(a), real(b)),
    }


def _quantiles(a: Array, b: Array) -> dict[str, float]:
    """99th percentiles of the relative error and of the ULP distance, over an even sample."""
    step = -(-a.size // _SAMPLE)
    x, y = a.reshape(-1)[::step], b.reshape(-1)[::step]
    wide = x.astype(np.float64)
    use = np.isfinite(wide) & np.isfinite(y.astype(np.float64))
    large = np.abs(wide[use]) > _SMALL * largest(wide[use])
    if not large.any():
        return {}
    x, y = x[use][large], y[use][large]
    wide = x.astype(np.float64)
    found = {"rel_p99": _percentile(np.abs(y.astype(np.float64) - wide) / np.abs(wide))}
    if x.dtype == y.dtype and kind_of(x.dtype) == "f":
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


def _same_kind(a: Array, b: Array) -> Array:
    """Finite in both, NaN in both, or the same infinity in both."""
    finite = np.isfinite(a) & np.isfinite(b)
    return np.asarray(finite | (np.isnan(a) & np.isnan(b)) | (np.isinf(a) & (a == b)))
