"""Edits of a graph: pure functions from one frozen graph to the next."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from core.errors import GradstepError
from core.graph.loop import ACROSS, LOOP, Loop, loop_of, way_to, within
from core.graph.model import Edge, Graph, Operation, TensorRef


def unique_name(graph: Graph, wanted: str) -> str:
    """`wanted`, or `wanted_1`, `wanted_2`… when it is taken (ignoring case, as in TensorFlow)."""
    return _free(wanted, _taken(graph))


def add(
    graph: Graph,
    type: str,
    name: str = "",
    inputs: Sequence[TensorRef | None] = (),
    attrs: Mapping[str, Any] | None = None,
) -> tuple[Graph, str]:
    """Add an operation under a name made unique. Inputs may be None: not wired yet."""
    chosen = unique_name(graph, name or type)
    check_name(chosen)
    op = Operation(chosen, type, tuple(inputs), attrs=dict(attrs or {}))
    return _put(graph, op), chosen


def remove(graph: Graph, names: Collection[str]) -> Graph:
    """Remove operations; wires that came from them are left open."""
    gone = set(names)
    for name in gone:
        editable(graph, name)
    return Graph.of(
        op if not _touches(op, gone) else _without(op, gone) for op in graph if op.name not in gone
    )


def connect(graph: Graph, source: TensorRef, edge: Edge) -> Graph:
    """Wire `source` into `edge`, replacing what was there. Raises GradstepError if that makes a
    cycle. An index one past the last input adds an input (for variadic ops)."""
    op = editable(graph, edge.op)
    if edge.op in graph.ancestors([source.op]):
        raise GradstepError(
            f"'{source.op}' already depends on '{edge.op}': this wire would close a cycle",
            kind="ValueError",
            node=edge.op,
        )
    inputs = list(op.inputs)
    if edge.index > len(inputs):
        raise GradstepError(
            f"'{op.name}' has no input {edge.index}", kind="ValueError", node=op.name
        )
    inputs[edge.index : edge.index + 1] = [source]
    return _put(graph, replace(op, inputs=tuple(inputs)))


def disconnect(graph: Graph, edge: Edge) -> Graph:
    """Leave the input at `edge` open."""
    op = editable(graph, edge.op)
    inputs = list(op.inputs)
    inputs[edge.index] = None
    return _put(graph, replace(op, inputs=tuple(inputs)))


def drop_input(graph: Graph, edge: Edge) -> Graph:
    """Take the input at `edge` away altogether (for variadic ops)."""
    op = graph[edge.op]
    inputs = op.inputs[: edge.index] + op.inputs[edge.index + 1 :]
    return _put(graph, replace(op, inputs=inputs))


def set_attr(graph: Graph, name: str, key: str, value: Any) -> Graph:
    """Set an attribute; None removes it."""
    op = editable(graph, name)
    attrs = {k: v for k, v in op.attrs.items() if k != key}
    if value is not None:
        attrs[key] = value
    return _put(graph, replace(op, attrs=attrs))


def retype(
    graph: Graph,
    name: str,
    type: str,
    inputs: Sequence[TensorRef | None],
    attrs: Mapping[str, Any],
) -> Graph:
    """Put another op type in the place of `name`; who reads its outputs goes on doing so."""
    op = replace(graph[name], type=type, inputs=tuple(inputs), attrs=dict(attrs))
    changed = _put(graph, op)
    assert changed.order  # walking it refuses a cycle through the new inputs
    return changed


def rename(graph: Graph, old: str, new: str) -> Graph:
    """Rename an operation everywhere. Raises GradstepError when the name is bad or taken."""
    editable(graph, old)
    check_name(new)
    if new == old:
        return graph
    if new.lower() != old.lower() and new.lower() in _taken(graph):
        raise GradstepError(
            f"the name '{new}' is taken", kind="ValueError", node=old, hint="names ignore case"
        )
    return relabel(graph, lambda name: new if name == old else name)


def relabel(graph: Graph, name_of: Callable[[str], str]) -> Graph:
    """Every name, those in loops too, and every mention of it, put through `name_of`."""
    return Graph.of(_relabelled(op, name_of) for op in graph)


def relabel_loop(loop: Loop, name_of: Callable[[str], str]) -> Loop:
    """The same for what is in a loop."""

    def ref(old: TensorRef) -> TensorRef:
        return TensorRef(name_of(old.op), old.index)

    return Loop(
        graph=relabel(loop.graph, name_of),
        variables=tuple(map(name_of, loop.variables)),
        captures=tuple(map(name_of, loop.captures)),
        cond=ref(loop.cond),
        results=tuple(map(ref, loop.results)),
    )


def duplicate(graph: Graph, names: Iterable[str]) -> tuple[Graph, dict[str, str]]:
    """Copy operations with the wires among them and from outside. Returns old name -> new, also of
    what is in loops."""
    chosen, taken = set(names), _taken(graph)
    originals = [op for op in graph if op.name in chosen]
    copies: dict[str, str] = {}
    for op in within(originals):
        copies[op.name] = _free(op.name, taken)
        taken.add(copies[op.name].lower())
    made = {**graph.operations}
    for op in originals:
        made[copies[op.name]] = _relabelled(op, lambda name: copies.get(name, name))
    return Graph(made), copies


def insert(
    graph: Graph, edge: Edge, type: str, arity: int = 1, attrs: Mapping[str, Any] | None = None
) -> tuple[Graph, str]:
    """Put a new operation of `type` into the wire at `edge`, fed through its first input."""
    source = graph.source(edge)
    if source is None:
        raise GradstepError(f"input {edge.index} of '{edge.op}' carries no wire", node=edge.op)
    padding = [None] * (arity - 1)
    graph, name = add(graph, type, inputs=[source, *padding], attrs=attrs)
    return connect(graph, TensorRef(name), edge), name


def editable(graph: Graph, name: str) -> Operation:
    """The operation, to be edited. Raises GradstepError when there is none, or it is in a loop."""
    around = way_to(graph, name)
    if around:
        raise GradstepError(
            f"'{name}' is in the loop '{around[-1].name}', which can be looked into but not edited",
            kind="ValueError",
            node=name,
            hint=f"delete {around[0].name} to be rid of the loop",
        )
    return graph[name]


def check_name(name: str) -> None:
    """Raises GradstepError unless `name` is one that TensorFlow would take."""
    import re

    if not re.fullmatch(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*", name) or name.endswith("/"):
        raise GradstepError(
            f"'{name}' is not a valid operation name",
            kind="ValueError",
            hint="letters, digits, _ . - and / for scopes; it starts with a letter or digit",
        )


def _taken(graph: Graph) -> set[str]:
    """The names of all operations, those in loops too, in small letters."""
    return {op.name.lower() for op in within(graph)}


def _free(wanted: str, taken: Collection[str]) -> str:
    candidate, count = wanted, 0
    while candidate.lower() in taken:
        count += 1
        candidate = f"{wanted}_{count}"
    return candidate


def _put(graph: Graph, op: Operation) -> Graph:
    return Graph({**graph.operations, op.name: op})


def _touches(op: Operation, names: set[str]) -> bool:
    return any(ref is not None and ref.op in names for ref in op.inputs) or any(
        c in names for c in op.control_inputs
    )


def _without(op: Operation, names: set[str]) -> Operation:
    inputs = tuple(None if ref is None or ref.op in names else ref for ref in op.inputs)
    return replace(
        op, inputs=inputs, control_inputs=tuple(c for c in op.control_inputs if c not in names)
    )


def _relabelled(op: Operation, name_of: Callable[[str], str]) -> Operation:
    attrs, loop = op.attrs, loop_of(op)
    if loop is not None:
        attrs = {**attrs, LOOP: relabel_loop(loop, name_of)}
    if ACROSS in attrs:
        attrs = {**attrs, ACROSS: tuple(map(name_of, attrs[ACROSS]))}
    return replace(
        op,
        name=name_of(op.name),
        inputs=tuple(r and TensorRef(name_of(r.op), r.index) for r in op.inputs),
        control_inputs=tuple(name_of(c) for c in op.control_inputs),
        attrs=attrs,
        origin=name_of(op.origin) if op.origin else "",
    )
