"""Breakpoints against a plan: at which positions a run may have to stop, found before it runs.

Position p is between steps p - 1 and p. A breakpoint without a condition stops before the step it
names; one with a condition, or that logs, right after it, when the values that are spoken of exist.
Where nothing can stop yet a run need not halt (`passed_places`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.breaks.expression import Expression, Scope, Values, parse
from gradstep.core.debug.breaks.hit_counts import HitCounts, Passed, Path
from gradstep.core.debug.breaks.log_text import LogText, parse_log
from gradstep.core.debug.breaks.passed_places import PassedPlaces
from gradstep.core.debug.motion.step_index import StepIndex
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.step_groups import owner
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.state.print_output import say


class Looked(Values, Protocol):
    """Values as of a position."""

    def skips(self, operation: str) -> bool:
        """Whether it does not run, as its branch is not taken."""
        ...


# Of these one stops where they are entered, not at each of their steps.
_REGIONS = (BreakpointKind.SCOPE, BreakpointKind.PHASE, BreakpointKind.LINE)


@dataclass(frozen=True, slots=True)
class StopPoint:
    """One place where one breakpoint may stop. operation: what it is about; always: whatever the
    values are. log: what it writes instead of stopping; after: whether it is about the step before,
    and not the one that comes."""

    breakpoint: Breakpoint
    position: int
    operation: str
    condition: Expression | None
    always: bool
    log: LogText | None = None
    after: bool = False

    @property
    def counts(self) -> bool:
        """Whether each time that a run comes by is a hit, and only a later one than the first does
        anything: it stops."""
        return self.always and self.log is None and self.breakpoint.hits > 1

    def write(self, values: Looked) -> None:
        """Say what there is to log, in a line."""
        assert self.log is not None
        say(self.log.written(Scope(values, TensorRef(self.operation))) + "\n")

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


class CompiledBreakpoints:
    """All places of a set of breakpoints in one plan."""

    def __init__(self, plan: Plan, breakpoints: Sequence[Breakpoint], hits: HitCounts) -> None:
        """Raises GradstepError for a condition, or a text, that cannot be read."""
        self.plan = plan
        self.at: dict[int, list[StopPoint]] = {}
        self._hits = hits
        index = StepIndex(plan, breakpoints)
        for breakpoint in breakpoints:
            condition = parse(breakpoint.condition) if breakpoint.condition.strip() else None
            log = parse_log(breakpoint.log) if breakpoint.log.strip() else None
            written = breakpoint.kind is BreakpointKind.WRITE
            after = condition is not None or log is not None or written
            for position, name in _places(index, breakpoint, after) if breakpoint.enabled else ():
                always = condition is None and self._always_runs(name)
                point = StopPoint(breakpoint, position, name, condition, always, log, after)
                self.at.setdefault(position, []).append(point)
        self.positions = sorted(self.at)
        self._places = PassedPlaces(self.at, hits)

    def halts(self, after: int, until: int, passing: bool) -> list[int]:
        """Positions p with after < p <= until where a run may stop, ascending. passing: may be;
        then those that are passed are not among them."""
        return self._places.halts(after, until, passing)

    @property
    def passed(self) -> Sequence[Passed]:
        """Those behind the start that the last `halts` left out, of the whole run; for `count`."""
        return self._places.passed

    def count(
        self, passed: Sequence[Passed], way: Path, after: int, until: int, at_end: bool
    ) -> None:
        """Count the hits at those that are at positions p with after < p <= until. at_end: no step
        comes next at the last, so that nothing is hit before one: in a loop's last iteration."""
        is_short = at_end and until < len(self.plan.steps)
        if is_short or passed[0].position <= after or until < passed[-1].position:
            before = until - is_short
            passed = [x for x in passed if after < x.position <= (until if x.after else before)]
        if passed:
            self._hits.count(passed, way)

    def last_before(self, step: int) -> int:
        """The last position before `step`; -1 where there is none."""
        number = bisect_left(self.positions, step)
        return self.positions[number - 1] if number else -1

    def met(
        self,
        way: Path,
        position: int,
        look: Callable[[], Looked],
        at_end: bool,
        logs: bool = True,
    ) -> StopPoint | None:
        """The first breakpoint that stops at `position`; its hit is counted. Those that log have
        written, if it `logs`. way: the run, or what leads to the iteration; look: gives the values
        there; at_end: no step comes next, so that nothing stops before one."""
        stops = None
        if passed := self._places.passed_at(position):
            self.count(passed, way, position - 1, position, at_end)
            return None
        for point in self.at.get(position, ()):
            if (at_end and not point.after) or (point.log is None and stops is not None):
                continue
            if point.holds(look) and self._hits.enough(point.breakpoint, (*way, position)):
                if point.log is None:
                    stops = point
                elif logs:
                    point.write(look())
        return stops

    def _always_runs(self, operation: str) -> bool:
        """Whether the operation is one of the plan's, and in no branch."""
        step = self.plan.step_of.get(operation)
        return step is not None and self.plan.steps[step].guard is None


def _places(index: StepIndex, breakpoint: Breakpoint, after: bool) -> Iterator[tuple[int, str]]:
    """Positions and operations at which the breakpoint may stop: `after` these, or before."""
    if breakpoint.kind is BreakpointKind.WRITE:
        for step in index.writes.get(breakpoint.target, ()):
            if not _exempt(breakpoint, index.plan.steps[step].op):
                yield step + 1, breakpoint.target
        return
    if breakpoint.kind is BreakpointKind.GRADIENT:
        name = breakpoint.target
        for group in () if name in breakpoint.exempt else index.gradients.get(name, ()):
            yield group.stop if after else group.start, name
        return
    region = breakpoint.kind in _REGIONS
    last = -2  # step of the region
    for number in index.matching(breakpoint):
        entered, last = index.leaves(breakpoint, last, number), number
        op = index.plan.steps[number].op
        if _exempt(breakpoint, op):
            continue
        if entered or not region or breakpoint.condition.strip():
            yield number + after, op.name


def _exempt(breakpoint: Breakpoint, op: Operation) -> bool:
    exempt = breakpoint.exempt
    return bool(exempt) and (op.name in exempt or owner(op) in exempt)
