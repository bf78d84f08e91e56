"""Which part of a graph that is still being drawn can be worked with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from core.errors import GradstepError
from core.graph.model import Graph, TensorRef, predecessors
from core.graph.problems import Problem


def without_cycles(graph: Graph) -> Graph:
    """`graph` itself, or what is left of it without cycles and all that depends on them."""
    try:
        graph.order  # noqa: B018 - it raises
    except GradstepError:
        kept = _ordered(graph)
        return Graph.of(op for op in graph if op.name in kept)
    return graph


def broken_operations(graph: Graph, problems: Iterable[Problem]) -> dict[str, Problem]:
    """Operations that cannot be typed -> the error, at them or upstream, that is to blame."""
    blame = {p.node: p for p in problems if p.severity == "error" and p.node in graph}
    for name in graph.order:
        for before in predecessors(graph[name]):
            if before in blame and name not in blame:
                blame[name] = blame[before]
    return blame


def refuse_broken(refs: Iterable[TensorRef], broken: Mapping[str, Problem]) -> None:
    """Raise GradstepError for the first of `refs` that stands on a broken operation."""
    for ref in refs:
        problem = broken.get(ref.op)
        if problem is not None:
            raise GradstepError(
                f"there is no gradient until '{problem.node}' is repaired: {problem.text}",
                kind="ValueError",
                node=problem.node,
                hint=problem.fix,
            )


def _ordered(graph: Graph) -> set[str]:
    """Operations that can be put in order: no cycle is above them."""
    done: set[str] = set()
    waiting = list(graph)
    while True:
        ready = [op for op in waiting if all(p in done or p not in graph for p in predecessors(op))]
        if not ready:
            return done
        done.update(op.name for op in ready)
        waiting = [op for op in waiting if op.name not in done]
