"""Floating-point attributes as a kernel takes them: a NodeDef keeps them in single precision."""

from __future__ import annotations

import numpy as np


def single(value: float) -> float:
    """`value` rounded to float32, which TensorFlow computes with even in float64."""
    return float(np.float32(value))
