"""The logarithm of the gamma function, and that logarithm's derivative.

From 10 on both are Stirling's series; below, the argument is moved by the functional equation, and
for negative ones reflected. Around the logarithm's zeros at 1 and 2 it is (x-1)(x-2) times a
Chebyshev series, so that it keeps its digits there.
"""

from __future__ import annotations

from math import log, pi, sqrt
from typing import Any

import numpy as np

from gradstep.core.ops.numerics.special.series import BERNOULLI, chebyshev, polynomial

_FROM = 10.0  # where Stirling's series takes over
_STIRLING = tuple(float(b / (2 * k * (2 * k - 1))) for k, b in enumerate(BERNOULLI[:9], 1))
_DIGAMMA = tuple(float(b / (2 * k)) for k, b in enumerate(BERNOULLI[:9], 1))

# lgamma(x) / ((x-1)(x-2)) on [1, 3], in (x - r) / (x + r) / _HALF_WIDTH, r the root of 3.
_ROOT = sqrt(3.0)
_HALF_WIDTH = 0.26794919243112270647
_MIDDLE = (
    0.4570375227598587637,
    -0.1145747619029521914,
    0.004797309294988123149,
    -0.0007376004106416601903,
    0.00005896106597227622934,
    -8.556806958884251861e-6,
    8.220552578995045134e-7,
    -1.16452019284667649e-7,
    1.222228353574777549e-8,
    -1.711443663050331335e-9,
    1.893247989216351139e-10,
    -2.633941962919995703e-11,
    3.017426995233080552e-12,
    -4.180999681484545748e-13,
    4.910753952797173062e-14,
    -6.785884852153205476e-15,
    8.120840747231659129e-16,
    -1.119986226003985036e-16,
    1.35996690346294346e-17,
)


def lgamma(xp: Any, x: Any) -> Any:
    """log |gamma(x)|; infinite at 0, at the negative whole numbers and at both infinities."""
    size = xp.abs(x)
    positive = xp.where(size < _FROM, _below(xp, size), _stirling(xp, size))
    sine = _sine_of_pi(xp, size)
    reflected = xp.log(pi / (size * sine)) - positive
    reflected = xp.where(size < 1e-20, -xp.log(size), reflected)
    pole = (sine == 0.0) | (size == np.inf)
    return xp.where(x > 0.0, positive, xp.where(pole, np.inf, reflected))


def _below(xp: Any, x: Any) -> Any:
    """For 0 <= x <= 10: moved into [1, 3] by factors of the gamma function."""
    y = xp.minimum(xp.where(x < 1.0, x + 1.0, x), _FROM)
    factors = xp.ones_like(y)
    for _ in range(7):
        above = y > 3.0
        factors = xp.where(above, factors * (y - 1.0), factors)
        y = xp.where(above, y - 1.0, y)
    series = chebyshev(_MIDDLE, (y - _ROOT) / (y + _ROOT) / _HALF_WIDTH)
    below = x < 1.0  # where 1 was added, the distances to the zeros are those of x, unrounded
    roots = xp.where(below, x * (x - 1.0), (y - 1.0) * (y - 2.0))
    value = roots * series + xp.log(factors)
    return xp.where(below, value - xp.log(x), value)


def _stirling(xp: Any, x: Any) -> Any:
    x = xp.maximum(x, _FROM)
    small = 1.0 / x
    rest = small * polynomial(_STIRLING, small * small)
    return (x - 0.5) * (xp.log(x) - 1.0) + (0.5 * log(2.0 * pi) - 0.5) + rest


def _sine_of_pi(xp: Any, x: Any) -> Any:
    """|sin(pi x)|, exactly 0 where x is whole."""
    over = x - xp.floor(x)
    return xp.sin(pi * xp.minimum(over, 1.0 - over))


def digamma(xp: Any, x: Any) -> Any:
    """Derivative of lgamma; NaN at 0, at the negative whole numbers and at minus infinity."""
    reflect = x <= 0.0
    y = xp.where(reflect, 1.0 - x, x)
    moved = xp.zeros_like(y)
    for _ in range(int(_FROM)):
        below = y < _FROM
        moved = xp.where(below, moved + 1.0 / y, moved)
        y = xp.where(below, y + 1.0, y)
    square = 1.0 / (y * y)
    value = xp.log(y) - 0.5 / y - square * polynomial(_DIGAMMA, square) - moved
    return xp.where(reflect, value - _cotangent(xp, x), value)


def _cotangent(xp: Any, x: Any) -> Any:
    """pi / tan(pi x), NaN where x is whole."""
    over = x - xp.floor(x)
    over = xp.where(over > 0.5, over - 1.0, over)
    over = xp.where(over == 0.0, np.nan, over)
    return xp.where(over == 0.5, 0.0, pi / xp.tan(pi * over))
