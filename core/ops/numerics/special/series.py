"""Sums that special functions are made of, and the element types they are computed in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from gradstep.core.ops.numerics.fused_functions import fused

Function = Callable[..., Any]

# B2, B4, … B24: what the expansions for large arguments are made of.
BERNOULLI = (
    Fraction(1, 6),
    Fraction(-1, 30),
    Fraction(1, 42),
    Fraction(-1, 30),
    Fraction(5, 66),
    Fraction(-691, 2730),
    Fraction(7, 6),
    Fraction(-3617, 510),
    Fraction(43867, 798),
    Fraction(-174611, 330),
    Fraction(854513, 138),
    Fraction(-236364091, 2730),
)


def chebyshev(coefficients: Sequence[float], t: Any) -> Any:
    """The sum of c[k] T_k(t), by Clenshaw's recurrence; t in [-1, 1]."""
    double = 2.0 * t
    above, here = 0.0 * t, 0.0 * t + coefficients[-1]
    for c in coefficients[-2:0:-1]:
        above, here = here, double * here - above + c
    return t * here - above + coefficients[0]


def polynomial(coefficients: Sequence[float], x: Any) -> Any:
    """The sum of c[k] x**k, by Horner's rule."""
    total = 0.0 * x + coefficients[-1]
    for c in coefficients[-2::-1]:
        total = total * x + c
    return total


def in_double(function: Function) -> Function:
    """A kernel: `function` computed in float64, whatever floating-point type comes and goes."""

    @fused
    def kernel(xp: Any, *inputs: Any) -> Any:
        wide = [x.astype(np.float64) for x in inputs]
        return function(xp, *wide).astype(inputs[0].dtype)

    return kernel
