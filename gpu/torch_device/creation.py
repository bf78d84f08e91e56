"""New arrays: of one number, of numbers that follow each other, of what the host has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from gradstep.gpu.torch_device import element_types
from gradstep.gpu.torch_device.operands import closed, lifted
from gradstep.gpu.torch_device.promotion import common, kind
from gradstep.gpu.torch_device.torch_array import TorchArray, from_host


def functions(device: Any) -> dict[str, Callable[..., Any]]:
    """Those that make arrays on `device`."""
    found = Creation(device)
    names = "empty zeros ones full arange array asarray"
    return {name: getattr(found, name) for name in names.split()} | _LIKE


class Creation:
    """NumPy's functions by name."""

    def __init__(self, device: Any) -> None:
        self._device = torch.device(device)

    def empty(self, shape: Any, dtype: Any = np.float64) -> TorchArray:
        to = np.dtype(dtype)
        tensor = torch.empty(_sizes(shape), dtype=element_types.stored(to), device=self._device)
        return TorchArray(tensor, to)

    def zeros(self, shape: Any, dtype: Any = np.float64) -> TorchArray:
        to = np.dtype(dtype)
        tensor = torch.zeros(_sizes(shape), dtype=element_types.stored(to), device=self._device)
        return TorchArray(tensor, to)

    def ones(self, shape: Any, dtype: Any = np.float64) -> TorchArray:
        return self.full(shape, 1, dtype)

    def full(self, shape: Any, value: Any, dtype: Any = None) -> TorchArray:
        made = self.empty(shape, common((kind(value),)) if dtype is None else dtype)
        made[...] = value
        return made

    def arange(self, *limits: Any, dtype: Any = None) -> TorchArray:
        return from_host(np.arange(*limits, dtype=dtype), self._device)

    def asarray(self, value: Any, dtype: Any = None) -> TorchArray:
        """The array itself where it is one of that type already."""
        if isinstance(value, TorchArray):
            return value if dtype is None or value.dtype == np.dtype(dtype) else value.astype(dtype)
        return from_host(np.asarray(value, dtype), self._device)

    def array(self, value: Any, dtype: Any = None) -> TorchArray:
        """A copy."""
        if isinstance(value, TorchArray):
            return value.copy() if dtype is None else value.astype(dtype)
        return from_host(np.asarray(value, dtype), self._device)


def _sizes(shape: Any) -> tuple[int, ...]:
    return tuple(int(n) for n in (shape if isinstance(shape, tuple | list) else (shape,)))


def _zeros_like(x: TorchArray, dtype: Any = None) -> TorchArray:
    return _full_like(x, 0, dtype)


def _ones_like(x: TorchArray, dtype: Any = None) -> TorchArray:
    return _full_like(x, 1, dtype)


def _full_like(x: TorchArray, value: Any, dtype: Any = None) -> TorchArray:
    to = x.dtype if dtype is None else np.dtype(dtype)
    if isinstance(value, TorchArray):
        return closed(lifted(value, to, x.t.device).expand(x.shape).clone(), to)
    number = element_types.narrowed(lifted(value, to, x.t.device), to)
    return TorchArray(number.expand(x.shape).contiguous(), to)


_LIKE: dict[str, Callable[..., Any]] = {
    "zeros_like": _zeros_like,
    "ones_like": _ones_like,
    "full_like": _full_like,
}
