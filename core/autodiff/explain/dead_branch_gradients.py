"""Gradients that did not flow because the branch of a cond that they go through was not taken."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from gradstep.core.autodiff.explain.gradient_paths import Value
from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.ops.declare.table import branch_of, find


@dataclass(frozen=True, slots=True)
class Untaken:
    """node: the first operation on the way back that is in the branch; path: up to it; why: the
    predicate and what it was, in words."""

    node: str
    path: tuple[str, ...]
    why: str


def find_untaken(
    graph: Graph, derived: Differentiation, of: TensorRef, wrt: TensorRef, value: Value
) -> Untaken | None:
    """Where all ways back from `of` to `wrt` end in branches that were not taken: the first of
    these. value: of a tensor after the run; None for what is dead."""
    came: dict[str, str] = {of.op: ""}
    queue, ends = deque([of.op]), []
    while queue:
        name = queue.popleft()
        if name == wrt.op:
            return None
        for index, source in enumerate(graph[name].inputs):
            gradient = derived.edges.get(Edge(name, index))
            if source is None or gradient is None or source.op in came:
                continue
            came[source.op] = name
            if value(gradient) is not None:
                queue.append(source.op)
            elif wrt.op in graph.ancestors([source.op]):
                ends.append(source.op)
    for end in ends:
        if why := say_why_untaken(graph, end, value):
            return Untaken(end, _unwound(came, end), why)
    return None


def say_why_untaken(graph: Graph, name: str, value: Value) -> str:
    """The predicate that left the branch of operation `name` out: "p is False"; "" if none did."""
    queue, seen = deque([name]), {name}
    while queue:
        op = graph[queue.popleft()]
        for ref in op.inputs:
            if ref is not None and (found := _decided(graph, ref, value)):
                return found
        for other in (*(ref.op for ref in op.inputs if ref is not None), *op.control_inputs):
            if other not in seen:
                seen.add(other)
                queue.append(other)
    return ""


def _decided(graph: Graph, ref: TensorRef, value: Value) -> str:
    """What keeps `ref` from being alive, if it comes from a Switch."""
    op = graph[ref.op]
    predicate = op.inputs[1] if branch_of(op.type) == "switch" else None
    found = None if predicate is None else value(predicate)
    if predicate is None or found is None or bool(found) == bool(ref.index):
        return ""
    return f"{_original(graph, predicate).short} is {bool(found)}"


def _original(graph: Graph, ref: TensorRef) -> TensorRef:
    """The tensor that `ref` is the same as, by whatever Identities and Switches it came."""
    op = graph[ref.op]
    definition = find(op.type)
    same = definition is not None and (
        definition.memory.keeps_bytes or definition.branch == "switch"
    )
    source = op.inputs[0] if same else None
    return ref if source is None else _original(graph, source)


def _unwound(came: dict[str, str], name: str) -> tuple[str, ...]:
    path = [name]
    while came[path[-1]]:
        path.append(came[path[-1]])
    return tuple(reversed(path))
