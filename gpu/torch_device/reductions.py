"""Sums, products, extremes and running totals, by PyTorch's own functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from gradstep.gpu.torch_device.operands import closed, lifted, ordered, unordered
from gradstep.gpu.torch_device.promotion import summed
from gradstep.gpu.torch_device.torch_array import TorchArray

Compute = Callable[..., torch.Tensor]


def _axes(x: TorchArray, axis: Any) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(x.ndim))
    return tuple(int(a) % x.ndim for a in (axis if isinstance(axis, tuple | list) else (axis,)))


def _totalled(name: str, compute: Compute) -> Compute:
    """The sum or the product: in `dtype`, that of NumPy by default."""

    def reduce(
        x: TorchArray, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> TorchArray:
        to = summed(name, x.dtype) if dtype is None else np.dtype(dtype)
        axes, tensor = _axes(x, axis), lifted(x, to, x.t.device)
        return closed(compute(tensor, axes, keepdims) if axes else tensor.clone(), to, out)

    return reduce


def _sum(x: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    return torch.sum(x, dim=axes, keepdim=keepdims, dtype=x.dtype)


def _prod(x: torch.Tensor, axes: tuple[int, ...], keepdims: bool) -> torch.Tensor:
    for axis in sorted(axes, reverse=True):
        x = torch.prod(x, dim=axis, keepdim=keepdims, dtype=x.dtype)
    return x


def _extreme(compute: Compute) -> Callable[..., TorchArray]:
    def reduce(x: TorchArray, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        axes, tensor = _axes(x, axis), ordered(x)
        if any(x.shape[a] == 0 for a in axes):
            raise ValueError("zero-size array to reduction operation which has no identity")
        found = compute(tensor, dim=axes, keepdim=keepdims) if axes else tensor.clone()
        return closed(unordered(found, x.dtype), x.dtype, out)

    return reduce


def _place(compute: Compute) -> Callable[..., TorchArray]:
    def find(x: TorchArray, axis: int | None = None, *, keepdims: bool = False) -> TorchArray:
        tensor = ordered(x)
        tensor = tensor.to(torch.uint8) if tensor.dtype == torch.bool else tensor
        if axis is None:
            tensor, axis = tensor.reshape(-1), 0
        return TorchArray(compute(tensor, dim=axis, keepdim=keepdims))

    return find


def _of_all(compute: Compute) -> Callable[..., TorchArray]:
    """any or all, over several axes one after the other."""

    def reduce(x: TorchArray, axis: Any = None, *, keepdims: bool = False) -> TorchArray:
        found = x.t.to(torch.bool)
        for a in sorted(_axes(x, axis), reverse=True):
            found = compute(found, dim=a, keepdim=keepdims)
        return TorchArray(found)

    return reduce


def _running(name: str, compute: Compute) -> Callable[..., TorchArray]:
    def run(x: TorchArray, axis: int | None = None, dtype: Any = None, out: Any = None) -> Any:
        to = summed(name, x.dtype) if dtype is None else np.dtype(dtype)
        tensor = lifted(x, to, x.t.device)
        if axis is None:
            tensor, axis = tensor.reshape(-1), 0
        return closed(compute(tensor, dim=axis, dtype=tensor.dtype), to, out)

    return run


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sum": _totalled("sum", _sum),
    "prod": _totalled("prod", _prod),
    "max": _extreme(torch.amax),
    "min": _extreme(torch.amin),
    "argmax": _place(torch.argmax),
    "argmin": _place(torch.argmin),
    "any": _of_all(torch.any),
    "all": _of_all(torch.all),
    "cumsum": _running("cumsum", torch.cumsum),
    "cumprod": _running("cumprod", torch.cumprod),
}
