"""Edits of a graph: pure functions from one frozen graph to the next.

An operation in a loop is edited in that loop's graph, and the Whiles around it are made anew.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.carry_over import remember_edit
from gradstep.core.graph.changes import Changes, alike
from gradstep.core.graph.free_names import check_name, is_taken, names_of_copies, unique_name
from gradstep.core.graph.loop import (
    LOOP,
    anywhere,
    everywhere,
    inside,
    loop_of,
    way_to,
    within,
)
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.graph.relabel import relabel, relabel_one, relabel_operation
from gradstep.core.graph.scopes import is_inside, move_name
from gradstep.core.persistent.edited_columns import NOT_AT_ALL, Exchange
from gradstep.core.persistent.spliced_mapping import copied


def add(
    graph: Graph,
    type: str,
    name: str = "",
    inputs: Sequence[TensorRef | None] = (),
    attrs: Mapping[str, Any] | None = None,
    beside: str = "",
) -> tuple[Graph, str]:
    """Add an operation under a name made unique. Inputs may be None: not wired yet.

    beside: an operation of the loop that the new one goes into; none for the graph itself."""
    chosen = unique_name(graph, name or type)
    check_name(chosen)
    op = Operation(chosen, type, tuple(inputs), attrs=dict(attrs or {}))
    around = way_to(graph, beside) if beside else ()
    if not around:
        return _put(graph, op), chosen
    if not op.inputs:  # in a file, a node is in a loop by what it reads or waits for
        op = replace(op, control_inputs=around[-1].attrs[LOOP].variables[:1])
    return inside(graph, beside, lambda here: _put(here, op)), chosen


def remove(graph: Graph, names: Collection[str]) -> Graph:
    """Remove operations; wires that came from them are left open. With a capture of a loop goes the
    While's input. Raises GradstepError for what holds a loop together that stays."""
    gone = set(names)
    for name in gone:
        _require_removable(graph, name, gone)
    return _left(graph, gone)


def _require_removable(graph: Graph, name: str, gone: Collection[str]) -> None:
    anywhere(graph, name)
    around = way_to(graph, name)
    if not around or any(op.name in gone for op in around):
        return
    loop = loop_of(around[-1])
    if loop is not None and name in loop.framework:
        raise GradstepError(
            f"'{name}' holds the loop '{around[-1].name}' together",
            kind="ValueError",
            node=name,
            hint=f"delete {around[-1].name} to be rid of the loop",
        )


def _left(graph: Graph, gone: set[str]) -> Graph:
    """What is left of a graph, its loops included."""
    stay = (op for op in graph if op.name not in gone)
    return Graph.of(_left_of(_without(op, gone) if _touches(op, gone) else op, gone) for op in stay)


def _left_of(op: Operation, gone: set[str]) -> Operation:
    loop = loop_of(op)
    if loop is None or gone.isdisjoint(inner.name for inner in within(loop.graph)):
        return op
    kept = [
        (name, ref) for name, ref in zip(loop.arguments, op.inputs, strict=True) if name not in gone
    ]
    captures = tuple(name for name, _ in kept[len(loop.variables) :])
    smaller = replace(loop, graph=_left(loop.graph, gone), captures=captures)
    return replace(op, inputs=tuple(ref for _, ref in kept), attrs={**op.attrs, LOOP: smaller})


def connect(graph: Graph, source: TensorRef, edge: Edge) -> Graph:
    """Wire `source`, of the same graph or loop, into `edge`, replacing what was there. Raises
    GradstepError if that makes a cycle. An index one past the last input adds an input (for
    variadic ops)."""
    return inside(graph, edge.op, lambda here: _connected(here, source, edge))


def _connected(graph: Graph, source: TensorRef, edge: Edge) -> Graph:
    if edge.op in graph.ancestors([source.op]):
        raise _cycle(source.op, edge.op)
    op = graph[edge.op]
    if edge.index > len(op.inputs):
        raise GradstepError(
            f"'{op.name}' has no input {edge.index}", kind="ValueError", node=op.name
        )
    return _put(graph, _with_input(op, edge.index, source))


def _cycle(source: str, target: str) -> GradstepError:
    return GradstepError(
        f"'{source}' already depends on '{target}': this wire would close a cycle",
        kind="ValueError",
        node=target,
    )


def disconnect(graph: Graph, edge: Edge) -> Graph:
    """Leave the input at `edge` open."""
    return _changed(graph, edge.op, lambda op: _with_input(op, edge.index, None))


def drop_input(graph: Graph, edge: Edge) -> Graph:
    """Take the input at `edge` away altogether (for variadic ops)."""

    def dropped(op: Operation) -> Operation:
        return replace(op, inputs=op.inputs[: edge.index] + op.inputs[edge.index + 1 :])

    return _changed(graph, edge.op, dropped)


def add_control(graph: Graph, name: str, first: str) -> Graph:
    """Let operation `name` wait for `first`, of the same graph or loop. Raises GradstepError if
    that makes a cycle."""

    def waiting(here: Graph) -> Graph:
        op = here[name]
        if name in here.ancestors([first]):
            raise _cycle(first, name)
        waits = dict.fromkeys((*op.control_inputs, first))
        return _put(here, replace(op, control_inputs=tuple(waits)))

    return inside(graph, name, waiting)


def remove_control(graph: Graph, name: str, first: str) -> Graph:
    """Let operation `name` no longer wait for `first`."""

    def freed(op: Operation) -> Operation:
        return replace(op, control_inputs=tuple(c for c in op.control_inputs if c != first))

    return _changed(graph, name, freed)


def set_attr(graph: Graph, name: str, key: str, value: Any) -> Graph:
    """Set an attribute, whatever others say."""
    return set_attrs(graph, name, {**anywhere(graph, name).attrs, key: value})


def set_attrs(graph: Graph, name: str, attrs: Mapping[str, Any]) -> Graph:
    """Give an operation these attributes and no others."""
    return _changed(graph, name, lambda op: replace(op, attrs=attrs))


def set_devices(graph: Graph, devices: Mapping[str, str]) -> Graph:
    """Give operations, inside loops perhaps, these wishes for a device; "" for none."""
    if devices.keys() <= graph.operations.keys():
        return _with_devices(graph, devices)
    return everywhere(graph, lambda part: _with_devices(part, devices))


def _with_devices(graph: Graph, devices: Mapping[str, str]) -> Graph:
    there = devices.keys() & graph.operations.keys()
    placed = {
        name: replace(graph[name], device=devices[name])
        for name in there
        if graph[name].device != devices[name]
    }
    return Graph({**graph.operations, **placed}) if placed else graph


def retype(
    graph: Graph,
    name: str,
    type: str,
    inputs: Sequence[TensorRef | None],
    attrs: Mapping[str, Any],
) -> Graph:
    """Put another op type in the place of `name`; who reads its outputs goes on doing so."""

    def other(here: Graph) -> Graph:
        op = replace(here[name], type=type, inputs=tuple(inputs), attrs=dict(attrs))
        changed = _put(here, op)
        assert changed.order  # walking it refuses a cycle through the new inputs
        return changed

    return inside(graph, name, other)


def rename(graph: Graph, old: str, new: str) -> Graph:
    """Rename an operation everywhere. Raises GradstepError when the name is bad or taken."""
    anywhere(graph, old)
    check_name(new)
    if new == old:
        return graph
    in_other_case = new.lower() == old.lower()
    if any(op.name == new for op in within(graph)) if in_other_case else is_taken(graph, new):
        raise _taken(new, old)
    return relabel_one(graph, old, new)


def rename_scope(graph: Graph, old: str, new: str) -> Graph:
    """Put everything in scope `old` into `new`. Raises GradstepError when the name is bad, or there
    is such a scope already."""
    names = [op.name for op in within(graph)]
    inside = [name for name in names if is_inside(name, old)]
    if not inside:
        raise GradstepError(f"there is no scope '{old}'", kind="LookupError")
    check_name(new)
    others = {name.lower() for name in names if not is_inside(name, old)}
    if new.lower() in others or any(is_inside(name, new.lower()) for name in others):
        raise _taken(new, inside[0])
    return relabel(graph, lambda name: move_name(name, old, new))


def _taken(name: str, node: str) -> GradstepError:
    text = f"the name '{name}' is taken"
    return GradstepError(text, kind="ValueError", node=node, hint="names ignore case")


def duplicate(graph: Graph, names: Iterable[str]) -> tuple[Graph, dict[str, str]]:
    """Copy operations with the wires among them and from outside. Returns old name -> new, also of
    what is in loops. An argument of a loop is copied with its loop only: what is copied alone
    reads the same one. A scope that is copied whole is another scope. Raises GradstepError where
    nothing is left to copy."""
    chosen = {*names}
    originals = [*_originals(graph, chosen)]
    if chosen and not originals:
        name = anywhere(graph, min(chosen)).name
        raise GradstepError(
            f"'{name}' is an argument of its loop, which has each only once",
            kind="ValueError",
            node=name,
            hint="copy the loop as a whole",
        )
    copies = names_of_copies(graph, (op.name for op in within(originals)))
    copied = [relabel_operation(op, lambda name: copies.get(name, name)) for op in originals]
    beside = {old.name: new for old, new in zip(originals, copied, strict=True)}
    return everywhere(graph, lambda here: _doubled(here, beside)), copies


def _originals(graph: Graph, chosen: Collection[str]) -> Iterator[Operation]:
    """The outermost of the operations that are chosen."""
    for op in graph:
        loop = loop_of(op)
        if op.name in chosen:
            yield op
        elif loop is not None:
            yield from _originals(loop.graph, {*chosen}.difference(loop.arguments))


def _doubled(graph: Graph, copies: Mapping[str, Operation]) -> Graph:
    """The graph with the copies of those of its operations that are copied."""
    made = [copies[op.name] for op in graph if op.name in copies]
    return Graph.of((*graph, *made)) if made else graph


def _changed(graph: Graph, name: str, change: Callable[[Operation], Operation]) -> Graph:
    """The graph with another operation in the place of `name`, in a loop perhaps."""
    return inside(graph, name, lambda here: _put(here, change(here[name])))


def _with_input(op: Operation, index: int, source: TensorRef | None) -> Operation:
    return replace(op, inputs=(*op.inputs[:index], source, *op.inputs[index + 1 :]))


def _put(graph: Graph, op: Operation) -> Graph:
    """The graph with this operation in the place of what is called so, or at the end."""
    before, own = graph.operations.get(op.name), frozenset([op.name])
    if before is not None and alike(op, before):
        return graph
    operations = copied(graph.operations)
    operations[op.name] = op
    found = Graph(operations)
    if before is not None:
        remember_edit(found, graph, Changes(changed=own), NOT_AT_ALL)
    else:
        remember_edit(found, graph, Changes(added=own), Exchange.of((), [len(graph)]))
    return found


def _touches(op: Operation, names: set[str]) -> bool:
    return any(ref is not None and ref.op in names for ref in op.inputs) or any(
        c in names for c in op.control_inputs
    )


def _without(op: Operation, names: set[str]) -> Operation:
    inputs = tuple(None if ref is None or ref.op in names else ref for ref in op.inputs)
    return replace(
        op, inputs=inputs, control_inputs=tuple(c for c in op.control_inputs if c not in names)
    )
