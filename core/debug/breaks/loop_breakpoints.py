"""Breakpoints inside loops, found for each loop when it is first asked about."""

from __future__ import annotations

from collections.abc import Sequence

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.debug.breaks.compiled_breakpoints import CompiledBreakpoints
from gradstep.core.debug.breaks.hit_counts import HitCounts
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step

_NAMED = (BreakpointKind.OP, BreakpointKind.GRADIENT, BreakpointKind.WRITE)


class LoopBreakpoints:
    """Of a set of breakpoints those places that are in iterations. One on a phase has none there:
    a loop is all of one."""

    def __init__(
        self, breakpoints: Sequence[Breakpoint] = (), hits: HitCounts | None = None
    ) -> None:
        self._hits = hits or HitCounts()
        self._breakpoints = [b for b in breakpoints if b.kind is not BreakpointKind.PHASE]
        self._of: dict[str, CompiledBreakpoints] = {}
        self._loops: dict[Plan, list[int]] = {}
        self._named: dict[str, list[int]] = {}  # operation -> numbers of the breakpoints on it
        self._wider: list[int] = []  # numbers of those on many operations
        for number, one in enumerate(self._breakpoints):
            named = one.kind in _NAMED
            here = self._named.setdefault(one.target, []) if named else self._wider
            here.append(number)

    def of(self, loop: str, plan: Plan) -> CompiledBreakpoints:
        """The places in the iterations of `loop`, which run `plan`."""
        found = self._of.get(loop)
        if found is None or found.plan is not plan:
            found = self._of[loop] = CompiledBreakpoints(plan, self._about(plan), self._hits)
        return found

    def loops(self, plan: Plan) -> list[int]:
        """Steps of `plan` that are loops with a breakpoint inside, however deep."""
        if not self._breakpoints:
            return []
        found = self._loops.get(plan)
        if found is None:
            found = [i for i in plan.loops if self._stops_in(plan.steps[i])]
            self._loops[plan] = found
        return found

    def also(self, operation: str) -> LoopBreakpoints:
        """These, and one before `operation`."""
        return LoopBreakpoints([*self._breakpoints, Breakpoint(operation)], self._hits)

    def _about(self, plan: Plan) -> list[Breakpoint]:
        """Those that may be in `plan`: each of many loops has few of many breakpoints."""
        variables = (variable.op for variable in plan.variables.values())
        own = (name for step in plan.steps for name in (step.op.name, step.op.origin))
        names = {*own, *variables}
        here = (number for name in names for number in self._named.get(name, ()))
        return [self._breakpoints[number] for number in sorted((*self._wider, *here))]

    def _stops_in(self, step: Step) -> bool:
        assert step.iteration is not None
        plan = step.iteration.plan
        return bool(self.of(step.op.name, plan).at or self.loops(plan))
