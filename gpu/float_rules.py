"""Floating-point operations as other systems compute them: quotients rounded down, NaN, nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.system_rules import NanExtreme, Rules

Kernel = Callable[..., Any]
PLACES, EXTREMES, PAIRS = ("ArgMax", "ArgMin"), ("Max", "Min"), ("Maximum", "Minimum")


def adapted(rules: Rules, type_: str, kernel: Kernel) -> Kernel:
    """`kernel` of an operation of this type under the rules for floating-point numbers."""
    if rules.nan_in_extremes is NanExtreme.XLA and type_ in (*PLACES, *EXTREMES, *PAIRS):
        return _of_floats(kernel, _passing_over_nan(type_, kernel))
    if rules.nan_is_found and type_ in PLACES:
        return _of_floats(kernel, _finding_nan(kernel))
    if rules.empty_extreme_fails and type_ in EXTREMES:
        return _refusing_nothing(type_, kernel)
    if rules.sign_of_nan_is_zero and type_ == "Sign":
        return _of_floats(kernel, lambda x: np.where(np.isnan(x), x.dtype.type(0), kernel(x)))
    if rules.floor_by_remainder and type_ == "FloorDiv":
        return _of_floats(kernel, np.floor_divide)
    if rules.mod_by_floor and type_ == "FloorMod":
        return _of_floats(kernel, _rest_of_floor)
    return kernel


def _of_floats(kernel: Kernel, other: Kernel) -> Kernel:
    """`other` for floating-point numbers, `kernel` for the rest."""
    return lambda x, *more: (other if kind_of(x.dtype) == "f" else kernel)(x, *more)


def _finding_nan(kernel: Kernel) -> Kernel:
    def place(x: Any, axis: Any) -> Any:
        result, lost = kernel(x, axis), np.isnan(x)
        first = lost.argmax(int(axis)).astype(result.dtype)
        return np.where(lost.any(int(axis)), first, result)

    return place


def _passing_over_nan(type_: str, kernel: Kernel) -> Kernel:
    largest = type_ in ("ArgMax", "Max", "Maximum")
    if type_ in PAIRS:
        return lambda x, y: np.where(y > x if largest else y < x, y, x)
    if type_ in EXTREMES:
        least = -np.inf if largest else np.inf
        return lambda x, axes: kernel(np.where(np.isnan(x), x.dtype.type(least), x), axes)
    return lambda x, axis: _place_after_nan(x, int(axis), largest).astype(kernel(x, axis).dtype)


def _place_after_nan(x: Any, axis: int, largest: bool) -> Any:
    """Each is held against the one that leads; a NaN wins against it, and loses to the next."""
    rows = np.moveaxis(x, axis, 0)
    best, place = rows[0], np.zeros(rows.shape[1:], np.int64)
    for number, row in enumerate(rows[1:], 1):
        stays = best >= row if largest else best <= row
        best, place = np.where(stays, best, row), np.where(stays, place, number)
    return place


def _refusing_nothing(type_: str, kernel: Kernel) -> Kernel:
    def extreme(x: Any, axes: Any) -> Any:
        at = np.atleast_1d(axes)
        if at.size and 0 in np.asarray(x.shape)[at]:
            raise GradstepError(
                f"{type_} of nothing", hint="of nothing, nothing is the largest or smallest"
            )
        return kernel(x, axes)

    return extreme


def _rest_of_floor(x: Any, y: Any) -> Any:
    """A multiplication and a subtraction, rounded once."""
    wide = np.float64 if x.dtype == np.float32 else x.dtype
    floor = np.floor(x / y)
    return (x.astype(wide) - floor.astype(wide) * y.astype(wide)).astype(x.dtype)
