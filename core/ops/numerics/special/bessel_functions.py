"""Bessel functions of order 0 and 1: J, and the modified ones, I and K.

I is its power series up to 20 and its asymptotic expansion beyond. J is its series up to 2, then
the mean of a cosine over a period (Abramowitz and Stegun 9.1.21), which a sum of equally spaced
points has to all digits, and from 25 Hankel's expansion. K is an integral over the real line
(9.6.24), likewise, with its logarithmic series below 0.1. Within some units in the last place of
float64; J, near its zeros, to 1e-15.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import pi
from typing import Any

import numpy as np

from gradstep.core.ops.numerics.fused_functions import repeat
from gradstep.core.ops.numerics.special.series import polynomial

_SERIES, _TERMS, _EXPANDED = 20.0, 80, 30
_SMALL, _OSCILLATING, _POINTS = 2.0, 25.0, 96
_ANGLES = tuple(
    (angle, float(np.sin(angle)))
    for angle in (2.0 * pi * (n + 0.5) / _POINTS for n in range(_POINTS))
)
_EULER = 0.5772156649015328606
_STEP, _STEPS = 0.08, 190  # of the integral, in units of its width


def i0e(xp: Any, x: Any) -> Any:
    """exp(-|x|) I0(x)."""
    return _scaled_i(xp, xp.abs(x), 0)


def i1e(xp: Any, x: Any) -> Any:
    """exp(-|x|) I1(x)."""
    return xp.sign(x) * _scaled_i(xp, xp.abs(x), 1)


def i0(xp: Any, x: Any) -> Any:
    return _scaled_i(xp, xp.abs(x), 0) * xp.exp(xp.abs(x))


def i1(xp: Any, x: Any) -> Any:
    return i1e(xp, x) * xp.exp(xp.abs(x))


def j0(xp: Any, x: Any) -> Any:
    return _j(xp, xp.abs(x), 0)


def j1(xp: Any, x: Any) -> Any:
    return xp.sign(x) * _j(xp, xp.abs(x), 1)


def k0e(xp: Any, x: Any) -> Any:
    """exp(x) K0(x); infinite at 0 and below."""
    return _scaled_k(xp, x, 0)


def k1e(xp: Any, x: Any) -> Any:
    """exp(x) K1(x); infinite at 0 and below."""
    return _scaled_k(xp, x, 1)


def k0(xp: Any, x: Any) -> Any:
    return _scaled_k(xp, x, 0) * xp.exp(-xp.maximum(x, 0.0))


def k1(xp: Any, x: Any) -> Any:
    return _scaled_k(xp, x, 1) * xp.exp(-xp.maximum(x, 0.0))


def _scaled_i(xp: Any, size: Any, order: int) -> Any:
    near = xp.minimum(size, _SERIES)
    series = _power_series(xp, near, order) * xp.exp(-near)
    far = xp.where(size < _SERIES, _SERIES, size)
    signed = [(-1) ** n * c for n, c in enumerate(_hankel(order))]
    expanded = polynomial(signed, 1.0 / far) / xp.sqrt(2.0 * pi * far)
    return xp.where(size < _SERIES, series, expanded)


def _power_series(xp: Any, x: Any, order: int, sign: float = 1.0) -> Any:
    """I's; with sign -1, J's."""
    square = sign * 0.25 * x * x
    term = 0.5 * x if order else xp.ones_like(x)
    total = term

    def add(term: Any, total: Any, n: float) -> tuple[Any, ...]:
        term = term * square / (n * (n + order))
        return term, total + term

    return repeat(xp, add, _counted(_TERMS), term, total)[1]


def _counted(end: int) -> Iterator[tuple[float]]:
    yield from ((float(n),) for n in range(1, end))


def _hankel(order: int) -> Iterator[float]:
    """Coefficients of the expansions for large arguments, in 1/x."""
    value = 1.0
    for n in range(_EXPANDED):
        yield value
        value *= (4.0 * order * order - (2 * n + 1) ** 2) / (8.0 * (n + 1))


def _j(xp: Any, size: Any, order: int) -> Any:
    near = xp.minimum(size, _OSCILLATING)

    def add(mean: Any, angle: float, sine: float) -> tuple[Any, ...]:
        return (mean + xp.cos(order * angle - near * sine),)

    (mean,) = repeat(xp, add, _ANGLES, xp.zeros_like(size))
    far = xp.where(size < _OSCILLATING, _OSCILLATING, size)
    signed = [(-1) ** (n // 2) * c for n, c in enumerate(_hankel(order))]
    inverse = 1.0 / far
    p = polynomial(signed[::2], inverse * inverse)
    q = polynomial(signed[1::2], inverse * inverse) * inverse
    phase = far - (0.5 * order + 0.25) * pi
    wave = xp.sqrt(2.0 / (pi * far)) * (p * xp.cos(phase) - q * xp.sin(phase))
    beyond = xp.where(size == np.inf, np.nan, wave)  # as TensorFlow has it
    series = _power_series(xp, xp.minimum(size, _SMALL), order, -1.0)
    near_value = xp.where(size < _SMALL, series, mean / _POINTS)
    return xp.where(size < _OSCILLATING, near_value, beyond)


def _scaled_k(xp: Any, x: Any, order: int) -> Any:
    positive = xp.where((x > 0.0) & (x < np.inf), x, 1.0)
    small = positive < 0.1
    inner = xp.where(small, 1.0, positive)
    width = 1.0 / xp.sqrt(1.0 + inner)

    def add(total: Any, n: float) -> tuple[Any, ...]:
        t = _STEP * n * width
        half = xp.sinh(0.5 * t)
        weight = xp.cosh(t) if order else 1.0
        return (total + xp.exp(-2.0 * inner * half * half) * weight,)

    (total,) = repeat(xp, add, _counted(_STEPS), 0.5 * xp.ones_like(inner))
    integral = total * _STEP * width
    value = xp.where(small, _small_k(xp, xp.where(small, positive, 0.05), order), integral)
    value = xp.where(x == np.inf, 0.0, xp.where(x <= 0.0, np.inf, value))
    return xp.where(x != x, x, value)


def _small_k(xp: Any, x: Any, order: int) -> Any:
    """The logarithmic series, 9.6.11 and 9.6.13."""
    square, log = 0.25 * x * x, xp.log(0.5 * x)
    term, psi = xp.ones_like(x), -2.0 * _EULER + (1.0 if order else 0.0)
    total = xp.zeros_like(x)
    for n in range(12):
        total = total + term * psi
        psi += 1.0 / (n + 1) + 1.0 / (n + 1 + order)
        term = term * square / ((n + 1) * (n + 1 + order))
    if order:
        return xp.exp(x) * (1.0 / x + log * _power_series(xp, x, 1) - 0.25 * x * total)
    return xp.exp(x) * (0.5 * total - log * _power_series(xp, x, 0))
