"""Whether what a breakpoint names is there."""

from __future__ import annotations

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.breaks.expression_names import find_mentions
from gradstep.core.debug.breaks.log_text import log_expressions
from gradstep.core.errors import GradstepError
from gradstep.core.graph.foreign_origin import operations_by_line
from gradstep.core.graph.loop import anywhere, within
from gradstep.core.graph.model import Graph, Phase
from gradstep.core.graph.scopes import parents
from gradstep.core.graph.suggestions import instead


def require_targets(graph: Graph, breakpoint: Breakpoint) -> None:
    """Raise GradstepError when nothing in `graph` or a loop in it is called as the breakpoint's
    target, or as a tensor of its condition or text."""
    _require(graph, breakpoint.kind, breakpoint.target)
    for text in (breakpoint.condition, *log_expressions(breakpoint.log)):
        for _, ref in find_mentions(text):
            anywhere(graph, ref.op)


def _require(graph: Graph, kind: BreakpointKind, target: str) -> None:
    if kind in (BreakpointKind.OP, BreakpointKind.GRADIENT, BreakpointKind.WRITE):
        anywhere(graph, target)
        return
    known = {
        BreakpointKind.TYPE: {op.type for op in within(graph)},
        BreakpointKind.PHASE: {phase.value for phase in Phase},
        BreakpointKind.LINE: {*operations_by_line(within(graph))},
        BreakpointKind.SCOPE: {scope for op in within(graph) for scope in parents(op.name)},
    }[kind]
    if target.rstrip("/") not in known:
        raise GradstepError(
            f"there is no {kind.value} '{target}' in this graph",
            kind="KeyError",
            hint=instead(target, sorted(known)),
        )
