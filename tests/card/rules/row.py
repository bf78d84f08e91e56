"""A question to the libraries: inputs, and each one's own function; and numbers that many share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

F = Callable[..., Any]
nan, inf = float("nan"), float("inf")
f16, f32, f64, i32, i64 = np.float16, np.float32, np.float64, np.int32, np.int64


@dataclass(frozen=True)
class Row:
    """plain: f(xp, *arrays) for NumPy, CuPy and JAX; jax: for JAX, where it is called otherwise;
    torch: f(torch, *tensors). Where there is None, that library has no such function."""

    inputs: tuple[np.ndarray, ...]
    plain: F | None
    torch: F | None
    jax: F | None = None

    def of(self, library: str) -> F | None:
        if library == "torch":
            return self.torch
        return self.jax if library == "jax" and self.jax is not None else self.plain


def a(*values: Any, d: Any = f32) -> np.ndarray:
    with np.errstate(all="ignore"):
        return np.array(values, d)


P, P2 = a(10, 20, 30), a(10, 20, 30).reshape(1, 3)
TINY = a(1e-40, -1e-40, 1.1754944e-38, 2e-38)
_random = np.random.default_rng(11)
LARGE = _random.standard_normal(1 << 16).astype(f32)
A, B = (_random.standard_normal((64, 64)).astype(f32) for _ in range(2))
LARGE_NAN = LARGE.copy()
LARGE_NAN[[123, 40000, 65000]] = nan
SMALL = _random.random(4096).astype(f16)


def jax_nn() -> Any:
    import jax

    return jax.nn


def unary(*values: Any, d: Any = f32, **names: str) -> Callable[[str], Row]:
    def row(name: str) -> Row:
        return Row(
            (a(*values, d=d),),
            lambda xp, x: getattr(xp, name)(x),
            lambda t, x: getattr(t, names.get("torch", name))(x),
        )

    return row
