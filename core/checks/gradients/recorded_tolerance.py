"""How far a number may be from what another framework recorded of it, and how far it is."""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.number_kinds import kind_of, limits_of

_ROUNDINGS = 1000  # of an element type's ε, that two frameworks may be apart in the end
_LEAST = {2: 2e-2}  # by bytes of an element: float16 keeps three digits
_SUBNORMAL = 1e-30  # float16 is not normal soon: below 6e-5
_SHORT, _MOST = 8, 0.1  # roundings of a short element type that are allowed, and never more


def recorded_error(found: np.ndarray, wanted: np.ndarray, scale: float = 0.0) -> float:
    """The largest difference, relative to the largest number, or to `scale` (GradientScales) where
    that is more; infinite where shapes or the places of NaN and infinities are others. Numbers that
    are too small to be normal have lost their digits, or are 0 in one of the frameworks."""
    if found.shape != wanted.shape:
        return np.inf
    if kind_of(found.dtype) not in "fc":
        return 0.0 if np.array_equal(found, wanted) else np.inf
    a, b = found.astype(np.complex128), wanted.astype(np.complex128)
    left, right = (np.where(np.isfinite(x), 0, x) for x in (a, b))
    if not np.array_equal(left, right, equal_nan=True):
        return np.inf
    a, b = np.where(np.isfinite(a), a, 0), np.where(np.isfinite(b), b, 0)
    largest = max(float(np.abs(b).max(initial=0)), scale)
    apart = float(np.abs(a - b).max(initial=0))
    if apart <= float(limits_of(wanted.dtype).tiny) < _SUBNORMAL:
        return 0.0
    return apart / largest if largest else (np.inf if apart else 0.0)


def recorded_allowance(wanted: np.ndarray, epsilon: float) -> float:
    """What that may be between two frameworks. epsilon: of the shortest element type that it was
    computed in (RecordedRun)."""
    return max(_allowed(wanted), min(_SHORT * epsilon, _MOST))


def _allowed(wanted: np.ndarray) -> float:
    if kind_of(wanted.dtype) not in "fc":
        return 0.0
    size = wanted.dtype.itemsize // (2 if kind_of(wanted.dtype) == "c" else 1)
    return _LEAST.get(size, _ROUNDINGS * float(limits_of(wanted.dtype).eps))
