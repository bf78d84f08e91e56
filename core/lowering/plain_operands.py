"""What all lowerings say in one way: casts, orders of axes, numbers as a tensor's element type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import Tensor, call


def ints(values: Sequence[int]) -> np.ndarray:
    return np.array(values, np.int32)


def scalar(x: Tensor, value: bool | int | float) -> np.ndarray:
    """A number of the element type of `x`."""
    return np.array(value, x.dtype.numpy)


def cast(x: Tensor, dtype: DType) -> Tensor:
    return x if x.dtype is dtype else call("Cast", x, DstT=dtype)


def transpose(x: Tensor, order: Sequence[int]) -> Tensor:
    return x if list(order) == list(range(len(order))) else call("Transpose", x, ints(order))


def add_axis(x: Tensor, axis: int) -> Tensor:
    return call("ExpandDims", x, np.int32(axis))
