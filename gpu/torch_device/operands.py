"""Operands as tensors of one element type, and results as arrays: what all functions share."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from gradstep.gpu.torch_device import element_types
from gradstep.gpu.torch_device.torch_array import TorchArray

_HOST = torch.device("cpu")


def device_of(values: Any) -> torch.device:
    """Where the first array among the operands lies."""
    for x in values:
        if isinstance(x, TorchArray):
            return x.t.device
    return _HOST


def lifted(value: Any, dtype: np.dtype, device: torch.device) -> torch.Tensor:
    """An array or a number, to be computed as `dtype`. Raises TypeError for anything else, arrays
    on the host among it."""
    if isinstance(value, TorchArray):
        if value.dtype == dtype and dtype not in element_types.SHORT_UNSIGNED:
            return value.t
        return element_types.converted(value.t, value.dtype, dtype)
    if isinstance(value, np.ndarray):
        raise TypeError("an array on the host beside one on the device")
    number = value.item() if isinstance(value, np.generic) else value
    if dtype == element_types.UINT64 and number >= 1 << 63:
        number -= 1 << 64
    if dtype.kind in "iu" and isinstance(number, float):
        number = int(number)
    return torch.tensor(number, dtype=element_types.computed(dtype), device=device)


def ordered(x: TorchArray) -> torch.Tensor:
    """The elements such that PyTorch, which takes uint64 for int64, has them in their order."""
    tensor = lifted(x, x.dtype, x.t.device)
    return element_types.reversed_order(tensor) if x.dtype == element_types.UINT64 else tensor


def unordered(tensor: torch.Tensor, dtype: np.dtype) -> torch.Tensor:
    """Such elements as they were."""
    return element_types.reversed_order(tensor) if dtype == element_types.UINT64 else tensor


def closed(tensor: torch.Tensor, dtype: np.dtype, out: Any = None) -> TorchArray:
    """A result of arithmetic as an array of `dtype`; `out` where that is given, and holds it."""
    found = TorchArray(element_types.narrowed(tensor, dtype), dtype)
    if out is None:
        return found
    place: TorchArray = out[0] if isinstance(out, tuple) else out
    place.t.copy_(element_types.cast(found.t, dtype, place.dtype))
    return place
