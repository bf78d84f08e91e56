"""The largest or the smallest of the rows that come to one place, in whatever order they come.

A device that keeps the larger of two whole numbers at a place named twice (`maximum.at`) compares
floating-point numbers as whole ones in the same order, among which NaN has the place that it is
wanted in. Elsewhere rows are sorted first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.numerics.fused_functions import fused
from gradstep.core.ops.numerics.row_updates import combine_rows

_BITS: dict[str, Any] = {"float16": np.int16, "float32": np.int32, "float64": np.int64}
_COMPARED = frozenset("int32 int64 uint32 uint64".split())  # others as int32


def extreme_rows(xp: Any, largest: bool, nan_wins: bool, total: Any, values: Any, rows: Any) -> Any:
    """`total` [count, …] with the largest (or smallest) of what is there and of the `values`
    [n, …] that come there, at `rows` [n]; may change `total`. nan_wins: NaN is that where there is
    one, else where there is nothing else."""
    name = "maximum" if largest else "minimum"
    put = None if xp is np else getattr(getattr(xp, name), "at", None)
    if put is None or rows.size == 0:
        return combine_rows(xp, name if nan_wins else f"f{name[:3]}", total, values, rows)
    for_nan = largest == nan_wins
    found = _ordered(xp, total, for_nan)
    put(found, rows, _ordered(xp, values, for_nan))
    return _number(xp, found, total.dtype)


def _ordered(xp: Any, x: Any, nan_is_most: bool) -> Any:
    """Whole numbers in the order of those in `x`."""
    bits = _BITS.get(x.dtype.name)
    if bits is None:
        return x if x.dtype.name in _COMPARED else x.astype(np.int32)
    limits = np.iinfo(bits)
    place = limits.max if nan_is_most else limits.min
    turned = _turned(xp, x, x.view(bits), most=int(limits.max), place=int(place))
    return turned if turned.dtype.name in _COMPARED else turned.astype(np.int32)


@fused
def _turned(xp: Any, x: Any, bits: Any, *, most: int, place: int) -> Any:
    """Of negative numbers the larger bits are those of the smaller number."""
    return xp.where(x != x, place, xp.where(bits < 0, bits ^ most, bits))


def _number(xp: Any, found: Any, dtype: np.dtype) -> Any:
    bits = _BITS.get(dtype.name)
    if bits is None:
        return found.astype(dtype)
    found = found.astype(bits)
    return _turned_back(xp, found, most=int(np.iinfo(bits).max)).view(dtype)


@fused
def _turned_back(xp: Any, found: Any, *, most: int) -> Any:
    return xp.where(found < 0, found ^ most, found)
