"""How far a library's functions are from the true value, in units of the last place."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from tests.card.libraries import Library, open_library

POINTS = 1 << 18
# Function -> where its argument lies, and whether it is spread evenly by its logarithm.
FUNCTIONS: dict[str, tuple[float, float, bool]] = {
    "exp": (-80, 80, False),
    "exp2": (-120, 120, False),
    "expm1": (-20, 20, False),
    "log": (1e-30, 1e30, True),
    "log2": (1e-30, 1e30, True),
    "log10": (1e-30, 1e30, True),
    "log1p": (1e-8, 1e8, True),
    "sin": (-100, 100, False),
    "cos": (-100, 100, False),
    "tan": (-100, 100, False),
    "arcsin": (-1, 1, False),
    "arccos": (-1, 1, False),
    "arctan": (-50, 50, False),
    "sinh": (-80, 80, False),
    "cosh": (-80, 80, False),
    "tanh": (-10, 10, False),
    "arcsinh": (-1e6, 1e6, False),
    "arccosh": (1, 1e6, False),
    "arctanh": (-0.999, 0.999, False),
    "sqrt": (1e-30, 1e30, True),
    "reciprocal": (1e-30, 1e30, True),
    "cbrt": (1e-30, 1e30, True),
    "erf": (-5, 5, False),
    "erfc": (-3, 9, False),
    "lgamma": (0.01, 100, True),
    "digamma": (0.01, 100, True),
    "sigmoid": (-80, 80, False),
    "rsqrt": (1e-30, 1e30, True),
}
_SPECIAL = {"erf": "erf", "erfc": "erfc", "lgamma": "gammaln", "digamma": "digamma"}


def try_one(device: str, task: str) -> dict[str, Any]:
    """task: "ulp|LIBRARY|FUNCTION". Largest, 99th percentile and mean error in ULPs of float32,
    and the argument of the largest."""
    _, name, function = task.split("|")
    try:
        library = open_library(name, device)
        x = points(function)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            true = _true(function, x.astype(np.float64))
            found = library.get(_applied(library, function, library.put(x)))
    except (ImportError, AttributeError, RuntimeError) as error:
        return {"absent": str(error)[:160]}
    return {"on": library.on, **errors(x, found, true)}


def points(function: str) -> np.ndarray:
    low, high, by_logarithm = FUNCTIONS[function]
    spread = np.random.default_rng(5).random(POINTS)
    if by_logarithm:
        return np.exp(np.log(low) + spread * (np.log(high) - np.log(low))).astype(np.float32)
    return (low + spread * (high - low)).astype(np.float32)


def errors(x: np.ndarray, found: np.ndarray, true: np.ndarray) -> dict[str, Any]:
    """Where the true value is a normal number of float32."""
    tiny, top = np.finfo(np.float32).tiny, np.finfo(np.float32).max
    use = np.isfinite(true) & (np.abs(true) >= tiny) & (np.abs(true) <= top)
    unit = np.spacing(np.abs(true[use]).astype(np.float32)).astype(np.float64)
    apart = np.abs(found[use].astype(np.float64) - true[use]) / unit
    apart = np.where(np.isnan(apart), np.inf, apart)
    worst = int(np.argmax(apart))
    return {
        "dtype": str(found.dtype),
        "points": int(use.sum()),
        "max": float(f"{apart[worst]:.4g}"),
        "p99": float(f"{np.quantile(apart, 0.99):.4g}"),
        "mean": float(f"{apart.mean():.4g}"),
        "worst": float(x[use][worst]),
    }


def _applied(library: Library, name: str, x: Any) -> Any:
    """The library's own function."""
    if library.name == "torch":
        named = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "arcsinh": "asinh",
                 "arccosh": "acosh", "arctanh": "atanh"}  # fmt: skip
        return getattr(library.xp, named.get(name, name))(x)
    if library.name == "jax" and name in (*_SPECIAL, "sigmoid", "rsqrt"):
        import jax

        found = jax.nn.sigmoid if name == "sigmoid" else getattr(jax.lax, name)
        return found(x)
    if name in _SPECIAL:
        return getattr(_special(library.name), _SPECIAL[name])(x)
    return _plain(library.xp, name, x)


def _plain(xp: Any, name: str, x: Any) -> Any:
    if name == "sigmoid":
        return 1 / (1 + xp.exp(-x))
    return 1 / xp.sqrt(x) if name == "rsqrt" else getattr(xp, name)(x)


def _special(library: str) -> Any:
    import importlib

    return importlib.import_module("scipy.special" if library == "numpy" else "cupyx.scipy.special")


def _true(name: str, x: np.ndarray) -> np.ndarray:
    found = getattr(_special("numpy"), _SPECIAL[name])(x) if name in _SPECIAL else None
    return np.asarray(_plain(np, name, x) if found is None else found)
