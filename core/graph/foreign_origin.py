"""Where an operation is from that was lowered: the foreign one it is a part of, its source line."""

from __future__ import annotations

from dataclasses import dataclass

from gradstep.core.graph.model import Graph, Operation

# Attributes; they say nothing of what is computed.
FOREIGN_OP, FOREIGN_SCOPE, SOURCE_LINE = "_foreign_op", "_foreign_scope", "_source"


@dataclass(frozen=True, slots=True)
class ForeignOrigin:
    """op: "aten.conv2d.default". scope: where all that it was lowered to is. file: a key of the
    recorded run's sources, "" for none; line: from 1."""

    op: str
    scope: str
    file: str = ""
    line: int = 0


def foreign_origin(op: Operation) -> ForeignOrigin | None:
    """None for what was never foreign."""
    kind, scope = op.attrs.get(FOREIGN_OP), op.attrs.get(FOREIGN_SCOPE)
    if not isinstance(kind, str) or not isinstance(scope, str):
        return None
    file, _, line = str(op.attrs.get(SOURCE_LINE, "")).rpartition(":")
    if not file or not line.isdecimal():
        return ForeignOrigin(kind, scope)
    return ForeignOrigin(kind, scope, file, int(line))


def foreign_scope(graph: Graph, name: str) -> str:
    """Where all is that belongs to the same foreign operation in the user's eyes: a weight, or what
    else reads nothing, belongs to the first that reads it. "" for none."""
    op = graph.operations.get(name)
    if op is None:
        return ""
    own = str(op.attrs.get(FOREIGN_SCOPE, ""))
    if own or op.inputs or op.control_inputs:
        return own
    readers = graph.consumers[name][:1]
    return str(graph[readers[0].op].attrs.get(FOREIGN_SCOPE, "")) if readers else ""


def result_of(graph: Graph, scope: str) -> Operation | None:
    """The operation that gives what the foreign one in `scope` does: of those there that others
    read, or nobody does, the last."""
    inside = [op for op in graph if op.attrs.get(FOREIGN_SCOPE) == scope]
    names = {op.name for op in inside}
    read = [op for op in inside if any(e.op not in names for e in graph.consumers[op.name])]
    return next(reversed(read or inside), None)
