"""Paths through a graph: which wires lead where, and along which of them a gradient flows back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence, Set

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import Differentiation
from gradstep.core.graph.model import Edge, Graph, TensorRef

Value = Callable[[TensorRef], "np.ndarray | None"]  # of a tensor after a run


def comes_from(graph: Graph, edge: Edge, names: Set[str]) -> bool:
    source = graph.source(edge)
    return source is not None and source.op in names


def find_reached(graph: Graph, start: TensorRef, ends: Sequence[TensorRef]) -> TensorRef:
    """The first of `ends` that `start` leads to; the first of all where it leads to none."""
    if len(ends) == 1:
        return ends[0]
    below = graph.takers(start.op) if start.op in graph else frozenset[str]()
    return next((end for end in ends if end.op in below), ends[0])


def find_flow_path(
    graph: Graph,
    derived: Differentiation,
    of: TensorRef,
    to: TensorRef,
    value: Value = lambda ref: None,
) -> tuple[str, ...]:
    """Operations along which a gradient flows from `of` to `to`, the shortest way; the shortest on
    which every gradient has a value, where there is one: the others are in branches that were not
    taken."""
    edges = derived.edges

    def is_alive(edge: Edge) -> bool:
        return edge in edges and value(edges[edge]) is not None

    return _back(graph, is_alive, of, to) or _back(graph, edges.__contains__, of, to) or (of.op,)


def _back(
    graph: Graph, leads: Callable[[Edge], bool], of: TensorRef, to: TensorRef
) -> tuple[str, ...]:
    """Operations from `of` back to `to` over wires that lead there, the shortest way; () if none. A
    wire is asked about where it would lead to something new."""
    came: dict[str, str] = {of.op: ""}
    queue = deque([of.op])
    while queue:
        name = queue.popleft()
        if name == to.op:
            return _unwind(came, name)
        for index, source in enumerate(graph[name].inputs):
            if source and source.op not in came and leads(Edge(name, index)):
                came[source.op] = name
                queue.append(source.op)
    return ()


def find_forward_path(graph: Graph, start: str, end: str) -> tuple[str, ...]:
    """Operations from `end` back to `start` along any wires, the shortest way; () if none."""
    came: dict[str, str] = {end: ""}
    queue = deque([end])
    while queue:
        name = queue.popleft()
        if name == start:
            return _unwind(came, name)
        for source in graph[name].inputs:
            if source and source.op not in came:
                came[source.op] = name
                queue.append(source.op)
    return ()


def _unwind(came: dict[str, str], name: str) -> tuple[str, ...]:
    path = [name]
    while came[path[-1]]:
        path.append(came[path[-1]])
    return tuple(reversed(path))
