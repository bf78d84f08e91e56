"""Any other processor, as far as rounding goes: sums come out as in another order, and functions
as of another library."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.model import Operation
from gradstep.core.ops.declare.table import OpDef

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

    def adapt(self: NumpyBackend, definition: OpDef, kernel: Kernel, op: Operation) -> Kernel:
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
    found = _listed(results)
    if not _rounds(kind, inputs, found):
        return results
    try:
        wide = _on(kernel, inputs, lambda x: x.astype(_WIDER[x.dtype]))
        sizes = found if kind == "library" else _on(kernel, inputs, np.abs)
        terms = np.inf if kind != "product" else np.max(_on(kernel, inputs, np.ones_like)[0])
    except Exception:  # a kernel that is particular about its types, or has nothing to add up
        return results
    if [np.shape(x) for x in wide] != [np.shape(x) for x in found]:
        return results  # which hangs on the numbers themselves
    by = _OF_FUNCTION if kind == "library" else min(_OF_SUM, terms / 2)
    moved = [_off(*each, by, seed) for each in zip(found, wide, sizes, strict=True)]
    return tuple(moved) if isinstance(results, tuple | list) else moved[0]


def _rounds(kind: str, inputs: Sequence[Any], results: Sequence[Any]) -> bool:
    """Whether there are numbers that a processor may round in its own way."""
    given = sum(x.size for x in map(np.asarray, inputs) if x.dtype in _WIDER)
    in_order = given < _IN_ORDER * sum(np.size(x) for x in results)
    return given > 0 and not (kind == "reducing" and in_order)


def _on(
    kernel: Kernel, inputs: Sequence[Any], change: Callable[[np.ndarray], np.ndarray]
) -> list[Any]:
    """The results for other numbers in place of floating-point arrays; what else there is are
    indices, axes and shapes."""
    floats = (isinstance(x, np.ndarray) and x.dtype in _WIDER for x in inputs)
    changed = (change(x) if f else x for x, f in zip(inputs, floats, strict=True))
    return _listed(kernel(*changed))


def _listed(results: Any) -> list[Any]:
    return [*results] if isinstance(results, tuple | list) else [results]


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
