"""The array namespace that kernels are given: NumPy's names, PyTorch's functions."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np

from gradstep.gpu.torch_device import (
    arrangement,
    creation,
    elementwise,
    linear_algebra,
    reductions,
    selection,
)
from gradstep.gpu.torch_device.refusals import refusing
from gradstep.gpu.torch_device.torch_array import TorchArray


class TorchNamespace:
    """`xp.add`, `xp.float32`, `xp.linalg.solve`, … on one device. A function that is not here fails
    with AttributeError: nothing is computed by NumPy in its place."""

    holds_bfloat16 = True

    def __init__(self, device: str) -> None:
        self.__dict__.update(_FUNCTIONS)
        for name, function in creation.functions(device).items():
            told = refusing(name, function, computes=name not in _MOVES)
            setattr(self, name, told)
        self.linalg = SimpleNamespace(**_told(linear_algebra.LINALG))
        tricks = SimpleNamespace(**_told(arrangement.STRIDE_TRICKS))
        self.lib = SimpleNamespace(stride_tricks=tricks)

    def __getattr__(self, name: str) -> Any:
        value = getattr(np, name, None)
        if isinstance(value, type) and issubclass(value, np.generic):
            return value
        raise AttributeError(f"PyTorch's arrays have no function '{name}'")


_MOVES = frozenset(("asarray", "empty"))  # they look at no number


def _told(functions: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    return {name: refusing(name, function) for name, function in functions.items()}


_FUNCTIONS = _told(
    {
        **elementwise.FUNCTIONS,
        **reductions.FUNCTIONS,
        **arrangement.FUNCTIONS,
        **selection.FUNCTIONS,
        **linear_algebra.FUNCTIONS,
    }
)
_FUNCTIONS["add"].at = refusing("add.at", elementwise.add_at)  # type: ignore[attr-defined]
TorchArray.functions.update(_FUNCTIONS)
