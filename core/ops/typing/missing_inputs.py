"""What an unfinished graph waits for: inputs without a wire, placeholders without a feed.

No error: the rest runs meanwhile.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from weakref import WeakKeyDictionary

from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import loop_of, within
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops.declare.table import find
from gradstep.core.ops.typing.inference import has_loops, infer_declared


@dataclass(frozen=True, slots=True)
class Waiting:
    """For a wire into `input` of operation `node`; for a feed of it, where `input` is empty."""

    node: str
    input: str = ""

    def __str__(self) -> str:
        return f"input '{self.input}' of {self.node}" if self.input else f"a feed of {self.node}"


_found: WeakKeyDictionary[Graph, tuple[frozenset[TensorRef], Mapping[str, Waiting]]]
_found = WeakKeyDictionary()


def find_waiting(graph: Graph, fed: Collection[TensorRef] = ()) -> Mapping[str, Waiting]:
    """Operation -> what it, or something that it needs, waits for. What is fed waits for nothing.
    graph: without cycles. Found once for each graph, as long as the same is fed."""
    given = frozenset(fed)
    known = _found.get(graph)
    if known is None or known[0] != given:
        known = _found[graph] = given, _find(graph, given)
    return known[1]


def _find(graph: Graph, fed: frozenset[TensorRef]) -> Mapping[str, Waiting]:
    able = {*graph.unwired, *graph.by_type.get("Placeholder", ())}
    if has_loops(graph):
        able.update(op.name for op in graph if loop_of(op) is not None)
    owns = {name: own for name in able if (own := _own(graph, graph[name], fed)) is not None}
    if not owns:
        return MappingProxyType(owns)
    found = {name: owns[name] for name in filter(owns.__contains__, graph.operations)}
    operations, behind = graph.operations, graph.descendants(*owns)
    after = filter(behind.__contains__, graph.order)
    if len(owns) == 1 and behind.isdisjoint(ref.op for ref in fed):
        return MappingProxyType(dict.fromkeys(after, *owns.values()))
    for name in after:
        if name not in found:
            before = _upstream(operations[name], found, fed)
            if before is not None:
                found[name] = before
    return MappingProxyType(found)


def open_input(op: Operation) -> str:
    """The name of the first input of `op` without a wire; "" where all have one."""
    if None not in op.inputs:
        return ""
    index, definition = op.inputs.index(None), find(op.type)
    try:
        return str(index) if definition is None else definition.arity(len(op.inputs))[index]
    except GradstepError:
        return str(index)


def _own(graph: Graph, op: Operation, fed: frozenset[TensorRef]) -> Waiting | None:
    if None in op.inputs:
        return Waiting(op.name, open_input(op))
    if op.type == "Placeholder" and op.output() not in fed:
        return Waiting(op.name)
    loop = loop_of(op)
    if loop is None or op.name in infer_declared(graph).types.of:
        return None  # a loop that can be typed goes round, whatever is open beside
    inner = (o for o in within(loop.graph) if None in o.inputs)
    return next((Waiting(o.name, open_input(o)) for o in inner), None)


def _upstream(
    op: Operation, found: Mapping[str, Waiting], fed: frozenset[TensorRef]
) -> Waiting | None:
    for ref in op.inputs:
        if ref is not None and ref[0] in found and ref not in fed:
            return found[ref[0]]
    for name in op.control_inputs:
        if name in found:
            return found[name]
    return None
