"""Kernels that are one function of the array namespace, plain and with a place for the result."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from gradstep.core.ops.declare.parted_calls import make_calls

Kernel = Callable[..., Any]
Calls = Iterator[Any]  # tuples of a function and its arguments, and Parts of such calls
_PARTS = 16  # blocks that are to be in the cache at a time
_SMALLEST_BLOCK = 1 << 14  # with smaller ones, the calls themselves take the time
_CACHE = Path("/sys/devices/system/cpu/cpu0/cache/index2/size")


def _block() -> int:
    """Elements of float32 such that a few parts of that many stay in the second-level cache: a
    power of two. Where the system does not tell the cache's size, what suits a small one."""
    try:
        kibibytes = int(_CACHE.read_text().strip().removesuffix("K"))
    except (OSError, ValueError):
        return _SMALLEST_BLOCK
    fitting = kibibytes * 1024 // (_PARTS * 4)
    return min(max(1 << fitting.bit_length() - 1, _SMALLEST_BLOCK), 2 * _SMALLEST_BLOCK)


BLOCK = _block()


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
        make_calls(calls(xp, *inputs, out=out, room=xp.empty, **attrs), xp.empty)
        return out

    return keywords_of(calls, kernel)


def keywords_of(calls: Kernel, kernel: Kernel) -> Kernel:
    """`kernel`, which shows the keyword-only parameters of `calls` as its own."""
    signature = inspect.signature(calls)
    shown = [p for p in signature.parameters.values() if p.name != "room"]
    kernel.__signature__ = signature.replace(parameters=shown)  # type: ignore[attr-defined]
    return kernel
