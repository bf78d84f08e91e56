"""Which part of a graph that is still being drawn can be worked with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, TensorRef, predecessors
from gradstep.core.graph.problems import Problem


def without_cycles(graph: Graph) -> Graph:
    """`graph` itself, or what is left of it without cycles and all that depends on them."""
    try:
        graph.order  # noqa: B018 - it raises
    except GradstepError:
        stuck = _stuck(graph)
        return Graph.of(op for op in graph if op.name not in stuck)
    return graph


def refuse_cyclic(refs: Iterable[TensorRef], whole: Graph, sound: Graph) -> None:
    """Raise GradstepError for the first of `refs` that `without_cycles` left out."""
    for ref in refs if whole is not sound else ():
        if ref.op in whole and ref.op not in sound:
            raise GradstepError(
                f"there is no gradient of '{ref.op}', which is part of a cycle or follows one",
                kind="ValueError",
                node=ref.op,
                hint="take the cycle apart first",
            )


def refuse_broken(refs: Iterable[TensorRef], broken: Mapping[str, Problem]) -> None:
    """Raise GradstepError for the first of `refs` that stands on a broken operation."""
    for ref in refs if broken else ():
        problem = broken.get(ref.op)
        if problem is not None:
            raise GradstepError(
                f"there is no gradient until '{problem.node}' is repaired: {problem.text}",
                kind="ValueError",
                node=problem.node,
                hint=problem.fix,
            )


def _stuck(graph: Graph) -> set[str]:
    """Operations on cycles, and all that need one of them."""
    import networkx

    follows = networkx.DiGraph((p, op.name) for op in graph for p in predecessors(op))
    parts = networkx.strongly_connected_components(follows)
    on_cycles = {name for part in parts if len(part) > 1 for name in part}
    on_cycles.update(networkx.nodes_with_selfloops(follows))
    return on_cycles.union(*networkx.bfs_layers(follows, on_cycles))
