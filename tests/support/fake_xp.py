"""An array namespace that behaves like CuPy where CuPy differs from NumPy, and runs anywhere.

Its arrays refuse NumPy arrays, lists, truth values and conversion to Python numbers (`item` and
`tolist` read on the host, and are counted); reductions give arrays of rank 0, never scalars;
`where=` and `initial=` do not exist; nor does any function that is not in the list below.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

# Functions that kernels use, each of which CuPy 14 has with the same meaning.
FUNCTIONS = frozenset(
    "abs absolute add any arange argmax argsort array asarray broadcast_to clip concatenate "
    "copyto cumprod cumsum equal exp expand_dims flip floor floor_divide fmod full full_like "
    "greater greater_equal isfinite isnan less less_equal log logical_and logical_not logical_or "
    "matmul max maximum min minimum moveaxis multiply negative not_equal ones_like pad power prod "
    "remainder reshape sign sqrt square squeeze stack subtract sum take tanh tile transpose "
    "true_divide trunc where zeros zeros_like".split()
)
_PLAIN = (bool, int, float, complex, np.generic, np.dtype, type, str, slice, type(None))


class FakeArray:
    """An array on a device that does not exist."""

    __array_ufunc__ = None
    host_reads = 0

    def __init__(self, data: np.ndarray) -> None:
        self._data = np.asarray(data)

    dtype = property(lambda self: self._data.dtype)
    shape = property(lambda self: self._data.shape)
    ndim = property(lambda self: self._data.ndim)
    size = property(lambda self: self._data.size)
    nbytes = property(lambda self: self._data.nbytes)
    T = property(lambda self: FakeArray(self._data.T))

    def item(self) -> Any:
        FakeArray.host_reads += 1
        return self._data.item()

    def tolist(self) -> Any:
        FakeArray.host_reads += 1
        return self._data.tolist()

    def get(self) -> np.ndarray:
        FakeArray.host_reads += 1
        return self._data.copy()

    def copy(self) -> FakeArray:
        return FakeArray(self._data.copy())

    def astype(self, dtype: Any) -> FakeArray:
        return FakeArray(self._data.astype(dtype))

    def reshape(self, *shape: Any) -> FakeArray:
        return FakeArray(self._data.reshape(*shape))

    def view(self, dtype: Any) -> FakeArray:
        return FakeArray(self._data.view(dtype))

    def fill(self, value: Any) -> None:
        self._data.fill(_open(value))

    def __getitem__(self, index: Any) -> FakeArray:
        return FakeArray(self._data[_open_index(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._data[_open_index(index)] = _open(value)

    def __len__(self) -> int:
        return len(self._data)

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array or a Python number is not allowed")

    __array__ = __bool__ = __float__ = __int__ = __index__ = __iter__ = __complex__ = _refuse


def _binary(name: str) -> None:
    function = getattr(operator, name)

    def forward(self: FakeArray, other: Any) -> FakeArray:
        return FakeArray(function(self._data, _open(other)))

    def backward(self: FakeArray, other: Any) -> FakeArray:
        return FakeArray(function(_open(other), self._data))

    bare = name.strip("_")
    setattr(FakeArray, f"__{bare}__", forward)
    setattr(FakeArray, f"__r{bare}__", backward)


def _unary(name: str) -> None:
    function = getattr(operator, name)
    setattr(FakeArray, f"__{name}__", lambda self: FakeArray(function(self._data)))


for _name in "add sub mul truediv floordiv mod pow matmul and_ or_ xor lt le gt ge eq ne".split():
    _binary(_name)
for _name in ("neg", "invert", "abs"):
    _unary(_name)


def _open(value: Any) -> Any:
    """What is inside; refuses what a CuPy function refuses."""
    if isinstance(value, FakeArray):
        return value._data
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, list | tuple):
        return type(value)(_open(x) for x in value)
    raise TypeError(f"Unsupported type {type(value)}")


def _open_index(index: Any) -> Any:
    parts = index if isinstance(index, tuple) else (index,)
    return tuple(part if part is Ellipsis else _open(part) for part in parts)


class _Function:
    def __init__(self, name: str) -> None:
        self.name = name
        self.function = getattr(np, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if {"where", "initial", "mode"} & kwargs.keys():
            raise TypeError(f"{self.name}() got an unexpected keyword argument")
        if self.name in ("array", "asarray") and isinstance(args[0], np.ndarray):
            return FakeArray(np.array(args[0]))
        out = kwargs.get("out")
        result = self.function(*_open(args), **{k: _open(v) for k, v in kwargs.items()})
        return out if out is not None else _closed(result)

    def at(self, target: FakeArray, index: Any, values: Any) -> None:
        self.function.at(target._data, _open(index), _open(values))


def _closed(result: Any) -> Any:
    if isinstance(result, list | tuple):
        return type(result)(FakeArray(x) for x in result)
    return None if result is None else FakeArray(result)


class FakeNamespace:
    """The module: `xp.add`, `xp.float32`, …"""

    def __getattr__(self, name: str) -> Any:
        if name in FUNCTIONS:
            return _Function(name)
        value = getattr(np, name)
        if isinstance(value, type) and issubclass(value, np.generic):
            return value
        raise AttributeError(f"kernels may not use xp.{name}; see tests/support/fake_xp.py")


xp = FakeNamespace()


def put(array: np.ndarray) -> FakeArray:
    return FakeArray(np.array(array))
