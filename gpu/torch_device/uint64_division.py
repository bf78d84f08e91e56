"""Quotients and remainders of uint64, whose bits lie in int64: PyTorch has none of its own."""

from __future__ import annotations

import torch

from gradstep.gpu.torch_device.element_types import reversed_order


def _quotient(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Of half of x, doubled, which is one too small where the rest is no less than y."""
    x, y = torch.broadcast_tensors(x, y)
    positive = torch.where(y > 0, y, torch.ones_like(y))
    halves = (x >> 1) & ~(-1 << 63)
    twice = torch.div(halves, positive, rounding_mode="floor") << 1
    more = _no_less(x - twice * positive, positive)
    return torch.where(y > 0, twice + more, _no_less(x, y).long())  # y is 2^63 at least, or 0


def _remainder(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x - _quotient(x, y) * y


def _no_less(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return reversed_order(x) >= reversed_order(y)


DIVIDED = {"floor_divide": _quotient, "remainder": _remainder, "fmod": _remainder}
