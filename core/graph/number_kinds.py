"""What sort of numbers an array holds: NumPy's letters, bfloat16 among the floating-point ones.

NumPy itself calls bfloat16, which the package ml_dtypes brings, a kind of its own ("V"), knows no
limits of it, and adds up in it, digit by digit lost. Whoever looks at numbers asks here, and widens
them first: float32 holds every bfloat16 as it is.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_WIDE = np.dtype(np.float32)
_NUMBER = BFLOAT16.num


def kind_of(dtype: np.dtype) -> str:
    """`dtype.kind`; "f" for bfloat16."""
    return "f" if dtype == BFLOAT16 else dtype.kind


def limits_of(dtype: np.dtype) -> Any:
    """np.finfo of a floating-point or complex type, bfloat16 included."""
    of: Any = ml_dtypes.finfo
    return of(dtype) if dtype == BFLOAT16 else np.finfo(dtype)


def wide_type(dtype: np.dtype) -> np.dtype:
    """float32 for bfloat16; any other as it is."""
    return _WIDE if dtype == BFLOAT16 else dtype


def widened(array: Any) -> Any:
    """bfloat16 as float32, the same numbers; anything else as it is, arrays of a device too."""
    return array.astype(_WIDE) if is_bfloat16(array) else array


def is_bfloat16(array: Any) -> bool:
    """Whether it is an array of bfloat16, wherever it lies. It is asked of inputs call by call, and
    to compare numbers takes a fifth of the time of dtypes."""
    dtype = getattr(array, "dtype", None)
    return dtype is not None and dtype.num == _NUMBER
