"""Distinct integers on the host without sorting: by a table of where each came first."""

from __future__ import annotations

import numpy as np

_WIDEST = 1 << 20  # entries of the table, of which only those are touched that occur


def distinct_integers(x: np.ndarray, kind: np.dtype) -> tuple[np.ndarray, np.ndarray] | None:
    """The values of a vector in the order in which they first occur, and which one each is, as a
    `kind` of integer; None where they are no integers, or too far apart for a table."""
    if x.dtype.kind not in "iu" or not np.can_cast(x.dtype, np.intp) or not x.size:
        return None
    low, high = int(x.min()), int(x.max())
    if high - low >= _WIDEST:
        return None
    entries = np.subtract(x, low, dtype=np.intp)
    positions = np.arange(x.size, dtype=kind)
    table = np.empty(high - low + 1, kind)
    table[entries[::-1]] = positions[::-1]  # of several assignments the last one stays
    new = np.flatnonzero(table.take(entries) == positions)
    table[entries.take(new)] = positions[: len(new)]
    return x.take(new), table.take(entries)
