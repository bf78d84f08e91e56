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


def refuse_cyclic(refs: Iterable[TensorRef], whole: Graph, sound: Graph) -> None:
    """Raise GradstepError for the first of `refs` that `without_cycles` left out."""
    for ref in refs:
        if ref.op in whole and ref.op not in sound:
            raise GradstepError(
                f"there is no gradient of '{ref.op}', which is part of a cycle or follows one",
                kind="ValueError",
                node=ref.op,
                hint="take the cycle apart first",
            )


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
    missing = {op.name: {p for p in predecessors(op) if p in graph} for op in graph}
    followers: dict[str, list[str]] = {name: [] for name in missing}
    for name, before in missing.items():
        for other in before:
            followers[other].append(name)
    done: set[str] = set()
    ready = [name for name, before in missing.items() if not before]
    while ready:
        name = ready.pop()
        done.add(name)
        for follower in followers[name]:
            missing[follower].discard(name)
            if not missing[follower]:
                ready.append(follower)
    return done
