"""Static values of tensors: what gradient rules can know before running, to keep graphs small.

Each function gives a constant where the static types say enough, and an op otherwise.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import Tensor, call


def shape_of(x: Tensor, dtype: DType = DType.INT32) -> Tensor | np.ndarray:
    """The sizes of `x`, `dtype` [rank]."""
    if x.shape.is_static and max(x.shape.static(), default=0) <= np.iinfo(dtype.numpy).max:
        return np.array(x.shape.static(), dtype.numpy)
    return call("Shape", x) if dtype is DType.INT32 else call("Shape", x, out_type=dtype)


def constant_of(x: Tensor) -> np.ndarray | None:
    """The value of `x` when it does not depend on what is fed."""
    return x.builder.constant_value(x)


def reshape_like(g: Tensor, x: Tensor) -> Tensor:
    """`g` in the shape of `x`; no op where they are known to be equal."""
    if g.shape.is_static and g.shape == x.shape:
        return g
    return call("Reshape", g, shape_of(x))


def zeros_like(x: Tensor) -> Tensor:
    return call("ZerosLike", x)


def ones_like(x: Tensor) -> Tensor:
    return call("OnesLike", x)


def conj(x: Tensor) -> Tensor:
    """The complex conjugate of `x`; `x` itself where it is real."""
    return call("Conj", x) if x.dtype.is_complex else x


def select(condition: Any, x: Tensor, y: Tensor) -> Tensor:
    """`x` where `condition` holds, else `y`; equal shapes."""
    return call("Select", condition, x, y)


def all_axes(x: Tensor) -> Tensor | np.ndarray:
    """0, 1, … up to the rank of `x`, int32 [rank]."""
    if x.shape.rank is not None:
        return np.arange(x.shape.rank, dtype=np.int32)
    return call("Range", 0, call("Rank", x), 1)
