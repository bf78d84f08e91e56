"""Sorting and linear algebra, which CuPy has as machine code for a card, done by NumPy."""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_LINALG = "cholesky qr svd eigh eigvalsh solve inv det slogdet pinv lstsq".split()


def host_functions(cupy: Any) -> None:
    """Put them in place of CuPy's."""
    thrust = cupy.cuda.thrust
    thrust.sort, thrust.argsort, thrust.lexsort = _sort, _argsort, _lexsort
    for name in _LINALG:
        setattr(cupy.linalg, name, _hosted(cupy, name))


def _view(address: int, shape: Sequence[int], dtype: Any) -> np.ndarray:
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    memory = (ctypes.c_ubyte * max(size, 1)).from_address(address)
    return np.ctypeslib.as_array(memory)[:size].view(dtype).reshape(tuple(shape))


def _sort(dtype: Any, data: int, keys: int, shape: Sequence[int]) -> None:
    _view(data, shape, dtype).sort(axis=-1, kind="stable")


def _argsort(dtype: Any, index: int, data: int, keys: int, shape: Sequence[int]) -> None:
    values = _view(data, shape, dtype)
    order = np.argsort(values, axis=-1, kind="stable")
    _view(index, shape, np.intp)[...] = order
    values[...] = np.take_along_axis(values, order, -1)


def _lexsort(dtype: Any, index: int, keys: int, count: int, size: int) -> None:
    _view(index, (size,), np.intp)[...] = np.lexsort(_view(keys, (count, size), dtype))


def _read(cupy: Any, x: Any) -> np.ndarray:
    """A copy, for which nobody waits: a card would have the array where it is."""
    whole = cupy.ascontiguousarray(x)
    return _view(whole.data.ptr, whole.shape, whole.dtype).copy()


def _hosted(cupy: Any, name: str) -> Callable[..., Any]:
    """NumPy's function behind CuPy's own signature and refusals."""
    signature = inspect.signature(getattr(cupy.linalg, name))

    def call(*args: Any, **named: Any) -> Any:
        signature.bind(*args, **named)
        if any(isinstance(x, np.ndarray) for x in args):
            raise TypeError("Unsupported type <class 'numpy.ndarray'>")
        given = [_read(cupy, x) if isinstance(x, cupy.ndarray) else x for x in args]
        found = getattr(np.linalg, name)(*given, **named)
        if isinstance(found, tuple):
            return type(found)(*map(cupy.asarray, found))
        return cupy.asarray(found)

    return call
