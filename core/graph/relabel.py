"""Renaming operations, in every mention of them that a graph has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gradstep.core.graph.loop import ACROSS, LOOP, Loop, loop_of
from gradstep.core.graph.model import Graph, Operation, TensorRef


def relabel(graph: Graph, name_of: Callable[[str], str]) -> Graph:
    """Every name, those in loops too, and every mention of it, put through `name_of`."""
    return Graph.of(relabel_operation(op, name_of) for op in graph)


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


def relabel_operation(op: Operation, name_of: Callable[[str], str]) -> Operation:
    """An operation, and what is in its loop, under other names."""
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
