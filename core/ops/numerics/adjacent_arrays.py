"""Arrays that lie one behind the other in memory, seen as the one vector that they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


def view_adjacent(arrays: Sequence[Any]) -> np.ndarray | None:
    """The vector that NumPy arrays of one element type are the parts of, in this order; None if
    there is no such vector."""
    first = arrays[0]
    whole, end = first.base, _address(first)
    if not isinstance(whole, np.ndarray) or not whole.flags.c_contiguous:
        return None
    start = end - _address(whole)
    for array in arrays:
        fits = array.dtype == first.dtype and array.base is whole and array.flags.c_contiguous
        if not fits or _address(array) != end:
            return None
        end += array.nbytes
    size = end - _address(first)
    vector: np.ndarray = whole.reshape(-1).view(np.uint8)[start : start + size].view(first.dtype)
    return vector


def _address(array: np.ndarray) -> int:
    return int(array.ctypes.data)
