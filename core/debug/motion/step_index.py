"""The steps of a plan by what breakpoints name: an operation, a type, a phase, a scope, a line."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import compress, count
from operator import attrgetter

from gradstep.core.debug.breaks.breakpoints import Breakpoint, BreakpointKind
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.step_groups import Group, group_steps, owner
from gradstep.core.engine.plan.steps import Step
from gradstep.core.graph.foreign_origin import source_line
from gradstep.core.graph.model import Operation, Phase
from gradstep.core.graph.scopes import parents

Steps = Sequence[int]  # numbers, ascending
_ORIGIN = attrgetter("op.origin")


class StepIndex:
    """Where `breakpoints` are in `plan`. A table is made once, when it is first asked for, in one
    pass over the plan: many breakpoints cost no more passes than one."""

    def __init__(self, plan: Plan, breakpoints: Iterable[Breakpoint]) -> None:
        self.plan = plan
        targets: dict[BreakpointKind, set[str]] = {}
        for each in breakpoints:
            targets.setdefault(each.kind, set()).add(each.target)
        scopes = targets.get(BreakpointKind.SCOPE, ())
        self._wanted = frozenset(scope.rstrip("/") for scope in scopes) - {""}
        self._differentiated = frozenset(targets.get(BreakpointKind.GRADIENT, ()))

    def matching(self, breakpoint: Breakpoint) -> Steps:
        """The steps that one of the breakpoints names, if it is on no gradient and no variable."""
        target = breakpoint.target
        if breakpoint.kind is BreakpointKind.OP:
            step = self.plan.step_of.get(target)
            return () if step is None else (step,)
        if breakpoint.kind is BreakpointKind.TYPE:
            return self._types.get(target, ())
        if breakpoint.kind is BreakpointKind.PHASE:
            return self._phases.get(target, ())
        if breakpoint.kind is BreakpointKind.LINE:
            return self._lines.get(target, ())
        if not target:
            return range(len(self.plan.steps))  # all are in the scope without a name
        return self._scopes.get(target.rstrip("/"), ())

    def leaves(self, breakpoint: Breakpoint, last: int, step: int) -> bool:
        """Whether anything between two steps of a region is outside of it (last < 0: there was none
        before). Weights are of no line and read in the middle of one."""
        if last < 0 or breakpoint.kind is not BreakpointKind.LINE:
            return step > last + 1 or last < 0
        return any(source_line(each.op) for each in self.plan.steps[last + 1 : step])

    @cached_property
    def gradients(self) -> Mapping[str, Sequence[Group]]:
        """Forward operation, if one of the breakpoints is on its gradients -> the groups of steps
        that make these. In C but for what belongs to such an operation: all the groups of a plan
        are made when somebody steps over them."""
        found: dict[str, list[Group]] = {}
        steps, names, step_of = self.plan.steps, self._differentiated, self.plan.step_of
        own = (step_of[name] for name in names if name in step_of)
        theirs = compress(count(), map(names.__contains__, map(_ORIGIN, steps)))
        places = sorted({*own, *theirs})
        for group in group_steps([steps[place].op for place in places], places):
            if group.phase is Phase.BACKWARD:
                found.setdefault(group.origin, []).append(group)
        return found

    @cached_property
    def writes(self) -> Mapping[str, Steps]:
        """Variable -> the steps that write it."""
        plan, found = self.plan, dict[str, list[int]]()
        for number, step in enumerate(plan.steps):
            for name in written_by(plan, step):
                found.setdefault(plan.variables[name].op, []).append(number)
        return found

    @cached_property
    def _types(self) -> Mapping[str, Steps]:
        return self._by(lambda op: (op.type,))

    @cached_property
    def _phases(self) -> Mapping[str, Steps]:
        return self._by(lambda op: (op.phase.value,))

    @cached_property
    def _lines(self) -> Mapping[str, Steps]:
        return self._by(lambda op: [line] if (line := source_line(op)) else ())

    @cached_property
    def _scopes(self) -> Mapping[str, Steps]:
        """An operation is in the scopes of its own name, and in those of what it belongs to."""
        around: dict[str, frozenset[str]] = {}  # scope -> those that are wanted, of it and around

        def scopes(op: Operation) -> frozenset[str]:
            ends = (op.scope, owner(op).rpartition("/")[0])
            for scope in ends:
                if scope not in around:
                    around[scope] = self._wanted.intersection((*parents(scope), scope))
            return around[ends[0]] | around[ends[1]]

        return self._by(scopes)

    def _by(self, names: Callable[[Operation], Iterable[str]]) -> Mapping[str, Steps]:
        found: dict[str, list[int]] = {}
        for number, step in enumerate(self.plan.steps):
            for name in names(step.op):
                found.setdefault(name, []).append(number)
        return found


def written_by(plan: Plan, step: Step) -> set[str]:
    """The variables that a step gives another value; what a loop writes its own steps do."""
    inside = () if step.iteration is None else step.iteration.written
    return {plan.values[i].variable for i in step.writes}.difference(inside, [""])
