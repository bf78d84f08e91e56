"""Integer operations as other systems compute them: over 0, and shifted too far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.system_rules import DivideByZero, Rules, Shift

Kernel = Callable[..., Any]
FLOORED, TRUNCATED = ("FloorDiv", "FloorMod"), ("TruncateDiv", "TruncateMod")
SHIFTS = ("LeftShift", "RightShift")


def adapted(rules: Rules, type_: str, kernel: Kernel) -> Kernel:
    """`kernel` of an operation of this type under the rules for integers."""
    if rules.divide_by_zero is not DivideByZero.RAISE and type_ in (*FLOORED, *TRUNCATED):
        return _dividing(kernel, rules.divide_by_zero, type_)
    if rules.shift_beyond is Shift.OUT and type_ in SHIFTS:
        return _shifting(kernel, type_ == "RightShift")
    return kernel


def _dividing(kernel: Kernel, rule: DivideByZero, type_: str) -> Kernel:
    make = _quotient if type_ in ("FloorDiv", "TruncateDiv") else _rest

    def divide(x: Any, y: Any) -> Any:
        if kind_of(x.dtype) not in "iu" or (y != 0).all():
            return kernel(x, y)
        found = kernel(x, np.where(y == 0, np.ones_like(y), y))
        return np.where(y == 0, make(x, rule, type_ in TRUNCATED), found)

    return divide


def _quotient(x: Any, rule: DivideByZero, truncated: bool) -> Any:
    minus_one = np.zeros_like(x) - x.dtype.type(1)
    if rule is DivideByZero.ZERO:
        return np.zeros_like(x)
    if x.dtype.kind == "u" or truncated:
        return minus_one
    lower = x < 0 if rule is DivideByZero.XLA else x != 0
    return np.where(lower, minus_one - x.dtype.type(1), minus_one)


def _rest(x: Any, rule: DivideByZero, truncated: bool) -> Any:
    itself = rule is DivideByZero.XLA or (rule is DivideByZero.JAX and truncated)
    return x if itself else np.zeros_like(x)


def _shifting(kernel: Kernel, right: bool) -> Kernel:
    def shift(x: Any, y: Any) -> Any:
        beyond = (y < 0) | (y >= 8 * x.dtype.itemsize)
        sign = np.where(x < 0, -1, 0) if right and x.dtype.kind == "i" else 0
        return np.where(beyond, np.asarray(sign).astype(x.dtype), kernel(x, y))

    return shift
