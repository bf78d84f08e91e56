"""The error function, its complement and their inverses.

The complement for x >= 0 is exp(-x*x) * E(x), where (1 + 2x) E(x) is a Chebyshev series in
(x - 3.75) / (x + 3.75); the variable is that of M. M. Shepherd and J. G. Laframboise, "Chebyshev
approximation of (1 + 2x) exp(x**2) erfc x in 0 <= x < infinity", Math. Comp. 36 (1981). Within 4
units in the last place of float64 where the result is a normal number.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

from gradstep.core.ops.numerics.special.series import chebyshev

_ROOT_PI = sqrt(pi)

# erf(x) / x for |x| <= 1, in 2*x*x - 1.
_NEAR_ZERO = (
    0.975476939382654096,
    -0.1422612051037136424,
    0.01003558218759979558,
    -0.0005768764699767484765,
    0.00002741993125219606103,
    -1.10431755073445076e-6,
    3.848875542034503695e-8,
    -1.180858253387546697e-9,
    3.233421582605090965e-11,
    -7.991015947004548758e-13,
    1.799072511396145561e-14,
    -3.718635487818692638e-16,
)
# (1 + 2x) exp(x*x) erfc(x) for x >= 0, in (x - 3.75) / (x + 3.75).
_SCALED = (
    1.177578934567401754,
    -0.004590054580646477331,
    -0.08424913336651791558,
    0.0592099399981918905,
    -0.02665866843530575228,
    0.009074997670705265094,
    -0.002413163540417608191,
    0.0004907758365258086323,
    -0.00006916973302501206367,
    4.139027986073010168e-6,
    7.740383066198490669e-7,
    -2.188640104923439566e-7,
    1.076499946567091038e-8,
    4.521959811218286898e-9,
    -7.754400208831351106e-10,
    -6.318088340886684494e-11,
    2.868795010930669898e-11,
    1.945586854577734723e-13,
    -9.654696748433438906e-13,
    3.252548148148739842e-14,
    3.347811948286805388e-14,
    -1.864562880419313102e-15,
    -1.250795053068864709e-15,
    7.418235256624043463e-17,
    5.068148904796111317e-17,
)


def erf(xp: Any, x: Any) -> Any:
    size = xp.abs(x)
    far = 1.0 - _beyond(xp, size)
    return xp.where(size < 1.0, _near_zero(xp, x), xp.sign(x) * far)


def erfc(xp: Any, x: Any) -> Any:
    size = xp.abs(x)
    far = _beyond(xp, size)
    far = xp.where(x < 0.0, 2.0 - far, far)
    return xp.where(size < 0.5, 1.0 - _near_zero(xp, x), far)


def _near_zero(xp: Any, x: Any) -> Any:
    x = xp.clip(x, -1.0, 1.0)
    return x * chebyshev(_NEAR_ZERO, 2.0 * x * x - 1.0)


def _beyond(xp: Any, x: Any) -> Any:
    """erfc(x) for x >= 0. What rounding x*x would cost is paid by a second exponential."""
    x = xp.minimum(x, 30.0)  # there erfc is far below the smallest float64
    short = x.astype(np.float32).astype(np.float64)
    falling = xp.exp(-short * short) * xp.exp((short - x) * (short + x))
    return falling * _scaled(x)


def _scaled(x: Any) -> Any:
    """exp(x*x) erfc(x) for x >= 0."""
    return chebyshev(_SCALED, 1.0 - 7.5 / (x + 3.75)) / (1.0 + 2.0 * x)


def erfinv(xp: Any, y: Any) -> Any:
    """Inverse of erf on (-1, 1), by Halley's method."""
    size = xp.abs(y)
    return xp.sign(y) * _inverse(xp, size, 1.0 - size)


def ndtri(xp: Any, p: Any) -> Any:
    """The normal distribution's quantile: inverse of its distribution function on (0, 1)."""
    tail = 2.0 * xp.minimum(p, 1.0 - p)
    return xp.sign(p - 0.5) * sqrt(2.0) * _inverse(xp, xp.abs(2.0 * p - 1.0), tail)


def _inverse(xp: Any, y: Any, tail: Any) -> Any:
    """x with erf(x) = y and erfc(x) = tail, both given, since each is exact where it is small."""
    guess = _winitzki(xp, y, tail)
    near, far = xp.minimum(guess, 1.0), guess
    for _ in range(2):
        near = near - _step_near(xp, near, y)
        far = far - _step_far(xp, far, tail)
    x = xp.where(y < 0.5, near, far)
    return xp.where(tail == 0.0, np.inf, x)


def _winitzki(xp: Any, y: Any, tail: Any) -> Any:
    """The inverse to two or three digits; S. Winitzki, "A handy approximation for the error
    function and its inverse" (2008)."""
    logarithm = xp.log(tail * (1.0 + y))
    middle = 2.0 / (pi * 0.147) + 0.5 * logarithm
    return xp.sqrt(xp.maximum(xp.sqrt(middle * middle - logarithm / 0.147) - middle, 0.0))


def _step_near(xp: Any, x: Any, y: Any) -> Any:
    off = (_near_zero(xp, x) - y) * (0.5 * _ROOT_PI) * xp.exp(x * x)
    return off / (1.0 + x * off)


def _step_far(xp: Any, x: Any, tail: Any) -> Any:
    """A step for log erfc(x) = log tail, which does not underflow."""
    scaled = _scaled(x)
    slope = -2.0 / (_ROOT_PI * scaled)
    off = xp.log(scaled) - x * x - xp.log(tail)
    return off / (slope + 0.5 * off * (2.0 * x + slope))
