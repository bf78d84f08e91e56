"""A graph as NetworkX has it, for algorithms and for users who bring their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gradstep.core.graph.model import Graph

if TYPE_CHECKING:
    from networkx import MultiDiGraph


def to_networkx(graph: Graph) -> MultiDiGraph:
    """A node for each operation, an edge for each wire and each control dependency, the way that
    they lead.

    Nodes are names; they have `type`, `scope`, `device`, `origin`, `phase` ("forward", "backward",
    "update") and `attrs`, the operation's own attributes by name. An edge has `kind`: "data", with
    the numbers of the `output` that it leaves and the `input` that it enters, or "control". A loop
    is one node: what is inside stands in a graph of its own
    (`gradstep.core.ops.typing.flatten_loops.flatten_loops` unfolds it). What an edge leads from,
    but the graph does not have, is no node, and the edge is left out.
    """
    import networkx

    found = networkx.MultiDiGraph()
    for op in graph:
        found.add_node(
            op.name,
            type=op.type,
            scope=op.scope,
            device=op.device,
            origin=op.origin,
            phase=op.phase.value,
            attrs=dict(op.attrs),
        )
    for op in graph:
        for number, ref in enumerate(op.inputs):
            if ref is not None and ref.op in graph:
                found.add_edge(ref.op, op.name, kind="data", output=ref.index, input=number)
        for name in op.control_inputs:
            if name in graph:
                found.add_edge(name, op.name, kind="control")
    return found
