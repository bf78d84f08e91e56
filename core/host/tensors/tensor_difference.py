"""A tensor less another, or less itself at another time: the elements that are asked for alone."""

from __future__ import annotations

from math import prod

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import wide_type
from gradstep.core.graph.splat_array import element_of, is_splat
from gradstep.core.host.tensors.element_chunks import Array, is_numeric

MOST_HELD = 1 << 30  # bytes of a difference that is looked at as a whole


def subtract(view: Array, other: Array) -> Array:
    """view - other, of one shape, as wide as either; whole numbers and truth values as float64,
    which has the negative ones. Inf - Inf is NaN. Raises GradstepError."""
    _require_alike(view, other)
    kind = result_kind(view.dtype, other.dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        if is_splat(view) and is_splat(other):
            one = np.subtract(element_of(view), element_of(other), dtype=kind)
            return np.broadcast_to(one, view.shape)
        _require_room(view, kind)
        return np.subtract(view, other, dtype=kind)


def result_kind(one: np.dtype, other: np.dtype) -> np.dtype:
    """The dtype of a difference; float32 of bfloat16, which would round it."""
    one, other = wide_type(one), wide_type(other)
    if one.kind in "biu" or other.kind in "biu":
        return np.result_type(one, other, np.float64)
    return np.result_type(one, other)


def _require_alike(view: Array, other: Array) -> None:
    if view.shape != other.shape:
        raise GradstepError(
            f"shapes {[*view.shape]} and {[*other.shape]} differ",
            kind="ValueError",
            hint="hold it against a tensor of the same shape",
        )
    if not is_numeric(view) or not is_numeric(other):
        raise GradstepError(
            "what is no number has no difference",
            kind="TypeError",
            hint="hold numbers against numbers",
        )


def _require_room(view: Array, kind: np.dtype) -> None:
    if prod(view.shape) * kind.itemsize > MOST_HELD:
        raise GradstepError(
            f"a difference of {view.size:,} elements is too large to be looked at as a whole",
            kind="ResourceExhaustedError",
            hint="choose a slice; the table shows any part of it",
        )
