"""Kernels whose operands or results go through a function: how devices are imitated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

Kernel = Callable[..., Any]
Change = Callable[[Any], Any]


def with_inputs(change: Change, kernel: Kernel) -> Kernel:
    return lambda *inputs: kernel(*map(change, inputs))


def with_results(change: Change, kernel: Kernel) -> Kernel:
    def changed(*inputs: Any) -> Any:
        result = kernel(*inputs)
        if isinstance(result, tuple | list):
            return tuple(map(change, result))
        return change(result)

    return changed
