"""Numbers in the form in which NumPy takes them fastest, as operands next to arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from gradstep.core.memory_release import memo_of_document

_LONGEST = 1 << 14  # elements of a vector of zeros: what a block has


def one(xp: Any, like: Any) -> Any:
    """1, of the element type of `like`; of rank 0, next to which a Python number is slow."""
    return number(1, like.dtype) if xp is np else 1


@memo_of_document(None)
def number(value: float, dtype: np.dtype) -> np.ndarray:
    """`value` as an array of rank 0 that nobody writes to."""
    return _kept(np.full((), value, dtype))


def beside_zeros(x: np.ndarray, out: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """`x` in parts, zeros to go with each, and the part of `out` for the result. NumPy compares
    two vectors three times as fast as a vector and a number."""
    if not (x.flags.c_contiguous and out.flags.c_contiguous):
        yield x, number(0, x.dtype), out
        return
    x, out = x.reshape(-1), out.reshape(-1)
    rows = x.size - x.size % _LONGEST
    if rows:
        yield x[:rows].reshape(-1, _LONGEST), _zeros(x.dtype), out[:rows].reshape(-1, _LONGEST)
    if rows < x.size:
        yield x[rows:], _zeros(x.dtype)[: x.size - rows], out[rows:]


@memo_of_document(None)
def _zeros(dtype: np.dtype) -> np.ndarray:
    memory = np.zeros(_LONGEST * dtype.itemsize + 64, np.uint8)
    start = -memory.ctypes.data % 64
    return _kept(memory[start : start + _LONGEST * dtype.itemsize].view(dtype))


def _kept(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array
