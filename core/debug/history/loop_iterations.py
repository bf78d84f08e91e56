"""The iterations of a loop: those that are done, to be looked at, and the one that is under way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from gradstep.core.debug.history.chosen_iterations import ChosenIterations
from gradstep.core.engine.loops.iteration_trace import LoopTrace
from gradstep.core.engine.loops.loop_run import LoopRun
from gradstep.core.engine.plan.liveness_conditions import Condition, holds, predicates
from gradstep.core.engine.plan.loop_body import trace_of
from gradstep.core.engine.plan.steps import Step
from gradstep.core.engine.plan.why_dead import Untaken, why_dead
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation, TensorRef

NONE_CHOSEN = ChosenIterations()


class LoopIterations:
    """Of the loop that `step` of a plan runs; a `Track`, as a timeline is of the program's runs.

    trace: the iterations so far. run: the run of the loop that is under way; None: it is over, and
    only looked at.
    """

    def __init__(self, step: Step, trace: LoopTrace, run: LoopRun | None = None) -> None:
        assert step.iteration is not None
        self.op, self.name = step.op, step.op.name
        self.iteration = step.iteration
        self.plan = step.iteration.plan
        self._split = step.iteration.split
        self._kept = trace
        self._looked_at, self._life = run, None if run is None else run.life

    @property
    def _run(self) -> LoopRun | None:
        """The run that is under way, as long as it has not begun again."""
        run = self._looked_at
        return run if run is not None and run.life is self._life else None

    @property
    def _trace(self) -> LoopTrace:
        run = self._run
        return self._kept if run is None else run.trace

    @property
    def count(self) -> int | None:
        """How many iterations take place; None while that is not known."""
        run = self._run
        known = run is None or run.ended
        return self._trace.iterations if known else None

    @property
    def reached(self) -> tuple[int, int]:
        """The iteration, and the step in it, where the run of the loop stands."""
        run = self._run
        return (0, 0) if run is None else (run.number, run.step)

    def has_begun(self, number: int) -> bool:
        """Whether iteration `number` is one that has."""
        return self.count is not None or number <= self.reached[0]

    def length_of(self, number: int) -> int:
        """Steps of iteration `number`: where the loop ends, only those of the condition."""
        return self._split if self.is_last(number) else len(self.plan.steps)

    def is_last(self, number: int) -> bool:
        """Whether iteration `number` is the one that does not take place any more."""
        return number == self.count

    def under_way(self, number: int) -> LoopRun | None:
        """The run of the loop, if it stands in iteration `number`."""
        run = self._run
        return run if run is not None and number == run.number else None

    def advance(self, number: int) -> GradstepError | None:
        """From the end of iteration `number`, which is not the last, to the start of the next; what
        is in the way."""
        run = self.under_way(number)
        return None if run is None else run.advance()

    def enter(self, number: int, step: int) -> LoopIterations:
        """Those of the loop that is step number `step` of iteration `number`. Raises GradstepError
        when that iteration is not kept any more."""
        inner, run = self.plan.steps[step], self._run
        if run is not None and (number, step) == (run.number, run.step):
            live = run.recording.loop(step)
            return LoopIterations(inner, live.trace, live)
        return kept_iterations(inner, self.held(trace_of(inner), number))

    def value(self, ref: TensorRef, number: int, step: int) -> Any:
        """What a tensor held after `step` steps of iteration `number`: a device array, or state.
        None where it was not computed (yet), is dead, or is not kept any more."""
        index = self._made(ref, step)
        if index is None or not self.has_begun(number) or self.dead(ref, number, step):
            return None
        return self.held(index, number, step)

    def is_lost(self, ref: TensorRef, number: int, step: int) -> bool:
        """Whether what a tensor held after `step` steps of iteration `number`, or whether it was
        dead, is not kept any more."""
        index = self._made(ref, step)
        if index is None or not self.has_begun(number):
            return False
        condition = self.plan.alive.get(ref)
        lost = condition is not None and self._forgot(condition, number)
        return lost or (not self.dead(ref, number, step) and self.lost(index, number))

    def lost(self, index: int, number: int) -> bool:
        """Whether a value of the plan is not kept any more, as of the end of an iteration."""
        return self.under_way(number) is None and self._trace.is_lost(index, number)

    def dead(self, ref: TensorRef, number: int, step: int) -> Untaken | None:
        """Why a tensor was dead after `step` steps of iteration `number`; None also where that is
        not kept any more."""
        condition = self.plan.alive.get(ref)
        if condition is None or self.plan.step_of[ref.op] >= step:
            return None
        if self._forgot(condition, number):
            return None
        return why_dead(self.plan, ref, lambda value: self.held(value, number, step))

    def skips(self, operation: str, number: int) -> bool:
        """Whether the operation does not run in iteration `number`, as its branch is not taken."""
        guard = self.plan.steps[self.plan.step_of[operation]].guard
        if guard is None or self._forgot(guard.when, number):
            return False
        return not holds(guard.when, lambda value: self.held(value, number))

    def shared(self, number: int, step: int) -> Iterator[Any]:
        """What all operations of the run work on that name its class, as `value`."""
        for name in self.plan.per_run if self.has_begun(number) else ():
            yield self.held(self.plan.newest(name, step), number, step)

    def variable(self, ref: TensorRef) -> str | None:
        """The variable of the run around that the tensor is, where the iterations deal with it."""
        return None if ref.index else self._variables.get(ref.op)

    @cached_property
    def _variables(self) -> Mapping[str, str]:
        of = self.plan.variables
        return {v.op: name for name, v in of.items() if v.op and not v.counter and not v.anew}

    def _made(self, ref: TensorRef, step: int) -> int | None:
        """The value that a tensor is after `step` steps; None where it is not computed by then."""
        where = self.plan.tensors.get(ref)
        where = self.variable(ref) if where is None else where
        if where is None:
            return None
        index = self.plan.newest(where, step) if isinstance(where, str) else where
        return index if self.plan.made_by[index] < step else None

    def _forgot(self, condition: Condition, number: int) -> bool:
        """Whether what it asks of iteration `number` is not kept any more."""
        return any(self.lost(value, number) for value in predicates(condition))

    def held(self, index: int, number: int, step: int | None = None) -> Any:
        """A value of the plan, in iteration `number`: once `step` steps of it were done, at the end
        of what is done of it."""
        run = self.under_way(number)
        found = self._trace.held(index, number) if run is None else run.recording.value(index)
        given = self._trace.given
        if given is None or step is None:
            return found
        return given.at(number, index, step, found)


@dataclass(frozen=True, slots=True)
class LoopView:
    """What the tensors of a loop hold once `step` steps of iteration `number` are done."""

    loop: LoopIterations
    number: int
    step: int

    def has(self, ref: TensorRef) -> bool:
        """Whether the tensor is one of an iteration, or a variable that iterations deal with."""
        return ref in self.loop.plan.tensors or self.loop.variable(ref) is not None

    def chosen(self, iterations: ChosenIterations) -> LoopView | None:
        """What the iteration that was chosen has come to; None where none was, or this one."""
        made, last = self.loop.reached[0], self.loop.count
        count = made + 1 if last is None else last
        number = iterations.number(self.loop.op, count)
        if number is None or number == self.number:
            return None
        if last is None and number > made:
            return LoopView(self.loop, number, 0)  # it has not begun
        under_way = self.loop.under_way(number)
        step = self.loop.length_of(number) if under_way is None else under_way.step
        return LoopView(self.loop, number, step)

    def inner(self, around: Sequence[Operation], iterations: ChosenIterations) -> LoopView | None:
        """What is looked at of the loops `around` something, which are in this one; None where the
        first of them has not run by then."""
        plan = self.loop.plan
        at = plan.step_of.get(around[0].name)
        if at is None or at >= self.step or self.loop.skips(around[0].name, self.number):
            return None
        step = plan.steps[at]
        held = self.loop.held(trace_of(step), self.number, self.step)
        return last_view(step, held, around[1:], iterations)

    def value(self, ref: TensorRef) -> Any:
        return self.loop.value(ref, self.number, self.step)

    def dead(self, ref: TensorRef) -> Untaken | None:
        return self.loop.dead(ref, self.number, self.step)

    def is_lost(self, ref: TensorRef, around: Sequence[Operation] = ()) -> bool:
        """Whether what it held is not kept any more. around: the loops that it is in; of one inside
        this one, whether that loop's iterations are not."""
        if self.has(ref):
            return self.loop.is_lost(ref, self.number, self.step)
        plan = self.loop.plan
        steps = (plan.steps[plan.step_of[op.name]] for op in around if op.name in plan.step_of)
        return any(self.loop.lost(trace_of(step), self.number) for step in steps)

    def skips(self, operation: str) -> bool | None:
        """Whether its branch is not taken; None for an operation that is not in this loop."""
        there = operation in self.loop.plan.step_of
        return self.loop.skips(operation, self.number) if there else None

    def shared(self) -> Iterator[Any]:
        """What all operations of the run work on that name its class, as it is there."""
        return self.loop.shared(self.number, self.step)


def last_view(
    step: Step,
    trace: Any,
    inside: Sequence[Operation],
    chosen: ChosenIterations = NONE_CHOSEN,
) -> LoopView | None:
    """What the last iteration of the loop that `step` has run came to, or the chosen one, or those
    of the loops `inside` it, as far in as is kept; None where it has not run."""
    if not isinstance(trace, LoopTrace):
        return None
    loop, number = LoopIterations(step, trace), chosen.shown(step.op, trace.iterations)
    if inside:
        inner = loop.plan.steps[loop.plan.step_of[inside[0].name]]
        within = last_view(inner, loop.held(trace_of(inner), number), inside[1:], chosen)
        if within is not None:
            return within
    return LoopView(loop, number, loop.length_of(number))


def kept_iterations(step: Step, trace: Any) -> LoopIterations:
    """Those of the loop that `step` has run. Raises GradstepError when they are not kept."""
    if isinstance(trace, LoopTrace):
        return LoopIterations(step, trace)
    raise GradstepError(
        f"the iterations of '{step.op.name}' are not kept any more",
        kind="FailedPreconditionError",
        node=step.op.name,
        hint="restart, and step into it when it runs",
    )
