"""Where an operation is from that was lowered: the foreign one it is a part of, its source line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gradstep.core.graph.model import FOREIGN_SCOPE as FOREIGN_SCOPE
from gradstep.core.graph.model import Graph, Operation

# Attributes; they say nothing of what is computed.
FOREIGN_OP, FOREIGN_NAME, SOURCE_LINE = "_foreign_op", "_foreign_name", "_source"
OWN_GRADIENT = "/own_gradient"  # how what has a backward of the model's own ends
FROZEN = "_frozen"  # of a weight that PyTorch had no gradient of, since nobody asked for one


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
    file, _, line = source_line(op).rpartition(":")
    if not file or not line.isdecimal():
        return ForeignOrigin(kind, scope)
    return ForeignOrigin(kind, scope, file, int(line))


def foreign_name(op: Operation) -> str:
    """What it is called in its own file, where that is no name here; else ""."""
    return str(op.attrs.get(FOREIGN_NAME, ""))


def why_frozen(op: Operation | None) -> str:
    """Why there was no gradient of a weight, whatever the graph gives; "" where there may be."""
    if op is None or op.attrs.get(FROZEN) is not True:
        return ""
    return "it was frozen when it was captured (requires_grad was False): PyTorch has no gradient"


def source_line(op: Operation) -> str:
    """ "net.py:81"; "" for what was never foreign."""
    return str(op.attrs.get(SOURCE_LINE, ""))


def operations_by_line(operations: Iterable[Operation]) -> dict[str, list[str]]:
    """Line -> the operations that it asked for, in their order."""
    found: dict[str, list[str]] = {}
    for op in operations:
        if line := source_line(op):
            found.setdefault(line, []).append(op.name)
    return found


def foreign_scopes(graph: Graph) -> Mapping[str, str]:
    """Operation -> where all is that belongs to the same foreign operation in the user's eyes: a
    weight, or what else reads nothing, belongs to the first that reads it. What belongs to none is
    left out, so that nothing of this is work where nothing was traced."""
    found = _own_scopes(graph)
    if not found:
        return found
    first: dict[str, str] = {}
    for op in graph:
        for ref in op.inputs:
            if ref is not None and ref.op not in found:
                first.setdefault(ref.op, found.get(op.name, ""))
    sources = (op for op in graph if not (op.inputs or op.control_inputs))
    return found | {op.name: first[op.name] for op in sources if first.get(op.name)}


def first_reader(graph: Graph, name: str) -> tuple[str, str]:
    """What of a foreign operation `name` belongs to, as foreign_scopes says it of one: itself, or
    of what reads nothing its first reader; and the scope, "" where it belongs to none."""
    op = graph.operations.get(name)
    if op is None:
        return name, ""
    if FOREIGN_SCOPE in op.attrs or op.inputs:
        return name, str(op.attrs.get(FOREIGN_SCOPE, ""))
    readers = (graph.operations.get(edge.op) for edge in graph.consumers[name])
    found = next((r for r in readers if r is not None and FOREIGN_SCOPE in r.attrs), None)
    return (name, "") if found is None else (found.name, str(found.attrs[FOREIGN_SCOPE]))


def foreign_results(graph: Graph) -> Mapping[str, str]:
    """Scope of a foreign operation -> the operation that gives its result: the first that others
    read, but for what moves a buffer along; the last, where nobody does."""
    own = _own_scopes(graph)
    read: dict[str, str] = {}
    for op in graph if own else ():
        if op.name.endswith("/update"):
            continue
        for ref in op.inputs:
            scope = own.get(ref.op) if ref is not None else None
            if ref is not None and scope is not None and scope != own.get(op.name):
                read.setdefault(scope, ref.op)
    return {**{scope: name for name, scope in own.items()}, **read}


def _own_scopes(graph: Graph) -> dict[str, str]:
    """Of what was lowered itself."""
    marked, operations = graph.marked[FOREIGN_SCOPE], graph.operations
    names = filter(marked.__contains__, operations) if marked else ()
    return {name: str(operations[name].attrs[FOREIGN_SCOPE]) for name in names}
