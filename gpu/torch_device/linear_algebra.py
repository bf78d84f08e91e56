"""Matrices: products, and what `numpy.linalg` has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from gradstep.gpu.torch_device.operands import closed, lifted
from gradstep.gpu.torch_device.promotion import loop
from gradstep.gpu.torch_device.torch_array import TorchArray


def _matmul(x: TorchArray, y: TorchArray, place: Any = None, out: Any = None) -> TorchArray:
    takes, gives = loop("matmul", (x.dtype, y.dtype))
    a, b = (lifted(v, d, x.t.device) for v, d in zip((x, y), takes, strict=True))
    if a.dtype == torch.bool:
        a, b = a.to(torch.uint8), b.to(torch.uint8)
    multiply = torch.matmul if x.t.is_cpu or a.is_floating_point() or a.is_complex() else by_limbs
    return closed(multiply(a, b), gives, place if out is None else out)


_LIMB, _TERMS = 16, 1 << 20  # products of 16 bits, of which float64 holds the sum of 2^21 exactly


def by_limbs(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """A product of integer matrices, modulo the range of their type: PyTorch has none on a card.
    It is put together from products of 16 bits of each, which float64 holds."""
    count = -(-8 * a.element_size() // _LIMB)
    total: Any = 0
    for start in range(0, max(1, a.shape[-1]), _TERMS):
        left = _limbs(a[..., start : start + _TERMS], count)
        rows = b[start : start + _TERMS] if b.dim() == 1 else b[..., start : start + _TERMS, :]
        right = _limbs(rows, count)
        for low in range(count):
            for high in range(count - low):
                product = torch.matmul(left[low], right[high]).to(torch.int64)
                total = total + (product << _LIMB * (low + high))
    found: torch.Tensor = total.to(a.dtype)
    return found


def _limbs(x: torch.Tensor, count: int) -> list[torch.Tensor]:
    """The bits of each element, 16 at a time from the lowest, as numbers of float64."""
    wide, mask = x.to(torch.int64), (1 << _LIMB) - 1
    return [((wide >> _LIMB * i) & mask).to(torch.float64) for i in range(count)]


def _of_matrices(name: str) -> Callable[..., Any]:
    compute = getattr(torch.linalg, name)

    def call(*arrays: TorchArray, **named: Any) -> Any:
        found = compute(*(x.t for x in arrays), **named)
        return tuple(map(TorchArray, found)) if isinstance(found, tuple) else TorchArray(found)

    return call


FUNCTIONS: dict[str, Callable[..., Any]] = {"matmul": _matmul}
LINALG = {
    name: _of_matrices(name)
    for name in "cholesky det eigh eigvalsh inv qr slogdet solve svd".split()
}
