"""Breakpoints against a plan: at which positions a run may have to stop, found before it runs.

Position p is between steps p - 1 and p. A breakpoint without a condition stops before the step it
names; one with a condition right after it, when the values that the condition speaks of exist.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from core.debug.breakpoints import Breakpoint, BreakpointKind
from core.debug.expression import Expression, Scope, Values, parse
from core.engine.groups import owner
from core.engine.plan import Plan, Step
from core.graph.model import Operation, Phase, TensorRef


class Looked(Values, Protocol):
    """Values as of a position."""

    def skips(self, operation: str) -> bool:
        """Whether it does not run, as its branch is not taken."""
        ...


@dataclass(frozen=True, slots=True)
class StopPoint:
    """One place where one breakpoint may stop. seen: when it was hit, as runs (in a loop: runs and
    iterations) and positions, in order; all its places share it."""

    breakpoint: Breakpoint
    position: int
    operation: str  # what it is about
    condition: Expression | None
    seen: list[tuple[int, ...]] = field(default_factory=list, compare=False)

    def holds(self, values: Values) -> bool:
        """Whether the condition is true of `values`. Raises GradstepError if it cannot be told."""
        if self.condition is None:
            return True
        return self.condition.holds(Scope(values, TensorRef(self.operation)))


@dataclass
class StopPoints:
    """All places of a set of breakpoints, and the hits counted so far.

    A hit is counted once for each run (in a loop: run and iteration) and position, however often
    the debugger passes it.
    """

    plan: Plan
    breakpoints: Sequence[Breakpoint]
    at: dict[int, list[StopPoint]] = field(default_factory=dict)
    seen: dict[Breakpoint, list[tuple[int, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raises GradstepError for a condition that cannot be read."""
        for breakpoint in self.breakpoints:
            condition = parse(breakpoint.condition) if breakpoint.condition.strip() else None
            if breakpoint.enabled:
                seen = self.seen.setdefault(breakpoint, [])
                for point in _points(self.plan, breakpoint, condition):
                    self.at.setdefault(point.position, []).append(replace(point, seen=seen))
        self.positions = sorted(self.at)

    def between(self, after: int, until: int) -> Iterator[int]:
        """Positions p with after < p <= until, ascending."""
        return (p for p in self.positions if after < p <= until)

    def met(self, when: tuple[int, ...], position: int, values: Looked) -> StopPoint | None:
        """The first breakpoint that stops at `position` of this run, or run and iteration; its hit
        is counted. None stops at what is in a branch that is not taken."""
        return next((p for p in self.at.get(position, ()) if self._meets(p, when, values)), None)

    def _meets(self, point: StopPoint, when: tuple[int, ...], values: Looked) -> bool:
        if values.skips(point.operation) or not point.holds(values):
            return False
        seen, here = point.seen, (*when, point.position)
        hits = bisect_right(seen, here)
        if not hits or seen[hits - 1] != here:
            seen.insert(hits, here)  # nearly always at the end
            hits += 1
        return hits >= point.breakpoint.hits

    def forget(self) -> None:
        """Count hits from nothing again."""
        for seen in self.seen.values():
            seen.clear()


def _points(
    plan: Plan, breakpoint: Breakpoint, condition: Expression | None
) -> Iterator[StopPoint]:
    if breakpoint.kind is BreakpointKind.GRADIENT:
        yield from _gradient_points(plan, breakpoint, condition)
        return
    inside = False
    for index, step in enumerate(plan.steps):
        matches = _matches(breakpoint, step.op)
        entered, inside = matches and not inside, matches
        if not matches or _exempt(breakpoint, step):
            continue
        region = breakpoint.kind in (BreakpointKind.SCOPE, BreakpointKind.PHASE)
        if condition is not None:
            yield StopPoint(breakpoint, index + 1, step.op.name, condition)
        elif entered or not region:
            yield StopPoint(breakpoint, index, step.op.name, None)


def _gradient_points(
    plan: Plan, breakpoint: Breakpoint, condition: Expression | None
) -> Iterator[StopPoint]:
    for group in plan.groups:
        named = group.phase is Phase.BACKWARD and group.origin == breakpoint.target
        if named and group.origin not in breakpoint.exempt:
            position = group.start if condition is None else group.stop
            yield StopPoint(breakpoint, position, group.origin, condition)


def _matches(breakpoint: Breakpoint, op: Operation) -> bool:
    if breakpoint.kind is BreakpointKind.OP:
        return op.name == breakpoint.target
    if breakpoint.kind is BreakpointKind.TYPE:
        return op.type == breakpoint.target
    if breakpoint.kind is BreakpointKind.PHASE:
        return op.phase.value == breakpoint.target
    return in_scope(op.name, breakpoint.target) or in_scope(owner(op), breakpoint.target)


def in_scope(name: str, scope: str) -> bool:
    """Whether operation `name` lies in `scope`; everything lies in the empty scope."""
    return not scope or name.startswith(scope.rstrip("/") + "/")


def _exempt(breakpoint: Breakpoint, step: Step) -> bool:
    return step.op.name in breakpoint.exempt or owner(step.op) in breakpoint.exempt
