"""Names of inputs, as their ops declare them."""

from __future__ import annotations

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Edge, Graph
from gradstep.core.ops.declare.table import find


def input_name(graph: Graph, edge: Edge) -> str:
    """The name of an input; its number when its op is not known."""
    op = graph[edge.op]
    definition = find(op.type)
    try:
        names = () if definition is None else definition.arity(max(len(op.inputs), edge.index + 1))
    except GradstepError:
        names = ()
    return names[edge.index] if edge.index < len(names) else str(edge.index)
