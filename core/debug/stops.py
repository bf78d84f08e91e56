"""Breakpoints against a plan: at which positions a run may have to stop, found before it runs.

Position p is between steps p - 1 and p. A breakpoint without a condition stops before the step it
names; one with a condition right after it, when the values that the condition speaks of exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from core.debug.breakpoints import Breakpoint, BreakpointKind
from core.debug.expression import Expression, Scope, Values, parse
from core.debug.hits import Hits, Path
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
    """One place where one breakpoint may stop. operation: what it is about; always: whatever the
    values are."""

    breakpoint: Breakpoint
    position: int
    operation: str
    condition: Expression | None
    always: bool = False

    def holds(self, look: Callable[[], Looked]) -> bool:
        """Whether it is hit where `look` gives the values: not in a branch that is not taken, and
        not where the condition is not true. Raises GradstepError if that cannot be told."""
        if self.always:
            return True
        values = look()
        if values.skips(self.operation):
            return False
        condition = self.condition
        return condition is None or condition.holds(Scope(values, TensorRef(self.operation)))


class StopPoints:
    """All places of a set of breakpoints in one plan."""

    def __init__(self, plan: Plan, breakpoints: Sequence[Breakpoint], hits: Hits) -> None:
        """Raises GradstepError for a condition that cannot be read."""
        self.plan = plan
        self.at: dict[int, list[StopPoint]] = {}
        self._hits = hits
        for breakpoint in breakpoints:
            condition = parse(breakpoint.condition) if breakpoint.condition.strip() else None
            for point in _points(plan, breakpoint, condition) if breakpoint.enabled else ():
                always = condition is None and self._always_runs(point.operation)
                self.at.setdefault(point.position, []).append(replace(point, always=always))
        self.positions = sorted(self.at)

    def between(self, after: int, until: int) -> Iterator[int]:
        """Positions p with after < p <= until, ascending."""
        return (p for p in self.positions if after < p <= until)

    def met(
        self, way: Path, position: int, look: Callable[[], Looked], at_end: bool
    ) -> StopPoint | None:
        """The first breakpoint that stops at `position`; its hit is counted. way: the run, or what
        leads to the iteration; look: gives the values there; at_end: no step comes next, so that
        nothing stops before one."""
        for point in self.at.get(position, ()):
            if at_end and point.condition is None:
                continue
            if point.holds(look) and self._hits.enough(point.breakpoint, (*way, position)):
                return point
        return None

    def _always_runs(self, operation: str) -> bool:
        """Whether the operation is one of the plan's, and in no branch."""
        step = self.plan.step_of.get(operation)
        return step is not None and self.plan.steps[step].guard is None


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
