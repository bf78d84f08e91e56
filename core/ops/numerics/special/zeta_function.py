"""Hurwitz's zeta function and the polygamma functions, by Euler and Maclaurin's formula.

What is undefined is what TensorFlow leaves undefined: NaN for x < 1, and for q < 0 unless x is
whole.
"""

from __future__ import annotations

from math import factorial
from typing import Any

import numpy as np

from gradstep.core.ops.numerics.special.gamma_function import digamma, lgamma
from gradstep.core.ops.numerics.special.series import BERNOULLI

_TERMS = 10  # summed one by one; the formula gives the rest
_WEIGHTS = tuple(float(b) / factorial(2 * k) for k, b in enumerate(BERNOULLI, 1))


def zeta(xp: Any, x: Any, q: Any) -> Any:
    """The sum of (q + k)**-x over k = 0, 1, …"""
    x, q = x + xp.zeros_like(q), q + xp.zeros_like(x)
    value = xp.where(q > 0.0, _sum(xp, x, q), _left(xp, x, q))
    pole = (q <= 0.0) & (q == xp.floor(q))
    value = xp.where(pole, xp.where(_is_even(xp, x), np.inf, np.nan), value)
    value = xp.where(x < 1.0, np.nan, value)
    return xp.where(x == 1.0, np.inf, value)


def _sum(xp: Any, x: Any, q: Any) -> Any:
    """For q > 0."""
    total = xp.zeros_like(q)
    for k in range(_TERMS):
        term = xp.power(q + k, -x)
        total = total + term
    rest = term * _remainder(x, q + (_TERMS - 1.0))
    # Where the last term does not count any more, the formula's may be 0 times infinity.
    return xp.where(term > 1e-17 * total, total + rest, total)


def _remainder(x: Any, a: Any) -> Any:
    """What comes after the term a**-x, as a multiple of it."""
    total = a / (x - 1.0) - 0.5
    factor = x / a
    for k, weight in enumerate(_WEIGHTS):
        total = total + weight * factor
        factor = factor * ((x + (2 * k + 1)) / a) * ((x + (2 * k + 2)) / a)
    return total


def _left(xp: Any, x: Any, q: Any) -> Any:
    """For q < 0 and whole x: the terms left of 0 are those of a sum to the right, mirrored."""
    over = q - xp.floor(q)
    mirrored = _sum(xp, x, 1.0 - over) - _sum(xp, x, 1.0 - q)
    even = _is_even(xp, x)
    value = _sum(xp, x, over) + xp.where(even, mirrored, -mirrored)
    return xp.where(x == xp.floor(x), value, np.nan)


def _is_even(xp: Any, x: Any) -> Any:
    return x == 2.0 * xp.floor(0.5 * x)


def polygamma(xp: Any, a: Any, x: Any) -> Any:
    """Derivative number `a` of digamma; NaN unless `a` is 0 or a positive whole number."""
    a, x = a + xp.zeros_like(x), x + xp.zeros_like(a)
    order = xp.where(a >= 0.0, a, 1.0)
    factorials = xp.exp(lgamma(xp, order + 1.0))
    factorials = xp.where(factorials < 1e13, xp.rint(factorials), factorials)
    value = factorials * zeta(xp, order + 1.0, x)
    value = xp.where(_is_even(xp, order + 1.0), value, -value)
    defined = (a >= 0.0) & (a == xp.floor(a))
    return xp.where(a == 0.0, digamma(xp, x), xp.where(defined, value, np.nan))
