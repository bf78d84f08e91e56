"""Any other processor, as far as rounding goes: sums come out as in another order, and functions
as of another library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from core.engine.numpy_backend import NumpyBackend
from core.ops.table import OpDef

Kernel = Callable[..., Any]

_OF_SUM = 2.0  # ε of the sum of magnitudes; another order was measured up to 3.1 off, at worst
_OF_FUNCTION = 2.0  # ε of the result
_EXACT = 1 / 16  # ε off, at most
_IN_ORDER = 8  # terms that NumPy adds one after the other on any processor
_WIDER = {np.dtype(np.float32): np.float64, np.dtype(np.float64): np.longdouble}
_UNSIGNED = {np.dtype(np.float32): np.uint32, np.dtype(np.float64): np.uint64}


@contextmanager
def other_processor(seed: int) -> Iterator[None]:
    """Whatever runs meanwhile on the CPU gives other last bits: the same for the same numbers, so
    that a run repeated gives the same. What is exact stays, as it is so in any order, and updates
    do, which consist of operations that round correctly."""

    def adapt(self: NumpyBackend, definition: OpDef, kernel: Kernel) -> Kernel:
        kind = definition.arithmetic
        if kind not in ("reducing", "product", "library") or not definition.is_pure:
            return kernel

        def otherwise(*inputs: Any) -> Any:
            results = kernel(*inputs)
            with np.errstate(all="ignore"):
                return _moved(kernel, kind, inputs, results, seed)

        return otherwise

    with patch.object(NumpyBackend, "adapt", adapt):
        yield


def _moved(kernel: Kernel, kind: str, inputs: Sequence[Any], results: Any, seed: int) -> Any:
    """The kernel's results, off by a few roundings."""
    several = isinstance(results, tuple | list)
    found = [*results] if several else [results]
    floats = [x for x in map(np.asarray, inputs) if x.dtype in _WIDER]
    few = sum(x.size for x in floats) < _IN_ORDER * sum(np.size(x) for x in found)
    if not floats or (kind == "reducing" and few):
        return results
    try:
        wide = _listed(kernel(*(_changed(x, lambda x: x.astype(_WIDER[x.dtype])) for x in inputs)))
        sizes = (
            found if kind == "library" else _listed(kernel(*(_changed(x, np.abs) for x in inputs)))
        )
    except Exception:  # a kernel that is particular about its types
        return results
    if [np.shape(x) for x in wide] != [np.shape(x) for x in found]:
        return results  # which hangs on the numbers themselves
    by = _OF_FUNCTION if kind == "library" else _OF_SUM
    if kind == "product":  # half an ε for each of few terms
        by = min(
            by, 0.5 * float(np.max(kernel(*(_changed(x, np.ones_like) for x in inputs)), initial=0))
        )
    moved = [_off(*each, by, seed) for each in zip(found, wide, sizes, strict=True)]
    return tuple(moved) if several else moved[0]


def _listed(results: Any) -> list[Any]:
    return [*results] if isinstance(results, tuple | list) else [results]


def _changed(x: Any, change: Callable[[np.ndarray], np.ndarray]) -> Any:
    """Floating-point arrays; others are indices, axes, shapes."""
    return change(x) if isinstance(x, np.ndarray) and x.dtype in _WIDER else x


def _off(x: Any, wide: Any, size: Any, by: float, seed: int) -> Any:
    """`x` off by up to `by` ε of its size, where it is not as good as exact: sums of small whole
    numbers, a function that has saturated."""
    x = np.asarray(x)
    if x.dtype not in _WIDER:
        return x
    eps = np.finfo(x.dtype).eps
    rounded = np.abs(wide - x) > _EXACT * eps * np.abs(x)
    moved = x + by * eps * _noise(x, seed) * np.abs(size)
    return np.where(np.isfinite(moved) & rounded, moved, x).astype(x.dtype)


def _noise(x: np.ndarray, seed: int) -> np.ndarray:
    """Between -1 and 1, by the bits of each number."""
    bits = np.ascontiguousarray(x).view(_UNSIGNED[x.dtype]).astype(np.uint64).reshape(x.shape)
    mixed = (bits + np.uint64(seed + 1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return (mixed >> np.uint64(11)).astype(np.float64) / 2.0**52 - 1
