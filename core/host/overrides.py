"""Overrides that change nothing because nothing is named as they say."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from core.autodiff.request import Override, OverrideKind
from core.graph.model import Graph
from core.graph.problems import Problem

_NOUN = {
    OverrideKind.TYPE: "operation of type",
    OverrideKind.SCOPE: "operation in scope",
    OverrideKind.OP: "operation named",
}


def unmatched(graph: Graph, overrides: Iterable[Override]) -> list[Problem]:
    """A problem for each enabled override that matches no operation, with near misses."""
    return [
        _problem(graph, override)
        for override in overrides
        if override.enabled and not any(override.matches(op) for op in graph)
    ]


def _problem(graph: Graph, override: Override) -> Problem:
    near = get_close_matches(override.target, sorted(_candidates(graph, override.kind)), 3, 0.5)
    return Problem(
        "",
        "override",
        f"this override matches nothing: there is no {_NOUN[override.kind]} '{override.target}'",
        f"did you mean {' or '.join(near)}?" if near else "correct its target, or switch it off",
        severity="warning",
    )


def _candidates(graph: Graph, kind: OverrideKind) -> set[str]:
    if kind is OverrideKind.TYPE:
        return {op.type for op in graph}
    if kind is OverrideKind.OP:
        return set(graph.operations)
    return {scope for op in graph for scope in _scopes(op.name)}


def _scopes(name: str) -> Iterator[str]:
    parts = name.split("/")
    for count in range(1, len(parts)):
        yield "/".join(parts[:count])
