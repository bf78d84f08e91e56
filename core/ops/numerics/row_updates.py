"""Many rows brought into few places: added up, combined, or written, in the order they come.

No more than NumPy and CuPy share: CuPy can add at places that are named twice, of some element
types, and do nothing else there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core import native_extension
from gradstep.core.ops.numerics.fused_functions import fused
from gradstep.core.ops.numerics.index_bounds import fill_outside, resolve
from gradstep.core.ops.numerics.row_sums import sums_in_order, worthwhile

# Element types that a GPU cannot add atomically -> one that it can, with the same sums modulo 2^n.
_ADDED_AS: dict[str, np.dtype] = {
    **dict.fromkeys(("bool", "int8", "int16", "uint8", "uint16"), np.dtype(np.int32)),
    "int64": np.dtype(np.uint64),
}


def flat_rows(
    xp: Any, indices: Any, dims: tuple[int, ...], policy: str, negative_ok: bool
) -> tuple[Any, Any]:
    """Row numbers, and a mask of rows that stay outside, for indices [..., depth] into `dims`."""
    rows = xp.zeros(indices.shape[:-1], dtype=np.int64)
    outside = xp.zeros(indices.shape[:-1], dtype=bool)
    for axis, size in enumerate(dims):
        safe, beyond = resolve(xp, indices[..., axis], size, policy, negative_ok)
        rows = rows * size + safe
        outside = outside if beyond is None else outside | beyond
    return rows, outside


def sum_rows(xp: Any, values: Any, rows: Any, dropped: Any, count: int) -> Any:
    """[count, …]: rows of `values` added up by row number; `dropped` ones are left out."""
    inner = values.shape[rows.ndim :]
    if count == 0 or rows.size == 0:
        return xp.zeros((count, *inner), dtype=values.dtype)
    kept, places = fill_outside(xp, values, dropped, 0), rows.reshape(-1)
    total = xp.zeros((count, *inner), dtype=values.dtype)
    if xp is np and _added_at_once(total, kept, places):
        return total
    if xp is np and worthwhile(flat := kept.reshape(rows.size, -1)):
        return sums_in_order(flat, places, count).reshape(count, *inner)
    return add_rows(xp, total, kept.reshape((rows.size, *inner)), places)


def add_rows(xp: Any, total: Any, values: Any, rows: Any) -> Any:
    """`total` [count, …] with `values` [n, …] added at `rows` [n]; may change `total`."""
    if xp is np and _added_at_once(total, values, rows):
        return total
    if total.dtype.kind == "c":
        parts = [
            add_rows(xp, xp.array(part(total)), part(values), rows) for part in (xp.real, xp.imag)
        ]
        return xp.stack(parts, axis=-1).view(total.dtype).reshape(total.shape)
    kind = _ADDED_AS.get(total.dtype.name)
    if kind is None:
        xp.add.at(total, rows, values)
        return total
    wide = total.astype(kind)
    xp.add.at(wide, rows, values.astype(kind))
    return wide.astype(total.dtype)


def _added_at_once(total: np.ndarray, values: np.ndarray, rows: np.ndarray) -> bool:
    """Whether they were added by NumPy's loop for a row alone, without its machinery around it."""
    if not (total.size and rows.size and total.flags.c_contiguous):
        return False
    width = total.size // len(total)
    if values.size != rows.size * width:
        return False
    flat = values.reshape(rows.size, width)
    return native_extension.add_rows(total.reshape(len(total), width), flat, rows)


def combine_rows(xp: Any, name: str, total: Any, values: Any, rows: Any) -> Any:
    """`total` with `xp.<name>` of what is there and the values that come there; may change `total`.

    The rows are sorted by place; then each takes in the 1, 2, 4, … rows after it, as long as they
    go to the same place, and the first has them all.
    """
    if rows.size == 0:
        return total
    order, places = _sorted(xp, rows)
    x, step = xp.take(values, order, axis=0), 1
    wide = places.reshape((-1,) + (1,) * (x.ndim - 1))
    while step < rows.size:
        both = _taken_in(xp, x[:-step], x[step:], wide[:-step], wide[step:], name=name)
        x = xp.concatenate([both, x[-step:]])
        step *= 2
    first = xp.concatenate([xp.ones(1, dtype=bool), places[1:] != places[:-1]])
    if xp is not np:
        there = xp.take(total, places, axis=0)
        return _put_rows(xp, total, getattr(xp, name)(there, x), places, first)
    at = places[first]
    total[at] = getattr(xp, name)(total[at], x[first])
    return total


@fused
def _taken_in(xp: Any, x: Any, after: Any, place: Any, next_place: Any, *, name: str) -> Any:
    return xp.where(place == next_place, getattr(xp, name)(x, after), x)


def write_rows(xp: Any, total: Any, values: Any, rows: Any) -> Any:
    """`total` with `values` in their places, the last one where several come; may change
    `total`."""
    if rows.size == 0:
        return total
    order, places = _sorted(xp, rows)
    last = xp.concatenate([places[1:] != places[:-1], xp.ones(1, dtype=bool)])
    if xp is not np:
        return _put_rows(xp, total, xp.take(values, order, axis=0), places, last)
    total[places[last]] = xp.take(values, order[last], axis=0)
    return total


def _put_rows(xp: Any, total: Any, rows: Any, places: Any, chosen: Any) -> Any:
    """`total` with those rows in their places that are chosen. The others go to one that is there
    for them alone: to leave them out, the host would wait to hear how many they are."""
    count = total.shape[0]
    wide = xp.concatenate([total, xp.zeros((1, *total.shape[1:]), dtype=total.dtype)])
    wide[xp.where(chosen, places, count)] = rows
    return wide[:count]


def _sorted(xp: Any, rows: Any) -> tuple[Any, Any]:
    """The order that sorts `rows`, and `rows` in it; equal ones stay as they were."""
    order = xp.argsort(rows, kind="stable")
    return order, xp.take(rows, order)
