"""Paths through variables: what was assigned is read again, but no gradient flows back there."""

from __future__ import annotations

from collections import deque

from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.declare.table import find


def find_assignments(graph: Graph, start: str, end: str) -> tuple[Operation, ...]:
    """The assignments by which operation `start` leads to `end`, on the way that has the fewest
    operations, the first assignment first; none where there is no such way."""
    came: dict[str, tuple[str, Operation | None]] = {start: ("", None)}
    queue = deque([start])
    while queue and end not in came:
        name = queue.popleft()
        for edge in graph.consumers[name]:
            op = graph[edge.op]
            if op.name not in came:
                came[op.name] = name, None
                queue.append(op.name)
            for variable in find_assigned_variables(graph, op):
                if variable not in came:
                    came[variable] = op.name, op
                    queue.append(variable)
    found, at = [], end
    while at and at in came:
        at, by = came[at]
        found += [] if by is None else [by]
    return tuple(reversed(found))


def find_assigned_variables(graph: Graph, op: Operation) -> list[str]:
    """The variables that `op` gives values to."""
    definition = find(op.type)
    writes = () if definition is None else definition.state.writes
    handles = (op.inputs[i] for i in writes if i < len(op.inputs))
    return [_declared_by(graph, ref) for ref in handles if ref is not None]


def _declared_by(graph: Graph, ref: TensorRef) -> str:
    """The variable that a handle leads to, whatever passes it on."""
    op, passed = graph[ref.op], set[str]()
    while op.inputs and op.inputs[0] is not None and op.name not in passed:
        passed.add(op.name)  # a graph that is being drawn may have cycles
        op = graph[op.inputs[0].op]
    return op.name
