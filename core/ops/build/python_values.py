"""What is written in Python for constants, attributes and shapes, as the graph keeps it."""

from __future__ import annotations

from typing import Any, SupportsIndex

import numpy as np

from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Constant

_DTYPES = frozenset(DType)


def as_array(value: Any, dtype: DType | str | None) -> np.ndarray:
    if dtype is not None:
        return np.asarray(value, dtype=DType(dtype).numpy)
    array = np.asarray(value)
    if not isinstance(value, np.ndarray | np.generic):
        array = array.astype({"f": np.float32, "i": np.int32}.get(array.dtype.kind, array.dtype))
    return array


def attribute(value: Any, declared: Any = None) -> Any:
    """declared: what the op's record says of the attribute, its default or its type."""
    if type(value) is str and (declared is DType or isinstance(declared, DType)):
        return DType(value) if value in _DTYPES else value  # who infers types refuses others
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


def as_written(shape: Shape) -> str:
    """A shape of known rank as Python writes a tuple: `(3,)`."""
    sizes = ", ".join("?" if d is None else str(d) for d in shape)
    return f"({sizes},)" if shape.rank == 1 else f"({sizes})"
