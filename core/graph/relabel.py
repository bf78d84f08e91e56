"""Renaming operations, in every mention of them that a graph has."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from gradstep.core.graph.carry_over import remember_edit
from gradstep.core.graph.changes import Changes
from gradstep.core.graph.loop import ACROSS, LOOP, Loop, loop_of
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.graph.other_keys import are_few, with_other_keys
from gradstep.core.persistent.edited_columns import Exchange


def relabel(graph: Graph, name_of: Callable[[str], str]) -> Graph:
    """Every name, those in loops too, and every mention of it, put through `name_of`. What mentions
    none that changes stays the very same."""
    return _with(graph, [(op, relabel_operation(op, name_of)) for op in graph])


def relabel_one(graph: Graph, old: str, new: str) -> Graph:
    """The same for one operation: only what may mention it is looked at."""
    names = {old, *(edge.op for edge in graph.consumers.get(old, ()))}
    names |= graph.marked[LOOP] | graph.marked[ACROSS]
    names.update(graph.control_outputs.get(old, ()))
    names.update(name for name in graph.derived if graph.operations[name].origin == old)
    others = [graph.operations[name] for name in names if name in graph]
    return _with(
        graph, [(op, relabel_operation(op, lambda n: new if n == old else n)) for op in others]
    )


def _with(graph: Graph, pairs: Iterable[tuple[Operation, Operation]]) -> Graph:
    """With the second of each pair in the place of the first; the very same where none differ."""
    made = {old.name: new for old, new in pairs if new is not old}
    if not made:
        return graph
    names = {old: op.name for old, op in made.items() if op.name != old}
    few = are_few(names)
    operations = with_other_keys(graph.operations, names, graph.places if few else None)
    operations.update((op.name, op) for op in made.values())
    found = Graph(operations)
    if few:  # and so it is known where each was, and is
        changes = Changes(
            added=frozenset(names.values()),
            removed=frozenset(names),
            changed=frozenset(made.keys() - names),
        )
        places = sorted(map(graph.places.__getitem__, names))
        remember_edit(found, graph, changes, Exchange.of(places, places))
    return found


def relabel_loop(loop: Loop, name_of: Callable[[str], str]) -> Loop:
    """What is in a loop, put through `name_of` as `relabel` does."""

    def ref(old: TensorRef) -> TensorRef:
        return TensorRef(name_of(old.op), old.index)

    made = Loop(
        graph=relabel(loop.graph, name_of),
        variables=tuple(map(name_of, loop.variables)),
        captures=tuple(map(name_of, loop.captures)),
        cond=ref(loop.cond),
        results=tuple(map(ref, loop.results)),
    )
    same = made.graph is loop.graph and _names(made) == _names(loop)
    return loop if same else made


def _names(loop: Loop) -> tuple[object, ...]:
    return loop.variables, loop.captures, loop.cond, loop.results


def relabel_operation(op: Operation, name_of: Callable[[str], str]) -> Operation:
    """An operation, and what is in its loop, under other names; the same where none is another."""
    if LOOP not in op.attrs and ACROSS not in op.attrs and _stays(op, name_of):
        return op
    attrs, loop = op.attrs, loop_of(op)
    if loop is not None and (other := relabel_loop(loop, name_of)) is not loop:
        attrs = {**attrs, LOOP: other}
    if ACROSS in attrs and (across := tuple(map(name_of, attrs[ACROSS]))) != attrs[ACROSS]:
        attrs = {**attrs, ACROSS: across}
    name, origin = name_of(op.name), name_of(op.origin) if op.origin else ""
    inputs = tuple(r and TensorRef(name_of(r.op), r.index) for r in op.inputs)
    control_inputs = tuple(map(name_of, op.control_inputs))
    before = op.name, op.origin, op.inputs, op.control_inputs
    if attrs is op.attrs and (name, origin, inputs, control_inputs) == before:
        return op
    return replace(
        op,
        name=name,
        inputs=inputs,
        control_inputs=control_inputs,
        attrs=attrs,
        origin=origin,
    )


def _stays(op: Operation, name_of: Callable[[str], str]) -> bool:
    """Whether an operation mentions nothing that gets another name."""
    mentioned = (op.name, op.origin, *op.control_inputs, *(ref.op for ref in op.inputs if ref))
    return all(name_of(name) == name for name in mentioned if name)
