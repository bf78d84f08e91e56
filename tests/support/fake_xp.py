"""An array namespace that behaves like CuPy where CuPy differs from NumPy, and runs anywhere.

Its arrays refuse NumPy arrays, lists, truth values and conversion to Python numbers (`item` and
`tolist` read on the host, and are counted); reductions give arrays of rank 0, never scalars;
`where=` and `initial=` do not exist; nor does any function that is not in the list below.
"""

from __future__ import annotations

import operator
from types import SimpleNamespace
from typing import Any

import numpy as np

# Functions that kernels use, each of which CuPy 14 has with the same meaning.
FUNCTIONS = frozenset(
    "abs absolute add all any arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh "
    "argmax argmin argsort argwhere array asarray bincount bitwise_and bitwise_or bitwise_xor "
    "broadcast_to ceil clip concatenate conj copyto cos cosh cumprod cumsum divide empty equal exp "
    "expand_dims expm1 flip floor floor_divide fmax fmin fmod full full_like greater "
    "greater_equal imag invert isfinite isin isinf isnan left_shift less less_equal log log1p "
    "logical_and logical_not logical_or matmul max maximum min minimum moveaxis multiply "
    "negative nextafter not_equal ones ones_like pad power prod real remainder reshape "
    "right_shift rint roll searchsorted sign sin sinh sqrt square squeeze stack subtract sum "
    "swapaxes take take_along_axis tan tanh tile transpose true_divide trunc unique where "
    "zeros zeros_like".split()
)
# Element types that CuPy adds at places named twice: those of CUDA's atomicAdd.
_ADDED_AT = frozenset("int32 uint32 uint64 float16 float32 float64".split())
_COMPARED_AT = frozenset("int32 int64 uint32 uint64 float32 float64".split())
_AT = {"add": _ADDED_AT, "maximum": _COMPARED_AT, "minimum": _COMPARED_AT}
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
    strides = property(lambda self: self._data.strides)
    flags = property(lambda self: self._data.flags)
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
    def __init__(self, name: str, module: Any = np) -> None:
        self.name = name
        self.function = getattr(module, name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if {"where", "initial", "mode"} & kwargs.keys():
            raise TypeError(f"{self.name}() got an unexpected keyword argument")
        if isinstance(self.function, np.ufunc) and any(isinstance(x, list | tuple) for x in args):
            raise TypeError("Unsupported type list")
        if kwargs.get("kind") not in (None, "stable"):
            raise ValueError("only the stable sort is there")
        if self.name in ("array", "asarray") and isinstance(args[0], np.ndarray):
            if args[0].dtype.hasobject:
                raise ValueError(f"Unsupported dtype {args[0].dtype}")
            return FakeArray(np.array(args[0]))
        out = kwargs.get("out")
        result = self.function(*_open(args), **{k: _open(v) for k, v in kwargs.items()})
        return out if out is not None else _closed(result)

    def at(self, target: FakeArray, index: Any, values: Any) -> None:
        if target._data.dtype.name not in _AT.get(self.name, ()):
            raise TypeError(f"cupy.{self.name}.at does not take {target._data.dtype}")
        self.function.at(target._data, _open(index), _open(values))


def _closed(result: Any) -> Any:
    if isinstance(result, list | tuple):
        made = [FakeArray(x) for x in result]
        named = isinstance(result, tuple) and hasattr(result, "_fields")  # QRResult and others
        return type(result)(*made) if named else type(result)(made)
    return None if result is None else FakeArray(result)


class _Linalg:
    """`xp.linalg`, whose functions NumPy and CuPy both have."""

    _FUNCTIONS = frozenset("cholesky det eigh eigvalsh inv qr slogdet solve svd".split())

    def __getattr__(self, name: str) -> Any:
        if name not in self._FUNCTIONS:
            raise AttributeError(f"kernels may not use xp.linalg.{name}; see fake_xp.py")
        return _Function(name, np.linalg)


class _StrideTricks:
    """`xp.lib.stride_tricks`, of which CuPy has this one function."""

    @staticmethod
    def as_strided(x: FakeArray, shape: Any, strides: Any) -> FakeArray:
        return FakeArray(np.lib.stride_tricks.as_strided(x._data, shape, strides))


class FakeNamespace:
    """The module: `xp.add`, `xp.float32`, …"""

    lib = SimpleNamespace(stride_tricks=_StrideTricks)

    linalg = _Linalg()

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
