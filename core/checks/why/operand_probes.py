"""Trial values for an operand, to see which results they would give."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from gradstep.core.graph.number_kinds import kind_of

_RANGES = ((0.3, 0.9), (-0.9, -0.3), (1.3, 1.9))


def without_zeros(x: np.ndarray) -> Iterator[np.ndarray]:
    """`x` with numbers where it is 0, no two alike; of flags, with true where it is false. None
    where nothing is 0."""
    zero = x == 0
    if not zero.any():
        return
    if kind_of(x.dtype) not in "fc":
        yield np.where(zero, np.ones((), x.dtype), x)
        return
    for numbers in _drawn(x):
        yield np.where(zero, numbers, x)


def others(x: np.ndarray) -> Iterator[np.ndarray]:
    """Wholly other values: the opposite of flags, 0 and 1 for whole numbers."""
    if kind_of(x.dtype) == "b":
        yield ~x
    elif kind_of(x.dtype) in "iu":
        yield np.zeros_like(x)
        yield np.ones_like(x)
    elif kind_of(x.dtype) in "fc":
        yield from _drawn(x)


def beyond(arrays: Iterable[np.ndarray]) -> Callable[[np.ndarray], Iterator[np.ndarray]]:
    """Gives, for one of these arrays, numbers that are larger or smaller than all in them."""
    sizes = (np.abs(x[np.isfinite(x)]) for x in arrays if kind_of(x.dtype) in "iuf")
    size = 1.0 + max((float(x.max()) for x in sizes if x.size), default=0.0)

    def others_beyond(x: np.ndarray) -> Iterator[np.ndarray]:
        if kind_of(x.dtype) != "f":
            yield from others(x)
            return
        for sign in (1, -1):
            yield np.full_like(x, sign * 2 * size)

    return others_beyond


def _drawn(x: np.ndarray) -> Iterator[np.ndarray]:
    """The same ones for every array of that shape."""
    drawn = np.random.default_rng(1).random(x.shape)
    for low, high in _RANGES:
        yield np.asarray(low + (high - low) * drawn, x.dtype)
