"""Kernels that are one function of the array namespace, plain and with a place for the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Kernel = Callable[..., Any]


def ufunc_kernel(name: str) -> Kernel:
    def kernel(xp: Any, *inputs: Any) -> Any:
        return getattr(xp, name)(*inputs)

    return kernel


def ufunc_out_kernel(name: str) -> Kernel:
    def kernel(xp: Any, *inputs: Any, out: Any) -> Any:
        return getattr(xp, name)(*inputs, out=out)

    return kernel
