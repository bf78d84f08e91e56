"""The same graph in float64 (complex128), as the reference for differences and comparisons."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.loop import LOOP, everywhere, loop_of
from gradstep.core.graph.model import Constant, Graph, Operation
from gradstep.core.graph.number_kinds import kind_of
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.numerics.philox import DRAWN_AS
from gradstep.core.ops.typing.inference import Inferrer
from gradstep.core.ops.typing.invalid_operations import without_types

_WIDER = {
    DType.FLOAT16: DType.FLOAT64,
    DType.BFLOAT16: DType.FLOAT64,
    DType.FLOAT32: DType.FLOAT64,
    DType.COMPLEX64: DType.COMPLEX128,
}
_KINDS = {"f": np.float64, "c": np.complex128}


def widen(graph: Graph) -> Graph:
    """`graph` with every floating-point and complex attribute and constant made as wide, in the
    graphs of its loops, too."""
    wide = everywhere(graph, lambda part: Graph.of(widen_operation(op) for op in part))
    return fit_loops(wide) if any(loop_of(op) for op in wide) else wide


def fit_loops(graph: Graph) -> Graph:
    """`graph` whose loops take what comes in as it is: a TensorArray's flow stays float32."""
    inferrer = Inferrer()
    lost = without_types(graph)  # what a loop goes round without
    made: dict[str, Operation] = {}
    for name in graph.order:
        op = graph[name]
        loop = loop_of(op)
        if loop is not None:
            given = [inferrer.types[ref].dtype for ref in op.inputs if ref is not None]
            types = dict(zip(loop.arguments, given, strict=True))
            inner = Graph.of(
                part.with_attrs(T=types[part.name]) if part.name in types else part
                for part in loop.graph
            )
            op = op.with_attrs(**{LOOP: replace(loop, graph=fit_loops(inner))})
        if name not in lost:
            inferrer.infer(op)
        made[name] = op
    return Graph({name: made[name] for name in graph.operations})


def widen_operation(op: Operation) -> Operation:
    """A random operation draws the same numbers, and then widens them."""
    wide = {key: _wide(value) for key, value in op.attrs.items()}
    definition = find(op.type)
    if definition is not None and definition.state.counter and "dtype" in op.attrs:
        wide[DRAWN_AS] = op.attrs["dtype"]
    return op.with_attrs(**wide)


def widen_array(array: np.ndarray) -> np.ndarray:
    """Floating-point arrays in float64, complex ones in complex128; others as they are."""
    return np.asarray(array, _KINDS.get(kind_of(array.dtype)))


def _wide(value: Any) -> Any:
    if isinstance(value, DType):
        return _WIDER.get(value, value)
    if isinstance(value, Constant) and kind_of(value.array.dtype) in _KINDS:
        return Constant(widen_array(value.array))
    if isinstance(value, tuple):
        return tuple(_wide(v) for v in value)
    return value
