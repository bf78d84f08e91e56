"""Overrides that change nothing: nothing is named as they say, or no gradient is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from gradstep.core.autodiff.reverse.gradient_request import (
    Override,
    OverrideKind,
    OverrideTable,
)
from gradstep.core.autodiff.reverse.gradient_rules import suggest_gradients
from gradstep.core.document.document import CodeKind, Document
from gradstep.core.document.required_python import Asked
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph
from gradstep.core.graph.problems import Problem
from gradstep.core.graph.scopes import parents
from gradstep.core.graph.suggestions import did_you_mean, near
from gradstep.core.ops.typing.flatten_loops import flatten_loops
from gradstep.core.program.missing_functions import find_missing_functions, to_write

NOTHING = "this override matches nothing"

_NOUN = {
    OverrideKind.TYPE: "no op of type",
    OverrideKind.SCOPE: "no op in scope",
    OverrideKind.OP: "no op named",
}


def find_unmatched(graph: Graph, overrides: Iterable[Override]) -> list[Problem]:
    """A problem for each enabled override that matches no operation, with near misses."""
    wanted = [o for o in overrides if o.enabled and not _is_there(graph, o)]
    there = {kind: _targets(graph, kind) for kind in {override.kind for override in wanted}}
    return [
        Problem("", "override", *near_miss(graph, override.kind, override.target), "warning")
        for override in wanted
        if override.target_name not in there[override.kind]
    ]


def _is_there(graph: Graph, override: Override) -> bool:
    """Whether it matches, as far as that can be told without looking at all of the graph."""
    if override.kind is OverrideKind.TYPE:
        return override.target_name in graph.by_type
    return override.kind is OverrideKind.OP and override.target_name in graph


def near_miss(graph: Graph, kind: OverrideKind, target: str) -> tuple[str, str]:
    """What is wrong with a target that matches nothing, and what may have been meant:
    `no op of type Matmul here`, `did you mean MatMul (3 ops)?`."""
    text = f"{NOTHING}: {_NOUN[kind]} {target} here"
    counts = _targets(graph, kind)
    found = [_counted(name, counts[name], kind) for name in near(target, counts)]
    return text, did_you_mean(found) or "correct its target, or switch it off"


def find_unregistered(
    document: Document, functions: Collection[str], said: Iterable[Problem] = ()
) -> list[Problem]:
    """A problem for each gradient that is asked for and is neither a function of the document nor
    that of an op type: by an override that is on, or by an operation's `_gradient_op_type`. said:
    problems that there are already; a gradient that could not be derived for want of another is
    not named again."""
    named = _missing_in(said, document)
    return [
        Problem(
            node,
            "unregistered-gradient",
            f"{who} asks for the gradient '{asked.name}', which is not registered",
            did_you_mean(suggest_gradients(asked.name, functions)) or to_write(asked.head),
            severity="warning",
        )
        for asked in find_missing_functions(document)
        if asked.kind is CodeKind.GRADIENT and asked.name not in functions
        if asked.name not in named
        for node, who in _askers(document, asked)
    ]


def _missing_in(said: Iterable[Problem], document: Document) -> set[str]:
    """The gradients for want of which others could not be derived."""
    nodes = {p.node for p in said if (p.code, p.kind) == ("gradient", "LookupError")}
    if not nodes:
        return set()
    graph, table = flatten_loops(document.graph), OverrideTable(document.request.overrides)
    return {table.gradient_name(graph[name]) for name in nodes if name in graph}


def _askers(document: Document, asked: Asked) -> Iterator[tuple[str, str]]:
    """Where, and what there, wants a gradient."""
    graph = flatten_loops(document.graph)
    wanting = [o for o in document.request.overrides if o.enabled and o.gradient == asked.name]
    there = {kind: _targets(graph, kind) for kind in {override.kind for override in wanting}}
    for override in wanting:
        if override.target_name in there[override.kind]:
            yield "", f"the override of {override.target}"
    for node in asked.nodes:
        if graph[node].gradient_op_type == asked.name:
            yield node, "its _gradient_op_type"


def _counted(name: str, count: int, kind: OverrideKind) -> str:
    if kind is OverrideKind.OP:
        return name
    return f"{name} ({count} op{'s' if count > 1 else ''})"


def _targets(graph: Graph, kind: OverrideKind) -> Counter[str]:
    """What an override of this kind could name, and how many operations each would match."""
    if kind is OverrideKind.TYPE:
        return Counter(op.type for op in within(graph))
    if kind is OverrideKind.OP:
        return Counter(op.name for op in within(graph))
    return Counter(scope for op in within(graph) for scope in parents(op.name))
