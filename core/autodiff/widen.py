"""The same graph in float64 (complex128), as the reference for differences and comparisons."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.graph.dtypes import DType
from core.graph.model import Constant, Graph, Operation
from core.ops.philox import DRAWN_AS
from core.ops.table import find

_WIDER = {
    DType.FLOAT16: DType.FLOAT64,
    DType.FLOAT32: DType.FLOAT64,
    DType.COMPLEX64: DType.COMPLEX128,
}
_KINDS = {"f": np.float64, "c": np.complex128}


def widen(graph: Graph) -> Graph:
    """`graph` with every floating-point and complex attribute and constant made as wide."""
    return Graph.of(widen_operation(op) for op in graph)


def widen_operation(op: Operation) -> Operation:
    """A random operation draws the same numbers, and then widens them."""
    wide = {key: _wide(value) for key, value in op.attrs.items()}
    definition = find(op.type)
    if definition is not None and definition.counter and "dtype" in op.attrs:
        wide[DRAWN_AS] = op.attrs["dtype"]
    return op.with_attrs(**wide)


def widen_array(array: np.ndarray) -> np.ndarray:
    """Floating-point arrays in float64, complex ones in complex128; others as they are."""
    return np.asarray(array, _KINDS.get(array.dtype.kind))


def _wide(value: Any) -> Any:
    if isinstance(value, DType):
        return _WIDER.get(value, value)
    if isinstance(value, Constant) and value.array.dtype.kind in _KINDS:
        return Constant(widen_array(value.array))
    if isinstance(value, tuple):
        return tuple(_wide(v) for v in value)
    return value
