"""Arrays turned, joined, repeated and padded: no number changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from gradstep.gpu.torch_device.element_types import cast
from gradstep.gpu.torch_device.operands import closed
from gradstep.gpu.torch_device.promotion import common
from gradstep.gpu.torch_device.torch_array import TorchArray, stored_value


def _joined(arrays: Sequence[TorchArray]) -> tuple[list[torch.Tensor], np.dtype]:
    to = common(tuple(x.dtype for x in arrays))
    return [cast(x.t, x.dtype, to) for x in arrays], to


def _concatenate(arrays: Sequence[TorchArray], axis: int = 0, out: Any = None) -> TorchArray:
    tensors, to = _joined(arrays)
    return closed(torch.cat(tensors, dim=int(axis)), to, out)


def _stack(arrays: Sequence[TorchArray], axis: int = 0) -> TorchArray:
    tensors, to = _joined(arrays)
    return TorchArray(torch.stack(tensors, dim=int(axis)), to)


def _transpose(x: TorchArray, axes: Any = None) -> TorchArray:
    return x.T if axes is None else x.like(x.t.permute(tuple(int(a) for a in axes)))


def _moveaxis(x: TorchArray, source: Any, destination: Any) -> TorchArray:
    return x.like(torch.movedim(x.t, source, destination))


def _swapaxes(x: TorchArray, a: int, b: int) -> TorchArray:
    return x.like(x.t.transpose(a, b))


def _expand_dims(x: TorchArray, axis: int) -> TorchArray:
    return x.like(x.t.unsqueeze(int(axis)))


def _squeeze(x: TorchArray, axis: Any = None) -> TorchArray:
    gone = [a for a, n in enumerate(x.shape) if n == 1] if axis is None else axis
    gone = gone if isinstance(gone, tuple | list) else (gone,)
    taken = {int(a) % x.ndim for a in gone}
    return x.reshape(tuple(n for a, n in enumerate(x.shape) if a not in taken))


def _reshape(x: TorchArray, shape: Any) -> TorchArray:
    return x.reshape(shape)


def _broadcast_to(x: TorchArray, shape: Sequence[int]) -> TorchArray:
    return x.like(x.t.expand(tuple(int(n) for n in shape)))


def _flip(x: TorchArray, axis: Any = None) -> TorchArray:
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    return x.like(x.t.flip(tuple(int(a) for a in axes)))


def _roll(x: TorchArray, shift: Any, axis: Any = None) -> TorchArray:
    return x.like(torch.roll(x.t, shift, axis))


def _tile(x: TorchArray, times: Any) -> TorchArray:
    counts = times if isinstance(times, tuple | list) else (times,)
    return x.like(torch.tile(x.t, tuple(int(n) for n in counts)))


def _pad(x: TorchArray, pairs: Any, mode: str = "constant") -> TorchArray:
    """Of the modes, those whose elements come from the array, by their places; and zeros."""
    sides = [(0, 0)] * x.ndim if isinstance(pairs, int) else [*pairs]
    if mode == "constant":
        flat = [int(n) for pair in reversed(sides) for n in pair]
        return x.like(torch.nn.functional.pad(x.t, flat)) if flat else x.copy()
    tensor = x.t
    for axis, (before, after) in enumerate(sides):
        places = np.pad(np.arange(tensor.shape[axis]), (before, after), mode=mode)  # type: ignore[call-overload]
        tensor = tensor.index_select(axis, torch.from_numpy(places).to(tensor.device))
    return x.like(tensor)


def _copyto(target: TorchArray, source: Any) -> None:
    target.t.copy_(stored_value(source, target.dtype, target.t.device))


def _as_strided(x: TorchArray, shape: Sequence[int], strides: Sequence[int]) -> TorchArray:
    steps = tuple(int(n) // x.dtype.itemsize for n in strides)
    sizes = tuple(int(n) for n in shape)
    return x.like(torch.as_strided(x.t, sizes, steps, x.t.storage_offset()))


def _real(x: TorchArray) -> TorchArray:
    return TorchArray(x.t.real) if x.dtype.kind == "c" else x


def _imag(x: TorchArray) -> TorchArray:
    return TorchArray(x.t.imag) if x.dtype.kind == "c" else x.like(torch.zeros_like(x.t))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "concatenate": _concatenate,
    "stack": _stack,
    "transpose": _transpose,
    "moveaxis": _moveaxis,
    "swapaxes": _swapaxes,
    "expand_dims": _expand_dims,
    "squeeze": _squeeze,
    "reshape": _reshape,
    "broadcast_to": _broadcast_to,
    "flip": _flip,
    "roll": _roll,
    "tile": _tile,
    "pad": _pad,
    "copyto": _copyto,
    "real": _real,
    "imag": _imag,
}
STRIDE_TRICKS = {"as_strided": _as_strided}
