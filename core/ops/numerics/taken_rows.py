"""Rows of an array by their numbers, many of them by several threads."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.thread_pool import run_tasks

_ELEMENTS = 1 << 17  # that are worth a part: to take one costs as much as to add two


def take_rows(xp: Any, x: Any, numbers: Any) -> Any:
    """x[numbers], along the first axis; the numbers are integers of rows that there are."""
    size = numbers.size * math.prod(x.shape[1:])
    if xp is not np or size < 2 * _ELEMENTS or x.dtype.hasobject:
        return xp.take(x, numbers, axis=0)
    flat, result = numbers.reshape(-1), np.empty((numbers.size, *x.shape[1:]), x.dtype)
    step = -(-flat.size // (size // _ELEMENTS))
    starts = range(0, flat.size, step)
    # mode: with "raise" NumPy would copy the result, in case there is no such row.
    run_tasks(
        [partial(np.take, x, flat[i : i + step], 0, result[i : i + step], "clip") for i in starts]
    )
    return result.reshape(*numbers.shape, *x.shape[1:])
