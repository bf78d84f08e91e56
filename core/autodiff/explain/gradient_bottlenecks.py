"""Where a gradient can be cut: operations that all of it passes, and the fewest wires to stop."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.graph.model import Edge, Graph, TensorRef

if TYPE_CHECKING:
    from networkx import DiGraph


@dataclass(frozen=True, slots=True)
class Bottlenecks:
    """Of the gradient of one tensor by another.

    passes: operations that every way back goes through, from the first to the last, without the
            ends: the dominators of where it arrives.
    cut:    wires as few as can be: with a stop at each of them nothing arrives. Of several such
            sets the one nearest to where it arrives, which disturbs other gradients least. In the
            order of the graph.
    """

    passes: tuple[str, ...] = ()
    cut: tuple[Edge, ...] = ()


def bottlenecks(
    graph: Graph, derived: Differentiation, of: TensorRef, wrt: TensorRef
) -> Bottlenecks:
    """Of d(of)/d(wrt). graph: the forward graph; derived: its differentiation for such a request.
    Nothing where no gradient flows from the one to the other, or they are of one operation."""
    wires = {edge: source for edge, source in _wires(graph, derived) if _arrives(source, wrt)}
    flow = _between(_flow(wires), of.op, wrt.op)
    if of.op == wrt.op or not len(flow):
        return Bottlenecks()
    return Bottlenecks(
        _dominators(graph, flow, of.op, wrt.op), _cut(graph, wires, flow, of.op, wrt.op)
    )


def _wires(graph: Graph, derived: Differentiation) -> Iterator[tuple[Edge, TensorRef]]:
    """Those of the forward graph that a gradient flows back through, with what they carry."""
    for edge in derived.edges:
        source = graph.source(edge) if edge.op in graph else None
        if source is not None:
            yield edge, source


def _arrives(source: TensorRef, wrt: TensorRef) -> bool:
    """Whether a gradient by `source` is not one by another output of the operation asked about."""
    return source.op != wrt.op or source.index == wrt.index


def _flow(wires: Mapping[Edge, TensorRef]) -> DiGraph:
    """The forward operations, and an arrow from each to those that its gradients go to, with the
    number of wires."""
    from networkx import DiGraph

    flow = DiGraph()
    counts = Counter((edge.op, source.op) for edge, source in wires.items())
    flow.add_edges_from((a, b, {"capacity": count}) for (a, b), count in counts.items())
    return flow


def _between(flow: DiGraph, start: str, end: str) -> DiGraph:
    """What lies on ways from `start` to `end`; empty where there is none."""
    from networkx import ancestors, descendants

    if start not in flow or end not in flow:
        return flow.subgraph(())
    return flow.subgraph((descendants(flow, start) | {start}) & (ancestors(flow, end) | {end}))


def _dominators(graph: Graph, flow: DiGraph, start: str, end: str) -> tuple[str, ...]:
    """What all ways pass. Where there are no cycles, and nothing but what lies on a way from the
    start to the end, that is whatever the graph falls apart without, taken as undirected."""
    from networkx import articulation_points

    found = {*articulation_points(flow.to_undirected(as_view=True))} - {start, end}
    return tuple(name for name in reversed(graph.order) if name in found)


def _cut(
    graph: Graph, wires: Mapping[Edge, TensorRef], flow: DiGraph, start: str, end: str
) -> tuple[Edge, ...]:
    from networkx import minimum_cut
    from networkx.algorithms.flow import dinitz

    # Of several, networkx gives the one where least is left on the side of the end.
    _, (before, behind) = minimum_cut(flow, start, end, flow_func=dinitz)
    cut = {edge for edge, source in wires.items() if edge.op in before and source.op in behind}
    inputs = (Edge(name, index) for name in graph.order for index in range(len(graph[name].inputs)))
    return tuple(edge for edge in inputs if edge in cut)
