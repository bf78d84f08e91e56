"""The quotient of integers as C has it: rounded to zero."""

from __future__ import annotations

from typing import Any


def truncate_divide(xp: Any, x: Any, y: Any) -> Any:
    """x / y of integers, rounded to zero; no element of `y` may be 0."""
    down = xp.floor_divide(x, y)
    inexact = (x - down * y) != 0
    return xp.where(inexact & ((x < 0) != (y < 0)), down + 1, down)
