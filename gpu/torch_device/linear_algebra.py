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
    return closed(torch.matmul(a, b), gives, place if out is None else out)


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
