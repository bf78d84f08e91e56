"""Overrides that change nothing: nothing is named as they say, or no gradient is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable

from core.autodiff.request import Override, OverrideKind
from core.autodiff.rules import is_registered, near_gradients
from core.graph.loop import within
from core.graph.model import Graph
from core.graph.near import did_you_mean, near
from core.graph.problems import Problem
from core.graph.scopes import parents

NOTHING = "this override matches nothing"

_NOUN = {
    OverrideKind.TYPE: "no op of type",
    OverrideKind.SCOPE: "no op in scope",
    OverrideKind.OP: "no op named",
}


def unmatched(graph: Graph, overrides: Iterable[Override]) -> list[Problem]:
    """A problem for each enabled override that matches no operation, with near misses."""
    wanted = [override for override in overrides if override.enabled]
    there = {kind: _targets(graph, kind) for kind in {override.kind for override in wanted}}
    return [
        Problem("", "override", *near_miss(graph, override.kind, override.target), "warning")
        for override in wanted
        if override.named not in there[override.kind]
    ]


def near_miss(graph: Graph, kind: OverrideKind, target: str) -> tuple[str, str]:
    """What is wrong with a target that matches nothing, and what may have been meant:
    `no op of type Matmul here`, `did you mean MatMul (3 ops)?`."""
    text = f"{NOTHING}: {_NOUN[kind]} {target} here"
    counts = _targets(graph, kind)
    found = [_counted(name, counts[name], kind) for name in near(target, counts)]
    return text, did_you_mean(found) or "correct its target, or switch it off"


def unregistered(
    graph: Graph, overrides: Iterable[Override], functions: Collection[str]
) -> list[Problem]:
    """A problem for each gradient that is asked for and is neither a function of the document nor
    that of an op type: by an override that is on, or by an operation's `_gradient_op_type`."""
    asked: dict[tuple[str, str], str] = {}
    there = {kind: _targets(graph, kind) for kind in {override.kind for override in overrides}}
    for override in overrides:
        if override.enabled and override.named in there[override.kind]:
            asked[("", override.gradient)] = f"the override of {override.target}"
    for op in within(graph):
        if op.gradient_op_type is not None:
            asked[(op.name, op.gradient_op_type)] = "its _gradient_op_type"
    return [
        Problem(
            node,
            "unregistered-gradient",
            f"{who} asks for the gradient '{name}', which is not registered",
            did_you_mean(near_gradients(name, functions))
            or f"add a gradient function named '{name}'",
            severity="warning",
        )
        for (node, name), who in asked.items()
        if not is_registered(name, functions)
    ]


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
