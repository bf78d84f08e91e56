"""The number of a curve in a run that did not compute it: a NaN unlike those that are computed."""

from __future__ import annotations

import numpy as np

_NOT_THERE = 0x7FF8_0000_0000_07A2  # a NaN that no computation gives, as R has one for "NA"
NOT_THERE = float(np.uint64(_NOT_THERE).view(np.float64))


def is_not_there(numbers: np.ndarray) -> np.ndarray:
    """bool, of float64: where a number was not computed, as against NaN that was."""
    found: np.ndarray = np.ascontiguousarray(numbers).view(np.uint64) == _NOT_THERE
    return found
