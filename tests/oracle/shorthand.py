"""What the checks write again and again: small arrays, one element, a whole reduction."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import Tensor, call


def ints(*values: Any) -> np.ndarray:
    """int32, as axes, shapes and indices are."""
    return np.array(values, np.int32)


def whole(value: int) -> np.ndarray:
    return np.array(value, np.int32)


def vector(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def like(value: Any, x: Tensor) -> Tensor:
    """`value` as a constant of x's element type."""
    return x.builder.tensor(value, dtype=x.dtype)


def element(x: Any, index: int) -> Tensor:
    """x[index]"""
    bounds = ints(index), ints(index + 1), ints(1)
    return call("StridedSlice", x, *bounds, shrink_axis_mask=1)


def every_axis(x: Tensor) -> np.ndarray:
    return ints(*range(x.shape.rank or 0))


def total(x: Tensor, op_type: str = "Sum", keep: bool = False) -> Tensor:
    """A reduction over every axis."""
    return call(op_type, x, every_axis(x), keep_dims=keep)
