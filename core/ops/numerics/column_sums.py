"""Sums of the columns of a tall matrix, by rows as long as NumPy is quick with."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.declare.ufunc import Calls

_LONG = 1 << 10  # elements of a row; NumPy takes as many at a time to no loss
_MANY = 1 << 14  # elements: with fewer a second call is not worth it


def column_sums(x: np.ndarray, out: np.ndarray, room: Any) -> Calls:
    """out = the sums over all axes of `x` but the last. Of few columns several rows are taken for
    one, and what comes of these is added up: in a quarter of the time, and more exactly."""
    columns = x.shape[-1]
    count = rows_as_one(x.size // columns, columns) if _is_plain(x) and x.size >= _MANY else 1
    if count == 1:
        yield np.add.reduce, x, tuple(range(x.ndim - 1)), x.dtype, out
        return
    sums = room((count, columns), x.dtype)
    yield np.add.reduce, x.reshape(-1, count * columns), 0, x.dtype, sums.reshape(-1)
    yield np.add.reduce, sums, 0, x.dtype, out


def _is_plain(x: np.ndarray) -> bool:
    """Half precision is rounded once, in the end."""
    return x.flags.c_contiguous and x.dtype.kind == "f" and x.dtype.itemsize >= 4


def rows_as_one(rows: int, columns: int) -> int:
    """How many rows are taken for one: a power of two by which they can be divided."""
    count = 1
    while rows and rows % (2 * count) == 0 and 0 < 2 * count * columns <= _LONG:
        count *= 2
    return count
