"""Element types: those of NumPy, and in what PyTorch's tensors they lie.

PyTorch moves, adds and compares hardly any unsigned integers but bytes. So uint16, uint32 and
uint64 lie in tensors of the signed type of their width, bit by bit; `numbers` widens the first two
to int64 for arithmetic, and `narrowed` brings results back, modulo their range as NumPy does.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from gradstep.core.graph.number_kinds import BFLOAT16

_NAMES = "bool int8 uint8 int16 int32 int64 float16 float32 float64 complex64 complex128".split()
_OF_TENSORS = {getattr(torch, name): np.dtype(name) for name in _NAMES}
_OF_TENSORS[torch.bfloat16] = BFLOAT16
_STORED = {dtype: stored for stored, dtype in _OF_TENSORS.items()}
_SIGNED = {"uint16": torch.int16, "uint32": torch.int32, "uint64": torch.int64}
_STORED.update({np.dtype(name): stored for name, stored in _SIGNED.items()})

SHORT_UNSIGNED = frozenset(map(np.dtype, ("uint16", "uint32")))
UINT64 = np.dtype(np.uint64)
_MASKS = {np.dtype("uint16"): 0xFFFF, np.dtype("uint32"): 0xFFFFFFFF}
_TOP = -(1 << 63)


def stored(dtype: Any) -> torch.dtype:
    """The type of the tensor that holds elements of a NumPy type. Raises TypeError for none."""
    found = _STORED.get(np.dtype(dtype))
    if found is None:
        raise TypeError(f"PyTorch has no {np.dtype(dtype).name}")
    return found


def computed(dtype: np.dtype) -> torch.dtype:
    """The type of the tensor in which elements of a NumPy type are computed."""
    return torch.int64 if dtype in SHORT_UNSIGNED else stored(dtype)


def element_type(tensor: torch.Tensor) -> np.dtype:
    """The NumPy type of a tensor's elements, unless they are unsigned ones in disguise."""
    return _OF_TENSORS[tensor.dtype]


def numbers(tensor: torch.Tensor, dtype: np.dtype) -> torch.Tensor:
    """What is stored as `dtype` as numbers of their value; those of uint64 stay as they are."""
    return tensor.to(torch.int64) & _MASKS[dtype] if dtype in SHORT_UNSIGNED else tensor


def cast(tensor: torch.Tensor, source: np.dtype, target: np.dtype) -> torch.Tensor:
    """What is stored as `source`, stored as `target`."""
    if source == target:
        return tensor
    return narrowed(converted(tensor, source, target), target)


def converted(tensor: torch.Tensor, source: np.dtype, target: np.dtype) -> torch.Tensor:
    """What is stored as `source`, to be computed as `target`."""
    if source == UINT64 and target.kind not in "iub":
        return _from_uint64(tensor, stored(target))
    if source.kind == "c" and target.kind not in "cb":
        tensor = tensor.real
    if target in SHORT_UNSIGNED and source.kind not in "iu":
        tensor = tensor.to(torch.int64)
    return numbers(tensor, source).to(computed(target))


def narrowed(tensor: torch.Tensor, dtype: np.dtype) -> torch.Tensor:
    """A result of arithmetic, as it is stored."""
    to = stored(dtype)
    return tensor if tensor.dtype == to else tensor.to(to)


def reversed_order(tensor: torch.Tensor) -> torch.Tensor:
    """uint64 as int64 of the same order, and back."""
    return tensor ^ _TOP


def _from_uint64(tensor: torch.Tensor, to: torch.dtype) -> torch.Tensor:
    """Numbers above int64's as twice their rounded halves."""
    halves = ((tensor >> 1) & ~_TOP) | (tensor & 1)
    return torch.where(tensor < 0, halves.to(to) * 2, tensor.to(to))
