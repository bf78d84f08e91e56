"""Incomplete and Bessel functions written the plain way: sums and integrals, number by number."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np

_TERMS = 400


def each(function: Callable[..., float]) -> Callable[..., Any]:
    def of_arrays(*arrays: Any) -> Any:
        return np.vectorize(function, otypes=[float])(*arrays)

    return of_arrays


def _bessel(order: int, sign: int) -> Callable[[float], float]:
    def series(x: float) -> float:
        terms, term = [], (x / 2) ** order
        for n in range(1, _TERMS):
            terms.append(term)
            term *= sign * x * x / 4 / (n * (n + order))
        return math.fsum(terms)

    return series


def _second_kind(order: int) -> Callable[[float], float]:
    def integral(x: float) -> float:
        steps = (0.01 * n for n in range(1, 800))
        values = (math.exp(-x * math.cosh(t)) * math.cosh(order * t) for t in steps)
        return 0.01 * math.fsum([math.exp(-x) / 2, *values])

    return integral


def _igamma(a: float, x: float) -> float:
    return _share(a, x).real


def _igamma_grad_a(a: float, x: float) -> float:
    """By a step so small, and to the side, that nothing cancels."""
    step = 1e-30
    return _share(complex(a, step), x).imag / step


def _share(a: complex, x: float) -> complex:
    term = total = cmath.exp(a * math.log(x) - x - _log_gamma(a + 1))
    for n in range(1, _TERMS):
        term *= x / (a + n)
        total += term
    return total


def _log_gamma(z: complex) -> complex:
    shift = 0j
    while z.real < 30:
        shift -= cmath.log(z)
        z += 1
    bernoulli = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)
    rest = sum(b / (2 * k * (2 * k - 1) * z ** (2 * k - 1)) for k, b in enumerate(bernoulli, 1))
    return shift + (z - 0.5) * cmath.log(z) - z + 0.5 * math.log(2 * math.pi) + rest


def _betainc(a: float, b: float, x: float) -> float:
    terms, factor = [], 1.0
    for n in range(_TERMS):
        terms.append(factor * x**n / (a + n))
        factor *= (n + 1 - b) / (n + 1)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return math.exp(a * math.log(x) - log_beta) * math.fsum(terms)


def sparse_matmul(
    indices: Any, values: Any, shape: Any, b: Any, adjoint_a: bool, adjoint_b: bool
) -> Any:
    a = np.zeros(tuple(shape.tolist()))
    np.add.at(a, tuple(indices.T), values)
    return (a.T if adjoint_a else a) @ (b.T if adjoint_b else b)


_ORDERS = {
    "i0": _bessel(0, 1), "i1": _bessel(1, 1), "j0": _bessel(0, -1), "j1": _bessel(1, -1),
    "k0": _second_kind(0), "k1": _second_kind(1),
}  # fmt: skip
NAMES: dict[str, Any] = {
    "igamma": each(_igamma),
    "igammac": each(lambda a, x: 1 - _igamma(a, x)),
    "igammagrada": each(_igamma_grad_a),
    "betainc": each(_betainc),
    "sparse_matmul": sparse_matmul,
    **{f"bessel_{name}": each(function) for name, function in _ORDERS.items()},
    "bessel_i0e": each(lambda x: _bessel(0, 1)(x) * math.exp(-abs(x))),
    "bessel_i1e": each(lambda x: _bessel(1, 1)(x) * math.exp(-abs(x))),
    "bessel_k0e": each(lambda x: _second_kind(0)(x) * math.exp(x)),
    "bessel_k1e": each(lambda x: _second_kind(1)(x) * math.exp(x)),
}
