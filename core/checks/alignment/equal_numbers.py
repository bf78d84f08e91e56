"""Whether two tensors hold the same numbers, up to rounding and the order of their axes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np

_FAR = 0.5  # of the norm: what is farther is no less near by chance
_AXES = 5  # of more, only the orders of axes that frameworks have are tried


def sorted_numbers(array: np.ndarray) -> np.ndarray:
    """All elements in ascending order: float64[size], or complex128[size]."""
    return np.sort(_wide(array).reshape(-1))


def distance(left: np.ndarray, right: np.ndarray) -> float:
    """‖left − right‖ over the larger of the two norms; 0 for two of zeros, and infinite for other
    sizes and where one is not finite and the other is not the same there."""
    if left.size != right.size:
        return np.inf
    if left.dtype == object or right.dtype == object:  # texts
        return 0.0 if np.array_equal(left.reshape(-1), right.reshape(-1)) else np.inf
    a, b = (_wide(one).reshape(-1) for one in (left, right))
    with np.errstate(all="ignore"):
        apart = np.where((a == b) | (np.isnan(a) & np.isnan(b)), 0.0, a - b)
        size = max(_norm(a), _norm(b))
        found = _norm_of(apart)
    if not found:
        return 0.0
    return found / size if size else np.inf


def arrangements(left: np.ndarray, shape: tuple[int, ...]) -> Iterator[np.ndarray]:
    """`left` in the shape `shape`, in each order of axes in which it fits; axes of one element may
    come and go, and leading axes be joined, as a product of matrices does it."""
    for axes in orders_of_axes(left.ndim):
        turned = left.transpose(axes)
        if turned.shape == shape:
            yield turned
    squeezed = [size for size in left.shape if size != 1]
    wanted = tuple(size for size in shape if size != 1)
    for axes in orders_of_axes(len(squeezed)):
        turned = left.reshape(squeezed).transpose(axes)
        is_joined = turned.ndim != len(wanted) and turned.shape[-1:] == wanted[-1:]
        if left.shape != shape and (turned.shape == wanted or is_joined):
            yield turned.reshape(shape)


def as_arranged(left: np.ndarray, right: np.ndarray) -> np.ndarray | None:
    """`left` as it is nearest to `right`, in its shape; where that is far in any order of axes, in
    the likeliest. None where it fits in no way."""
    if left.size != right.size:
        return None
    found = [*arrangements(left, right.shape)]
    nearest = min(found, key=lambda one: distance(one, right), default=None)
    if nearest is None or distance(nearest, right) < _FAR:
        return nearest
    return found[0]


def are_arranged(left: np.ndarray, right: np.ndarray, tolerance: float) -> bool:
    """Whether one is the other up to an order of axes."""
    nearest = as_arranged(left, right)
    return nearest is not None and distance(nearest, right) <= tolerance


def _wide(array: np.ndarray) -> np.ndarray:
    return np.asarray(array, np.complex128 if np.iscomplexobj(array) else np.float64)


def _norm(array: np.ndarray) -> float:
    return _norm_of(np.where(np.isfinite(array), array, 0.0))


def _norm_of(array: np.ndarray) -> float:
    found = float(np.linalg.norm(array))
    return found if np.isfinite(found) else np.inf


def orders_of_axes(count: int) -> Iterator[tuple[int, ...]]:
    """Of axes: as they are, channels to the end, channels from there, and all others."""
    plain = tuple(range(count))
    likely = [plain]
    if count > 2:
        likely += [(0, *plain[2:], 1), (0, count - 1, *plain[1:-1])]
    yield from dict.fromkeys([*likely, *(permutations(plain) if count <= _AXES else ())])
