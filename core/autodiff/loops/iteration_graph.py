"""One iteration of a loop as a graph of its own, to be differentiated."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from gradstep.core.graph.dtypes import UNKNOWN, TensorType
from gradstep.core.graph.loop import Loop
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops.declare.table import branch_of
from gradstep.core.ops.typing.invalid_operations import without_types


def make_iteration_graph(loop: Loop, kinds: Mapping[str, TensorType]) -> Graph:
    """The iteration without its own Switches, which only say that it takes place, and without what
    cannot run and does not go round; the arguments with what is known of them here."""
    switches = {
        op.name: op.inputs[0]
        for op in loop.graph
        if branch_of(op.type) == "switch" and op.inputs[1] == loop.cond
    }

    def passed(ref: TensorRef | None) -> TensorRef | None:
        return switches[ref.op] if ref is not None and ref.op in switches else ref

    operations = {}
    lost = without_types(loop.graph)
    for name in loop.graph.order:
        op = loop.graph[name]
        if name in kinds:
            op = op.with_attrs(shape=kinds[name].shape)
        if name not in switches and name not in lost:
            operations[name] = replace(op, inputs=tuple(passed(ref) for ref in op.inputs))
    return Graph.ordered(operations)


def free_shapes(graph: Graph, variables: Collection[str]) -> Graph:
    """`graph`, whose loop variables may have any shape: less may be known of a gradient that goes
    back than of what it starts with."""
    return Graph.ordered(
        {op.name: op.with_attrs(shape=UNKNOWN) if op.name in variables else op for op in graph}
    )
