"""float32 rounded to the numbers of shorter formats, and left in float32."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

_HALF_OF_TF32 = np.uint32(0x1000)  # float32 has 23 bits of fraction, TF32 the upper 10
_TF32_BITS = np.uint32(0xFFFFE000)


def round_to_float16(array: Any) -> Any:
    """To the nearest of IEEE 754's binary16, halves to even: infinite from 65520 on, 0 up to
    2 ** -25. Other arrays unchanged."""
    if not is_float32(array):
        return array
    with np.errstate(over="ignore"):
        return np.asarray(array, np.float16).astype(np.float32)


def round_to_bfloat16(array: Any) -> Any:
    """To the nearest that has 7 bits of fraction, halves to even. Other arrays unchanged."""
    if not is_float32(array):
        return array
    return np.asarray(array).astype(ml_dtypes.bfloat16).astype(np.float32)


def round_to_tf32(array: Any) -> Any:
    """To the 10 bits of fraction that TF32 keeps, halves away from zero; other arrays, and
    infinities and NaN, unchanged. Source: PTX ISA, cvt.rna.tf32.f32."""
    if not is_float32(array):
        return array
    bits = (np.ascontiguousarray(array).view(np.uint32) + _HALF_OF_TF32) & _TF32_BITS
    return np.where(np.isfinite(array), bits.view(np.float32).reshape(array.shape), array)


def is_float32(array: Any) -> bool:
    return isinstance(array, np.ndarray | np.generic) and array.dtype == np.float32
