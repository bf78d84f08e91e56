"""The incomplete gamma functions and the incomplete beta function, regularised.

Power series where the first parameter is the larger one, continued fractions elsewhere (Abramowitz
and Stegun 6.5.29, 6.5.31, 26.5.8). So many terms are summed that parameters up to about 3,000 have
all digits of float64, whatever else they meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.numerics.fused_functions import repeat
from gradstep.core.ops.numerics.special.gamma_function import digamma, lgamma

_TERMS = 500
_COUNTED = tuple((float(n),) for n in range(1, _TERMS))
_TINY = 1e-300


def igamma(xp: Any, a: Any, x: Any) -> Any:
    """The share of the gamma distribution of shape a below x."""
    series, fraction = _parts(xp, a, x)
    below = x < a + 1.0
    return _limits(xp, a, x, xp.where(below, series, 1.0 - fraction), 0.0, 1.0)


def igammac(xp: Any, a: Any, x: Any) -> Any:
    """One less that, exact where it is small."""
    series, fraction = _parts(xp, a, x)
    below = x < a + 1.0
    return _limits(xp, a, x, xp.where(below, 1.0 - series, fraction), 1.0, 0.0)


def igamma_grad_a(xp: Any, a: Any, x: Any) -> Any:
    """The derivative of igamma to a."""
    safe_a, safe_x = _inside(xp, a, x)
    below = safe_x < safe_a + 1.0
    scale = _scale(xp, safe_a, safe_x)
    total, slope = _series(xp, safe_a, xp.where(below, safe_x, 0.5))
    log_slope = xp.log(safe_x) - digamma(xp, safe_a + 1.0)
    series = scale / safe_a * (log_slope * total + slope)
    value, turn = _fraction(xp, safe_a, xp.where(below, safe_a + 2.0, safe_x))
    log_slope = xp.log(safe_x) - digamma(xp, safe_a)
    fraction = -scale * (log_slope * value + turn)
    return _limits(xp, a, x, xp.where(below, series, fraction), 0.0, 0.0)


def betainc(xp: Any, a: Any, b: Any, x: Any) -> Any:
    """The share of the beta distribution of shapes a and b below x."""
    outside = ~((a > 0.0) & (b > 0.0) & (x >= 0.0) & (x <= 1.0))
    edge = outside | (x == 0.0) | (x == 1.0)
    safe_a, safe_b = xp.where(a > 0.0, a, 1.0), xp.where(b > 0.0, b, 1.0)
    safe = xp.where(edge, 0.5, x)
    turned = safe > (safe_a + 1.0) / (safe_a + safe_b + 2.0)
    p, q = xp.where(turned, safe_b, safe_a), xp.where(turned, safe_a, safe_b)
    y = xp.where(turned, 1.0 - safe, safe)
    beta = lgamma(xp, p) + lgamma(xp, q) - lgamma(xp, p + q)
    scale = xp.exp(p * xp.log(y) + q * xp.log1p(-y) - beta) / p
    share = scale * _beta_fraction(xp, p, q, y)
    share = xp.where(turned, 1.0 - share, share)
    return xp.where(outside, np.nan, xp.where(edge, x + 0.0 * a + 0.0 * b, share))


def _parts(xp: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """The lower share by its series and the upper one by its fraction, each right on its side."""
    a, x = _inside(xp, a, x)
    below, scale = x < a + 1.0, _scale(xp, a, x)
    series = scale / a * _series(xp, a, xp.where(below, x, 0.5))[0]
    return series, scale * _fraction(xp, a, xp.where(below, a + 2.0, x))[0]


def _inside(xp: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """The arguments, others where there is nothing to sum."""
    proper = (a > 0.0) & (x > 0.0) & (a < np.inf) & (x < np.inf)
    return xp.where(proper, a, 1.0), xp.where(proper, x, 1.0)


def _limits(xp: Any, a: Any, x: Any, value: Any, at_zero: float, at_infinity: float) -> Any:
    value = xp.where(x == np.inf, at_infinity, value)
    value = xp.where((x == 0.0) | (a == np.inf), at_zero, value)
    outside = ~((a > 0.0) & (x >= 0.0))
    return xp.where(outside, np.nan, value)


def _scale(xp: Any, a: Any, x: Any) -> Any:
    """x**a exp(-x) / gamma(a)."""
    return xp.exp(a * xp.log(x) - x - lgamma(xp, a))


def _series(xp: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """The sum of x**n / ((a+1) … (a+n)), and its derivative to a."""
    term = total = xp.ones_like(a + x)
    harmonic = slope = xp.zeros_like(total)

    def add(term: Any, harmonic: Any, total: Any, slope: Any, n: float) -> tuple[Any, ...]:
        term = term * x / (a + n)
        harmonic = harmonic + 1.0 / (a + n)
        return term, harmonic, total + term, slope - term * harmonic

    _, _, total, slope = repeat(xp, add, _COUNTED, term, harmonic, total, slope)
    return total, slope


def _fraction(xp: Any, a: Any, x: Any) -> tuple[Any, Any]:
    """What Lentz's method makes of the continued fraction of the upper share, and its derivative
    to a."""
    b = x + 1.0 - a
    c, dc = xp.full_like(b, 1.0 / _TINY), xp.zeros_like(b)
    d, dd = 1.0 / b, 1.0 / (b * b)
    value, slope = d, dd

    def go_on(
        value: Any, slope: Any, b: Any, c: Any, dc: Any, d: Any, dd: Any, n: float
    ) -> tuple[Any, ...]:
        factor, b = -n * (n - a), b + 2.0
        bottom = factor * d + b
        d_bottom = n * d + factor * dd - 1.0
        d, dd = 1.0 / bottom, -d_bottom / (bottom * bottom)
        dc, c = (n - factor * dc / c) / c - 1.0, b + factor / c
        step, d_step = c * d, dc * d + c * dd
        return value * step, slope * step + value * d_step, b, c, dc, d, dd

    value, slope, *_ = repeat(xp, go_on, _COUNTED, value, slope, b, c, dc, d, dd)
    return value, slope


def _beta_fraction(xp: Any, a: Any, b: Any, x: Any) -> Any:
    total = a + b
    c, d = xp.ones_like(x + total), 1.0 / _away(xp, 1.0 - total * x / (a + 1.0))
    value = d

    def go_on(value: Any, c: Any, d: Any, n: float) -> tuple[Any, ...]:
        for factor in (
            n * (b - n) * x / ((a + 2.0 * n - 1.0) * (a + 2.0 * n)),
            -(a + n) * (total + n) * x / ((a + 2.0 * n) * (a + 2.0 * n + 1.0)),
        ):
            d = 1.0 / _away(xp, 1.0 + factor * d)
            c = _away(xp, 1.0 + factor / c)
            value = value * d * c
        return value, c, d

    return repeat(xp, go_on, _COUNTED, value, c, d)[0]


def _away(xp: Any, x: Any) -> Any:
    """From 0."""
    return xp.where(xp.abs(x) < _TINY, _TINY, x)
