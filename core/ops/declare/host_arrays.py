"""Arrays that stay on the host whatever the device: shapes, axes and counts; text; bfloat16."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.number_kinds import BFLOAT16

_TEXT = np.dtype(object)


def integers(x: Any) -> tuple[int, ...]:
    """All elements of an integer array of rank 0 or 1, of any array namespace. Raises GradstepError
    for one of a higher rank."""
    if x.ndim > 1:
        raise GradstepError(
            f"Expected a vector or a number that says how, but got shape {list(x.shape)}",
            hint="put a Reshape before it",
        )
    values = x.tolist()
    return tuple(values) if isinstance(values, list) else (values,)


def integer(x: Any) -> int:
    """The one element of an integer array. Raises GradstepError where there are more, or none."""
    if x.size != 1:
        raise GradstepError(
            f"Expected one number that says how, but got shape {list(x.shape)}",
            hint="put a Reshape before it",
        )
    return int(x.item())


def on_host(x: Any) -> np.ndarray:
    """An array of any namespace as one of NumPy's: itself, or a copy of few elements."""
    return x if isinstance(x, np.ndarray) else np.array(x.tolist(), x.dtype)


def is_integer(x: Any) -> bool:
    """Whether an array holds integers (booleans are none)."""
    return bool(x.dtype.kind in "iu")


def home(xp: Any, value: Any) -> Any:
    """The array namespace that can hold `value`: `xp`, but NumPy for text, which no device has,
    and for bfloat16 where the device has none."""
    if xp is np:
        return np
    dtype = getattr(value, "dtype", None)
    return np if dtype == _TEXT or (dtype == BFLOAT16 and not holds_bfloat16(xp)) else xp


def holds_bfloat16(xp: Any) -> bool:
    """Whether arrays of a namespace may be of bfloat16: NumPy's, and those of one that says so.
    CuPy's may not."""
    return xp is np or getattr(xp, "holds_bfloat16", False)
