"""Floating-point numbers as people read them."""

from __future__ import annotations

import math
from typing import SupportsFloat


def float_text(number: SupportsFloat) -> str:
    """To six significant digits: "0.663694", "1", "NaN", "-Inf"."""
    return not_finite(number) or f"{float(number):.6g}"


def range_words(wrong: str, low: str, high: str, alike: bool) -> str:
    """From the least to the largest of some numbers: "-1.2 to 3.4", where these are one "all 0.5".
    wrong: what else there is, "" for nothing: "2 NaN, else -1.2 to 3.4"."""
    ends = f"all {low}" if alike else f"{low} to {high}"
    return f"{wrong}, else {ends}" if wrong else ends


def not_finite(number: SupportsFloat) -> str:
    """ "NaN", "Inf" or "-Inf", or empty for every other number."""
    value = float(number)
    if math.isfinite(value):
        return ""
    return "NaN" if math.isnan(value) else "Inf" if value > 0 else "-Inf"
