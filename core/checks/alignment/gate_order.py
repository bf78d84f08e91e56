"""Weights that hold the same gates in another order, as cells of frameworks have them."""

from __future__ import annotations

import numpy as np

from gradstep.core.checks.alignment.equal_numbers import arrangements, distance

_GATES = (4, 3)  # of LSTM, of GRU


def order_of_gates(left: np.ndarray, right: np.ndarray, tolerance: float) -> tuple[int, ...] | None:
    """For each block of `right` along some axis, the number of that of `left` from 0; None where
    the two are not the same blocks in another order."""
    for turned in arrangements(left, right.shape):
        for axis in range(right.ndim):
            for count in _GATES:
                found = _order(turned, right, axis, count, tolerance)
                if found is not None:
                    return found if found != tuple(range(count)) else None
    return None


def _order(
    left: np.ndarray, right: np.ndarray, axis: int, count: int, tolerance: float
) -> tuple[int, ...] | None:
    if right.shape[axis] % count:
        return None
    mine, theirs = (np.split(one, count, axis) for one in (left, right))
    found = []
    for block in theirs:
        same = (i for i, one in enumerate(mine) if distance(one, block) <= tolerance)
        found.append(next(same, -1))
    return tuple(found) if sorted(found) == [*range(count)] else None
