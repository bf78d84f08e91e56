"""What is written in Python for constants, attributes and shapes, as the graph keeps it."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from core.graph.dtypes import DType, Shape
from core.graph.model import Constant


def as_array(value: Any, dtype: DType | str | None) -> np.ndarray:
    if dtype is not None:
        return np.asarray(value, dtype=DType(dtype).numpy)
    array = np.asarray(value)
    if not isinstance(value, np.ndarray | np.generic):
        array = array.astype({"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype))
    return array


def attribute(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return Constant(value)
    if isinstance(value, list):
        return tuple(value)
    return value


def as_shape(shape: Any) -> Shape:
    if shape is None or isinstance(shape, Shape):
        return shape or Shape(None)
    if isinstance(shape, SupportsIndex):
        return Shape((int(shape),))
    return Shape(tuple(None if d is None else int(d) for d in shape))
