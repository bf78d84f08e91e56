"""Variables that a function took from outside, of which its graph has a placeholder for the handle.

It becomes a variable without a value, which is asked for, as that of any other is: an initial
value, or one out of a checkpoint.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape
from gradstep.core.graph.model import Graph, Operation

# What reads a variable through its handle, all with its element type as attribute `dtype`.
_READS = frozenset({"ReadVariableOp", "ResourceGather", "ResourceGatherNd"})
_PASSES = frozenset({"Identity", "Switch", "Enter"})


def with_captured_variables(graph: Graph) -> Graph:
    """`graph`, in which placeholders of handles that are read as variables are variables."""
    handles = [
        name
        for name in graph.of_types(["Placeholder"])
        if graph[name].attrs.get("dtype") is DType.RESOURCE
    ]
    made = {name: kind for name in handles if (kind := _kind(graph, name)) is not None}
    if not made:
        return graph
    return Graph.of(_variable(op, made[op.name]) if op.name in made else op for op in graph)


def _kind(graph: Graph, name: str) -> dict[str, Any] | None:
    """Element type and shape, as who reads it says; None where nobody does."""
    for edge in graph.consumers[name]:
        op = graph[edge.op]
        dtype = op.attrs.get("dtype")
        if op.type in _READS and isinstance(dtype, DType):
            return {"dtype": dtype, "shape": _shape(op)}
        if op.type in _PASSES and (found := _kind(graph, op.name)) is not None:
            return found
    return None


def _shape(read: Operation) -> Shape:
    said = read.attrs.get("_output_shapes")
    if read.type != "ReadVariableOp" or not isinstance(said, tuple) or not said:
        return UNKNOWN
    return said[0] if isinstance(said[0], Shape) else UNKNOWN


def _variable(op: Operation, kind: dict[str, Any]) -> Operation:
    return replace(op, type="VarHandleOp", attrs={**kind, "shared_name": op.name, "container": ""})
