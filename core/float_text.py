"""Floating-point numbers as people read them."""

from __future__ import annotations

import math
from typing import SupportsFloat


def float_text(number: SupportsFloat) -> str:
    """To six significant digits: "0.663694", "1", "NaN", "-Inf"."""
    return not_finite(number) or f"{float(number):.6g}"


def not_finite(number: SupportsFloat) -> str:
    """ "NaN", "Inf" or "-Inf", or empty for every other number."""
    value = float(number)
    if math.isfinite(value):
        return ""
    return "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"
