"""Kernels that are one function of the array namespace, plain and with a place for the result."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

BLOCK = 1 << 14  # elements, 64 KiB of float32: a few such parts at a time stay in the cache
Kernel = Callable[..., Any]
Calls = Iterator[tuple[Any, ...]]  # a function and its arguments


def ufunc_kernel(name: str) -> Kernel:
    def kernel(xp: Any, *inputs: Any) -> Any:
        return getattr(xp, name)(*inputs)

    return kernel


def ufunc_out_kernel(name: str) -> Kernel:
    def kernel(xp: Any, *inputs: Any, out: Any) -> Any:
        return getattr(xp, name)(*inputs, out=out)

    return kernel


def from_calls(calls: Kernel) -> Kernel:
    """The kernel that makes the calls which `calls` lists, with room for them from nowhere."""

    def kernel(xp: Any, *inputs: Any, out: Any, **attrs: Any) -> Any:
        for function, *arguments in calls(xp, *inputs, out=out, room=xp.empty, **attrs):
            function(*arguments)
        return out

    return keywords_of(calls, kernel)


def keywords_of(calls: Kernel, kernel: Kernel) -> Kernel:
    """`kernel`, which shows the keyword-only parameters of `calls` as its own."""
    signature = inspect.signature(calls)
    shown = [p for p in signature.parameters.values() if p.name != "room"]
    kernel.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return kernel
