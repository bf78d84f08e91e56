"""NumPy's promotion of element types, asked of NumPy itself: nothing here needs PyTorch."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

Kind = np.dtype | type  # of an operand: an element type, or int, float, complex of Python's
_EXAMPLES: dict[type, Any] = {int: 0, float: 0.0, complex: 0j}


def kind(value: Any) -> Kind:
    """How `value` counts in promotion: a number of Python's gives way to any array's type."""
    of: np.dtype | None = getattr(value, "dtype", None)
    if of is not None:
        return of
    if type(value) is bool:
        return np.dtype(bool)
    if type(value) in _EXAMPLES:
        return type(value)
    raise TypeError(f"Unsupported type {type(value)}")


@lru_cache(4096)
def loop(name: str, kinds: tuple[Kind, ...]) -> tuple[tuple[np.dtype, ...], np.dtype]:
    """The types that NumPy's function `name` converts its operands to, and that of its result.
    Raises TypeError where it has none for these."""
    found = getattr(np, name).resolve_dtypes((*kinds, None))
    return tuple(found[:-1]), found[-1]


@lru_cache(4096)
def common(kinds: tuple[Kind, ...]) -> np.dtype:
    """The type of an array that holds them all."""
    found: np.dtype = np.result_type(*(_EXAMPLES[k] if isinstance(k, type) else k for k in kinds))
    return found


@lru_cache(256)
def summed(name: str, dtype: np.dtype) -> np.dtype:
    """The type of a sum or product ("sum", "prod", "cumsum"…) of an array."""
    found: np.dtype = getattr(np, name)(np.ones(1, dtype)).dtype
    return found
