"""Small arrays read on the host: shapes, axes and counts, needed as Python integers."""

from __future__ import annotations

from typing import Any


def integers(x: Any) -> tuple[int, ...]:
    """All elements of an integer array of rank 0 or 1, of any array namespace."""
    values = x.tolist()
    return tuple(values) if isinstance(values, list) else (values,)


def integer(x: Any) -> int:
    """The one element of an integer array."""
    return int(x.item())


def is_integer(x: Any) -> bool:
    """Whether an array holds integers (booleans are none)."""
    return bool(x.dtype.kind in "iu")
