"""A graph with one iteration of each loop written out, for algorithms that follow its wires."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.autodiff.reverse.gradient_end import GradientEnd
from gradstep.core.graph.loop import Loop, loop_of
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef


def unroll_loops(graph: Graph, derived: Differentiation) -> tuple[Graph, Differentiation]:
    """`graph` with the operations of its loops, nested ones too: each argument reads what enters
    the loop, and the loop reads what leaves an iteration. The wires of `derived` are those of that
    graph, then."""
    operations: dict[str, Operation] = {}
    edges, blocked = dict(derived.edges), dict(derived.blocked)
    _write_out(graph, operations, edges, blocked, derived.gradients)
    if len(operations) == len(graph):
        return graph, derived
    return Graph(operations), replace(derived, edges=edges, blocked=blocked)


def leave_out_loops(graph: Graph, derived: Differentiation) -> Differentiation:
    """`derived` without the wires inside loops."""
    edges = {edge: ref for edge, ref in derived.edges.items() if edge.op in graph}
    if len(edges) == len(derived.edges):
        return derived
    blocked = {edge: why for edge, why in derived.blocked.items() if edge.op in graph}
    return replace(derived, edges=edges, blocked=blocked)


def _write_out(
    graph: Graph,
    operations: dict[str, Operation],
    edges: dict[Edge, TensorRef],
    blocked: dict[Edge, GradientEnd],
    gradients: Mapping[TensorRef, TensorRef],
) -> None:
    for name in graph.order:
        op = graph[name]
        loop = loop_of(op)
        if loop is None:
            operations.setdefault(name, op)
            continue
        for index, (argument, source) in enumerate(zip(loop.arguments, op.inputs, strict=True)):
            entering = replace(loop.graph[argument], inputs=(source,))
            operations[argument] = entering
            _move(edges, Edge(name, index), Edge(argument, 0))
            _move(blocked, Edge(name, index), Edge(argument, 0))
        _write_out(loop.graph, operations, edges, blocked, gradients)
        operations[name] = replace(op, inputs=loop.results)
        edges |= _leaving(name, loop, gradients)


def _move(wires: dict[Edge, Any], old: Edge, new: Edge) -> None:
    if old in wires:
        wires[new] = wires.pop(old)


def _leaving(
    name: str, loop: Loop, gradients: Mapping[TensorRef, TensorRef]
) -> dict[Edge, TensorRef]:
    """The wires from an iteration's results to the loop's outputs that gradients flow over."""
    return {
        Edge(name, index): gradients[ref]
        for index, ref in enumerate(loop.results)
        if ref in gradients
    }
