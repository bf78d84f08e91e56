"""What PyTorch cannot do, in one line: its own errors as those that the engine knows."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import torch

from gradstep.core.errors import GradstepError
from gradstep.gpu.torch_device.counts import COUNTS

Call = Callable[..., Any]
Function = TypeVar("Function", bound=Call)
_SHAPES = ("must match", "shape", "size", "dimension", "broadcast")
_MEMORY = ("not enough memory", "out of memory", "can't allocate")
_LOST = ("CUDA error", "HIP error", "XPU error")  # of the driver's, after which nothing works


def refusing(name: str, function: Call, *, computes: bool = True) -> Call:
    """`function`, called `name` in NumPy, with PyTorch's errors told as the engine tells errors.
    computes: whether its calls are counted."""

    @functools.wraps(function, assigned=())
    def call(*args: Any, **named: Any) -> Any:
        COUNTS.computed += computes
        try:
            return function(*args, **named)
        except (RuntimeError, TypeError) as error:
            raise told(name, error) from error

    return call


def refused(name: str) -> Callable[[Function], Function]:
    """The same, of a method."""

    def decorate(function: Function) -> Function:
        return cast("Function", refusing(name, function))

    return decorate


def told(name: str, error: Exception) -> Exception:
    """The error that is raised instead."""
    text = " ".join(str(error).split("\n")[0].split())
    if isinstance(error, torch.linalg.LinAlgError):
        return np.linalg.LinAlgError(text)
    if isinstance(error, torch.OutOfMemoryError) or any(sign in text for sign in _MEMORY):
        return MemoryError(text)
    if text.startswith(_LOST):
        return RuntimeError(text)
    if type(error) is RuntimeError and any(sign in text for sign in _SHAPES):
        return ValueError(text)
    return refusal(name, text)


def refusal(name: str, text: str) -> GradstepError:
    """That there is no such function for such arrays."""
    return GradstepError(
        f"PyTorch does not compute '{name}' here: {text}",
        kind="UnimplementedError",
        hint="this operation runs on the device cpu",
    )
