"""Standing in an iteration of a loop: looking at its values, and moving on in it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gradstep.core.engine.loops.iteration_trace import LoopTrace
from gradstep.core.engine.loops.loop_run import LoopRun
from gradstep.core.engine.plan.liveness_conditions import holds
from gradstep.core.engine.plan.loop_body import Iteration
from gradstep.core.engine.plan.step_groups import group_steps
from gradstep.core.engine.plan.steps import Step
from gradstep.core.engine.plan.why_dead import Untaken, why_dead
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation, TensorRef


class LoopPosition:
    """Stands after `step` steps of iteration `number` of the loop that operation `name` runs.

    trace: the iterations so far. run: the run of the loop that is under way; None: it is over, and
    only looked at.
    """

    def __init__(
        self, name: str, of: Iteration, trace: LoopTrace, run: LoopRun | None = None
    ) -> None:
        self.name = name
        self.plan = of.plan
        self.groups = group_steps([step.op for step in of.plan.steps])
        self.number = self.step = 0
        self._split = of.split
        self._trace = trace
        self._run = run
        self._boundaries = [*(group.start for group in self.groups), len(of.plan.steps)]

    @property
    def iterations(self) -> int | None:
        """How many iterations take place; None while that is not known."""
        known = self._run is None or self._run.ended
        return self._trace.iterations if known else None

    @property
    def length(self) -> int:
        """Steps of this iteration: where the loop ends, only those of the condition."""
        return self._split if self.number == self.iterations else len(self.plan.steps)

    @property
    def at_end(self) -> bool:
        """Whether all of this iteration is done."""
        return self.step == self.length

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to do in the loop."""
        return self.at_end and self.number == self.iterations

    @property
    def next(self) -> Step | None:
        """The step that comes next; None at the end of the iteration."""
        return None if self.at_end else self.plan.steps[self.step]

    @property
    def after_group(self) -> int:
        """Where the group of steps ends that comes next."""
        return self._boundaries[bisect_right(self._boundaries, self.step)]

    def forward(self, step: int) -> GradstepError | None:
        """Move to `step` of this iteration, or to its end if that comes first, executing what is
        missing; what stopped it."""
        run, error = self._run, None
        if run is not None and self.number == run.number and step > run.step:
            error = run.reach(step)
            step = run.step
        self.step = min(step, self.length)
        return error

    def onward(self) -> GradstepError | None:
        """From the end of an iteration, which is not the loop's, to the start of the next; what is
        in the way."""
        if self._run is not None and self.number == self._run.number:
            error = self._run.advance()
            if error is not None:
                return error
        self.number, self.step = self.number + 1, 0
        return None

    def to_end(self) -> None:
        """Stand at the end of the loop, which is over."""
        self.number = self._trace.iterations
        self.step = self.length

    def resume(self) -> None:
        """Stand where the run of the loop stands, if it is under way."""
        if self._run is not None:
            self.number, self.step = self._run.number, self._run.step

    def back(self) -> bool:
        """To the start of the group before, or from the start of an iteration to the end of the one
        before; False at the start of the loop."""
        if self.step:
            self.step = self._boundaries[bisect_left(self._boundaries, self.step) - 1]
        elif self.number:
            self.number -= 1
            self.step = self.length
        else:
            return False
        return True

    def enter(self) -> LoopPosition:
        """The start of the loop that is the next step. Raises GradstepError when this iteration
        is not kept any more."""
        step = self.plan.steps[self.step]
        assert step.iteration is not None
        run = self._run
        if run is not None and (self.number, self.step) == (run.number, run.step):
            inner = run.recording.loop(self.step)
            return LoopPosition(step.op.name, step.iteration, inner.trace, inner)
        return looked_at(step, self._held(trace_of(step), self.number))

    def value(self, ref: TensorRef, number: int, step: int) -> Any:
        """What a tensor held after `step` steps of iteration `number`: a device array, or state.
        None where it was not computed (yet), is dead, or is not kept any more."""
        where = self.plan.tensors.get(ref)
        if where is None or self.dead(ref, number, step):
            return None
        index = self.plan.newest(where, step) if isinstance(where, str) else where
        return self._held(index, number) if self.plan.made_by[index] < step else None

    def dead(self, ref: TensorRef, number: int, step: int) -> Untaken | None:
        """Why a tensor was dead after `step` steps of iteration `number`."""
        if ref not in self.plan.alive or self.plan.step_of[ref.op] >= step:
            return None
        return why_dead(self.plan, ref, lambda value: self._held(value, number))

    def skips(self, operation: str, number: int) -> bool:
        """Whether the operation does not run in iteration `number`, as its branch is not taken."""
        guard = self.plan.steps[self.plan.step_of[operation]].guard
        return guard is not None and not holds(guard.when, lambda v: self._held(v, number))

    def shared(self, number: int, step: int) -> Iterator[Any]:
        """What all operations of the run work on that name its class, as `value`."""
        for name in self.plan.per_run:
            yield self._held(self.plan.newest(name, step), number)

    def _held(self, index: int, number: int) -> Any:
        if self._run is not None and number == self._run.number:
            return self._run.recording.value(index)
        return self._trace.held(index, number)


@dataclass(frozen=True, slots=True)
class View:
    """What the tensors of a loop hold at one position in it."""

    level: LoopPosition
    number: int
    step: int

    def has(self, ref: TensorRef) -> bool:
        """Whether the tensor is one of an iteration."""
        return ref in self.level.plan.tensors

    def value(self, ref: TensorRef) -> Any:
        return self.level.value(ref, self.number, self.step)

    def dead(self, ref: TensorRef) -> Untaken | None:
        return self.level.dead(ref, self.number, self.step)

    def skips(self, operation: str) -> bool | None:
        """Whether its branch is not taken; None for an operation that is not in this loop."""
        there = operation in self.level.plan.step_of
        return self.level.skips(operation, self.number) if there else None

    def shared(self) -> Iterator[Any]:
        """What all operations of the run work on that name its class, as it is there."""
        return self.level.shared(self.number, self.step)


def trace_of(step: Step) -> int:
    """The value that holds what is kept of the iterations of the loop that `step` runs."""
    assert step.iteration is not None
    return step.writes[len(step.iteration.loop.variables)]


def as_left(step: Step, trace: Any, inside: Sequence[Operation], ref: TensorRef) -> Any:
    """What a tensor was in the last iteration of the loop that `step` has run, or of the loops
    `inside` it; None where it was not computed, or is not kept any more."""
    if not isinstance(trace, LoopTrace):
        return None
    number, plan = max(trace.iterations - 1, 0), trace.iteration.plan
    if not inside:
        dead = why_dead(plan, ref, lambda value: trace.held(value, number))
        return trace.value(ref, number) if ref in plan.tensors and dead is None else None
    inner = plan.steps[plan.step_of[inside[0].name]]
    return as_left(inner, trace.held(trace_of(inner), number), inside[1:], ref)


def looked_at(step: Step, trace: Any) -> LoopPosition:
    """The start of the loop that `step` has run. Raises GradstepError when it is not kept."""
    assert step.iteration is not None
    if isinstance(trace, LoopTrace):
        return LoopPosition(step.op.name, step.iteration, trace)
    raise GradstepError(
        f"the iterations of '{step.op.name}' are not kept any more",
        kind="FailedPreconditionError",
        node=step.op.name,
        hint="restart, and step into it when it runs",
    )
