"""Rows updated where indices point, one after the other as TensorFlow's CPU does, on any device.

Indices are read on the host. The first occurrences of all rows are updated at once, then the
second ones, and so on: the same bits everywhere, however often a row is named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gradstep.core.ops.numerics.integer_division import truncate_divide

Combine = Callable[[Any, Any, Any], Any]  # (xp, rows as they are, updates) -> rows as they become


def in_turn(rows: np.ndarray) -> Iterator[np.ndarray]:
    """Positions in `rows` in groups: those of the first occurrence of each row, the second…"""
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    places = np.arange(len(rows))
    begins = np.ones(len(rows), bool)
    begins[1:] = ordered[1:] != ordered[:-1]
    turns = places - np.maximum.accumulate(np.where(begins, places, 0))
    by_turn = np.argsort(turns, kind="stable")
    start = 0
    for size in np.bincount(turns).tolist():
        yield order[by_turn[start : start + size]]
        start += size


def combine_rows(xp: Any, target: Any, rows: np.ndarray, updates: Any, combine: Combine) -> Any:
    """A copy of `target` [n, …] with `updates` [k, …] combined into its `rows` [k]; negative
    rows are left out."""
    result = xp.array(target)
    for positions in in_turn(rows):
        kept = positions[rows[positions] >= 0]
        if len(kept):
            at, which = xp.asarray(rows[kept]), xp.asarray(kept)
            result[at] = combine(xp, result[at], updates[which])
    return result


def add(xp: Any, old: Any, update: Any) -> Any:
    return old + update


def subtract(xp: Any, old: Any, update: Any) -> Any:
    return old - update


def multiply(xp: Any, old: Any, update: Any) -> Any:
    return old * update


def replace(xp: Any, old: Any, update: Any) -> Any:
    return update


def divide(xp: Any, old: Any, update: Any) -> Any:
    """Of integers, towards zero."""
    return truncate_divide(xp, old, update) if old.dtype.kind in "iu" else old / update


def smaller(xp: Any, old: Any, update: Any) -> Any:
    """The old value unless the update is smaller, which a NaN is not."""
    return xp.where(update < old, update, old)


def larger(xp: Any, old: Any, update: Any) -> Any:
    return xp.where(update > old, update, old)
