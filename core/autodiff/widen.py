"""The same graph in float64, as the reference that finite differences and comparisons use."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.graph.dtypes import DType
from core.graph.model import Constant, Graph, Operation
from core.ops.philox import DRAWN_AS
from core.ops.table import find

_NARROW = (DType.FLOAT16, DType.FLOAT32)


def widen(graph: Graph) -> Graph:
    """`graph` with every float16 and float32 attribute and constant made float64."""
    return Graph.of(widen_operation(op) for op in graph)


def widen_operation(op: Operation) -> Operation:
    """A random operation draws the same numbers, and then widens them."""
    wide = {key: _wide(value) for key, value in op.attrs.items()}
    definition = find(op.type)
    if definition is not None and definition.counter and "dtype" in op.attrs:
        wide[DRAWN_AS] = op.attrs["dtype"]
    return op.with_attrs(**wide)


def widen_array(array: np.ndarray) -> np.ndarray:
    """Floating-point arrays in float64; others as they are."""
    return np.asarray(array, np.float64 if array.dtype.kind == "f" else None)


def _wide(value: Any) -> Any:
    if isinstance(value, DType):
        return DType.FLOAT64 if value in _NARROW else value
    if isinstance(value, Constant) and value.array.dtype.kind == "f":
        return Constant(value.array.astype(np.float64))
    if isinstance(value, tuple):
        return tuple(_wide(v) for v in value)
    return value
