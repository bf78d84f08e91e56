"""The number formats in which operations are tried: what becomes of what they take and give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.ops.declare.arithmetic_class import Arithmetic
from gradstep.core.ops.numerics.short_rounding import (
    is_float32,
    round_to_bfloat16,
    round_to_float16,
    round_to_tf32,
)

Change = Callable[[Any], Any]


def _as_it_is(array: Any) -> Any:
    return array


def _to_float64(array: Any) -> Any:
    return np.asarray(array, np.float64) if is_float32(array) else array


def _to_float32(array: Any) -> Any:
    is_wide = isinstance(array, np.ndarray | np.generic) and array.dtype == np.float64
    return np.asarray(array, np.float32) if is_wide else array


@dataclass(frozen=True)
class NumberFormat:
    """taken: what becomes of a float32 operand; given: of a result. An operation adds up in
    float32 between the two, as units for short numbers do (in float64, of float64). kinds: the
    arithmetic that it concerns. smallest, largest: magnitudes above 0 that it can hold."""

    name: str
    taken: Change
    given: Change
    kinds: frozenset[Arithmetic]
    smallest: float
    largest: float


_ALL = frozenset[Arithmetic](("rounded", "reducing", "product", "library"))
_TINY, _HUGE = 2.0**-149, float(np.finfo(np.float32).max)
FORMATS = {
    each.name: each
    for each in (
        NumberFormat("bfloat16", round_to_bfloat16, round_to_bfloat16, _ALL, 2.0**-133, 2.0**128),
        NumberFormat("float16", round_to_float16, round_to_float16, _ALL, 2.0**-24, 65504.0),
        NumberFormat("tf32", round_to_tf32, _as_it_is, frozenset(("product",)), _TINY, _HUGE),
        NumberFormat("float64", _to_float64, _to_float32, _ALL, _TINY, _HUGE),
    )
}
