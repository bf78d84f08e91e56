"""Measures of how a layer trains: norms, ratios of norms, dead and saturated units.

Each takes any array and gives one number; all work in float64 whatever they are given.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.number_kinds import kind_of

NEAR = 0.01  # of the range: how close to an end of it counts as saturated


def norm(x: Any) -> Any:
    """The square root of the sum of the squares of all absolute values."""
    flat = np.asarray(x)
    if kind_of(flat.dtype) == "c":
        flat = np.abs(flat)
    flat = flat.astype(np.float64, copy=False).reshape(-1)
    return np.sqrt(np.dot(flat, flat))


def ratio(a: Any, b: Any) -> Any:
    """The norm of `a` over that of `b`: of an update over its weights. 0 where `a` is 0."""
    of, over = norm(a), norm(b)
    return np.float64(0) if of == 0 else of / over


def dead(x: Any) -> Any:
    """The share of units that are exactly 0 for all rows.

    x: [batch, units], [batch, …, channels] with a unit for each channel, or [units]."""
    array = np.asarray(x)
    if array.ndim > 1:
        array = np.any(array, axis=tuple(range(array.ndim - 1)))
    return _share(array.size - int(np.count_nonzero(array)), array.size)


def saturated(x: Any, low: Any, high: Any) -> Any:
    """The share of elements within 1 % of the range `low` to `high` of one of its ends, or beyond
    it: 0 and 1 for a sigmoid, -1 and 1 for tanh."""
    array = np.asarray(x)
    margin = NEAR * (high - low)
    at_an_end = (array <= low + margin) | (array >= high - margin)
    return _share(int(np.count_nonzero(at_an_end)), array.size)


def _share(count: int, size: int) -> Any:
    return np.float64(count / size if size else 0)
