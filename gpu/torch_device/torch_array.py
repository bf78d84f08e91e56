"""An array of kernels' that is a tensor of PyTorch: NumPy's names, views and element types."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import torch

from gradstep.core.graph.number_kinds import BFLOAT16
from gradstep.gpu.torch_device import element_types, index_parts
from gradstep.gpu.torch_device.counts import COUNTS
from gradstep.gpu.torch_device.refusals import refused


class TorchArray:
    """t: the tensor, `element_types.stored(dtype)`. It refuses to become a NumPy array or a number
    unasked; `item` and `tolist` wait for the device. functions: NumPy's by name, for operators."""

    __slots__ = ("dtype", "t")
    __array_ufunc__ = None
    functions: ClassVar[dict[str, Callable[..., Any]]] = {}

    def __init__(self, tensor: torch.Tensor, dtype: np.dtype | None = None) -> None:
        self.t = tensor
        self.dtype = element_types.element_type(tensor) if dtype is None else dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.t.shape)

    @property
    def ndim(self) -> int:
        return int(self.t.ndim)

    @property
    def size(self) -> int:
        return int(self.t.numel())

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        return tuple(n * self.dtype.itemsize for n in self.t.stride())

    @property
    def flags(self) -> Any:
        return SimpleNamespace(c_contiguous=self.t.is_contiguous(), writeable=True)

    @property
    def T(self) -> TorchArray:  # noqa: N802 - as NumPy calls it
        return self.like(self.t.permute(tuple(range(self.ndim)[::-1])))

    def like(self, tensor: torch.Tensor) -> TorchArray:
        """An array of this one's element type."""
        return TorchArray(tensor, self.dtype)

    def get(self) -> np.ndarray:
        """A copy on the host."""
        COUNTS.waits += 1
        return to_host(self)

    def item(self) -> Any:
        return self.get().item()

    def tolist(self) -> Any:
        return self.get().tolist()

    def copy(self) -> TorchArray:
        return self.like(self.t.clone(memory_format=torch.contiguous_format))

    @refused("astype")
    def astype(self, dtype: Any) -> TorchArray:
        """A copy in another element type, by PyTorch's own conversion."""
        to = np.dtype(dtype)
        found = element_types.cast(self.t, self.dtype, to)
        return TorchArray(found.clone() if found is self.t else found, to)

    @refused("reshape")
    def reshape(self, *shape: Any) -> TorchArray:
        sizes = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape
        return self.like(self.t.reshape(tuple(int(n) for n in sizes)))

    @refused("view")
    def view(self, dtype: Any) -> TorchArray:
        """The same bytes as elements of another type."""
        to = np.dtype(dtype)
        return TorchArray(self.t.view(element_types.stored(to)), to)

    def fill(self, value: Any) -> None:
        self[...] = value

    def __len__(self) -> int:
        return len(self.t)

    @refused("indexing")
    def __getitem__(self, index: Any) -> TorchArray:
        parts, turned = index_parts.parts(index, self.t.shape, index_tensor)
        found = self.t[parts]
        return self.like(found.flip(turned) if turned else found)

    @refused("indexing")
    def __setitem__(self, index: Any, value: Any) -> None:
        parts, turned = index_parts.parts(index, self.t.shape, index_tensor)
        tensor = stored_value(value, self.dtype, self.t.device)
        if turned:
            tensor = tensor.expand(self.t[parts].shape).flip(turned)
        self.t[parts] = tensor

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array or a Python number is not allowed")

    __array__ = __bool__ = __float__ = __int__ = __index__ = __iter__ = __complex__ = _refuse

    def _call(self, name: str, *operands: Any) -> Any:
        return self.functions[name](*operands)

    def __neg__(self) -> Any:
        return self._call("negative", self)

    def __invert__(self) -> Any:
        return self._call("invert", self)

    def __abs__(self) -> Any:
        return self._call("absolute", self)


def _operator(name: str, swapped: bool) -> Callable[[TorchArray, Any], Any]:
    def call(self: TorchArray, other: Any) -> Any:
        operands = (other, self) if swapped else (self, other)
        return self.functions[name](*operands)

    return call


_ARITHMETIC = {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "true_divide",
    "floordiv": "floor_divide", "mod": "remainder", "pow": "power", "matmul": "matmul",
    "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "left_shift", "rshift": "right_shift",
}  # fmt: skip
_COMPARING = {
    "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal", "eq": "equal",
    "ne": "not_equal",
}  # fmt: skip
for _name, _of in (_ARITHMETIC | _COMPARING).items():
    setattr(TorchArray, f"__{_name}__", _operator(_of, swapped=False))
for _name, _of in _ARITHMETIC.items():
    setattr(TorchArray, f"__r{_name}__", _operator(_of, swapped=True))


def index_tensor(part: Any) -> Any:
    """A part of a subscript as PyTorch takes it: bytes would be masks there."""
    if isinstance(part, TorchArray):
        return part.t if part.dtype == bool else element_types.numbers(part.t, part.dtype).long()
    if isinstance(part, np.ndarray):
        return torch.from_numpy(np.asarray(part, bool if part.dtype == bool else np.int64))
    if isinstance(part, bool | np.bool_):
        return torch.tensor(bool(part))
    return part


def stored_value(value: Any, dtype: np.dtype, device: Any) -> torch.Tensor:
    """What is written into an array of `dtype`: of an array or a number."""
    if isinstance(value, TorchArray):
        return element_types.cast(value.t, value.dtype, dtype)
    return from_host(np.asarray(value).astype(dtype), device).t


def from_host(array: np.ndarray, device: Any) -> TorchArray:
    """A copy on the device. Raises TypeError for element types that PyTorch has none for."""
    stored = element_types.stored(array.dtype)
    laid = np.array(array, order="C").reshape(array.shape)
    signed = laid.view(np.int16) if array.dtype == BFLOAT16 else _signed(laid)
    tensor = torch.from_numpy(signed)
    tensor = tensor.view(stored) if tensor.dtype != stored else tensor
    return TorchArray(tensor.to(device), array.dtype)


def to_host(array: TorchArray) -> np.ndarray:
    tensor = array.t.detach().cpu().resolve_conj().resolve_neg()
    if array.dtype == BFLOAT16:
        tensor = tensor.contiguous().view(torch.int16)
    return np.array(tensor.numpy()).view(array.dtype)


def _signed(array: np.ndarray) -> np.ndarray:
    unsigned = array.dtype.kind == "u" and array.dtype.itemsize > 1
    return array.view(f"i{array.dtype.itemsize}") if unsigned else array
