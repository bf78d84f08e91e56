"""What recorded runs computed, step by step, and where each value that a step read came from.

A run, and an iteration of a loop in it, are looked at in the same way: each is the plan that was
run, and what its values were. Nothing is run again but what is not kept any more: runs that the
timeline has dropped, and iterations of long loops.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import chain
from typing import Any

from gradstep.core.debug.concurrency.observed_writes import NOTHING_DONE
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.loops.given_values import GivenValues
from gradstep.core.engine.loops.iteration_trace import LoopTrace
from gradstep.core.engine.loops.loop_run import LoopRun
from gradstep.core.engine.loops.trace_retention import EVERYTHING
from gradstep.core.engine.memory.run_snapshot import RunSnapshot
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.liveness_conditions import holds
from gradstep.core.engine.plan.loop_body import trace_of
from gradstep.core.engine.plan.steps import Step
from gradstep.core.engine.run.recording import Recording
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.state.print_output import nowhere, printing_to

Rank = tuple[int, ...]  # the order of execution: run, then step and iteration of each loop, step
Holds = Callable[[Any], bool]


class Ran:
    """One run of `plan`, or one iteration of a loop.

    rank:   of its beginning: less than that of each of its steps.
    done:   how many of its steps were executed.
    within: number of the iteration and name of each loop that it is in, the outermost first.
    session: that it belongs to.
    """

    session: DebugSession
    plan: Plan
    rank: Rank
    done: int
    within: tuple[tuple[int, str], ...] = ()

    def held(self, index: int) -> Any:
        """What value `index` of the plan was: a device array, not a copy, or state; None for a
        variable without a value, and what was not computed."""
        raise NotImplementedError

    def before(self, index: int) -> Any:
        """What value `index` was before somebody else, a user or another thread, gave it another
        one; None where nobody did."""
        raise NotImplementedError

    def came_from(self, index: int) -> RecordedValue | Made | Given:
        """What made value `index`: a step, or what was there when this began."""
        step = self.plan.made_by[index]
        if step >= 0:
            return Made(self, step, self.plan.steps[step].writes.index(index))
        return self._began_with(index)

    def earliest(self, value: int, holds: Holds) -> RecordedValue | Given:
        """What a variable began with in the first run, or iteration, of all in a row up to this,
        that began with a value of which `holds` is true. It is true of `value`, the one that the
        variable began with here."""
        raise NotImplementedError

    def _began_with(self, index: int) -> RecordedValue | Given:
        raise NotImplementedError

    def rank_of(self, step: int) -> Rank:
        return (*self.rank, step)

    def position(self, step: int) -> str:
        """Where the debugger stands once step number `step` is done, as `run_to` takes it."""
        numbers = iter(self.rank_of(step + 1))
        return "/".join(f"{first}:{second}" for first, second in zip(numbers, numbers, strict=True))

    def has_run(self, step: int) -> bool:
        """Whether a step was executed, and not left out with a branch that was not taken."""
        guard = self.plan.steps[step].guard
        return step < self.done and (guard is None or holds(guard.when, self.held))

    def is_dead(self, ref: TensorRef) -> bool:
        """Whether it is in a branch that was not taken: then it may lie where something else is."""
        alive = self.plan.alive.get(ref)
        return alive is not None and not holds(alive, self.held)

    def value_of(self, ref: TensorRef) -> int | None:
        """The value that a tensor is in the end; None where the plan does not have it."""
        where = self.plan.tensors.get(ref)
        return self.plan.newest(where, self.done) if isinstance(where, str) else where

    def tensor(self, index: int) -> TensorRef:
        """What people know value `index` by: a tensor, or a variable's own output."""
        value = self.plan.values[index]
        if value.ref is not None:
            return value.ref
        variable = self.plan.variables[value.variable]
        return TensorRef(variable.op or value.variable)


@dataclass(frozen=True)
class RecordedValue:
    """Value `index` of `ran`, and the one with which the same variable began there."""

    ran: Ran
    index: int
    began: int | None = None


@dataclass(frozen=True)
class Made:
    """What step number `step` of `ran` wrote as its result number `output`."""

    ran: Ran
    step: int
    output: int

    @property
    def rank(self) -> Rank:
        return self.ran.rank_of(self.step)

    @property
    def index(self) -> int:
        """The value that it is."""
        return self.ran.plan.steps[self.step].writes[self.output]


@dataclass(frozen=True)
class Given:
    """What was there before: `kind` is "fed"; "initial", a variable before run 0; "changed", one
    that was given another value between two steps, by a thread or from another session; "lost", one
    of a run that is not kept; or "nothing". step: that it was given behind, -1 for before all."""

    ran: Ran
    index: int
    kind: str
    step: int = -1

    @property
    def rank(self) -> Rank:
        return self.ran.rank_of(self.step)


class Recorded:
    """The runs of a session."""

    def __init__(self, session: DebugSession) -> None:
        self.session = session
        self._runs: dict[int, WholeRun] = {}

    def run(self, number: int) -> WholeRun:
        """As far as it was executed."""
        if number not in self._runs:
            self._runs[number] = WholeRun(self, number)
        return self._runs[number]

    def up_to(self, number: int, step: int) -> WholeRun:
        """A run as of a step."""
        run = self._runs[number] = WholeRun(self, number)
        run.done = min(run.done, step)
        return run


class WholeRun(Ran):
    """Run `number` of a timeline, as far as it is done."""

    def __init__(self, recorded: Recorded, number: int) -> None:
        self.session = recorded.session
        self._timeline = self.session.timeline
        self.plan = self._timeline.plan
        self.rank = (number,)
        self.done = self._timeline.done(number)
        self._recorded, self._number = recorded, number

    def held(self, index: int) -> Any:
        if self.plan.made_by[index] >= self.done:
            return None
        return self._timeline.held(self._number, index, self.done)

    def before(self, index: int) -> Any:
        return self._timeline.link.seen.at(self._number, index, NOTHING_DONE, None)

    def values(self) -> Callable[[int], Any]:
        """What gives values as `held` does, but quicker: of steps that are done, without what
        others changed."""
        return self._timeline.values(self._number)

    @property
    def is_own(self) -> bool:
        """Whether nobody else, a thread or a user, has given any of its values, or may do so."""
        return not self.is_shared and not self._timeline.link.seen.touches(self._number)

    @property
    def is_shared(self) -> bool:
        """Whether another thread may give values of it."""
        return bool(self._timeline.link.names)

    @property
    def given(self) -> frozenset[int]:
        """The values that somebody else has given, but for those in loops."""
        seen = self._timeline.link.seen.of(self._number)
        return frozenset(chain.from_iterable(values for _, values in seen))

    def beginning(self) -> Callable[[int], Any]:
        """What gives the values that were there when the run began: quicker than `held`, where that
        can be."""
        return self.values() if self.is_own else self.held

    def earliest(self, value: int, holds: Holds) -> RecordedValue | Given:
        """Looks at few runs, since those that were dropped have to be repeated."""
        first, last, stride = self._timeline.first, self._number, 1
        while last > first and holds(self._recorded.run(max(last - stride, first)).held(value)):
            last, stride = max(last - stride, first), 2 * stride
        low = max(last - stride, first)
        while last - low > 1:
            middle = (low + last) // 2
            is_there = holds(self._recorded.run(middle).held(value))
            low, last = (low, middle) if is_there else (middle, last)
        return self._recorded.run(last)._began_with(value)

    def _began_with(self, index: int) -> RecordedValue | Given:
        value = self.plan.values[index]
        if value.ref is not None:
            return Given(self, index, "fed")
        if self.plan.variables[value.variable].anew:
            return Given(self, index, "nothing")
        if self._timeline.link.seen.has(self._number, index):
            return Given(self, index, "changed")
        if self._number == 0:
            return Given(self, index, "initial")
        if self._number <= self._timeline.first:
            return Given(self, index, "lost")
        return RecordedValue(
            self._recorded.run(self._number - 1), self.plan.newest(value.variable), index
        )


class OneIteration(Ran):
    """Iteration `number` of a loop."""

    def __init__(self, loop: LoopRan, number: int) -> None:
        self.loop, self.number = loop, number
        self.session, self.of = loop.around.session, loop.of
        self.plan = self.of.plan
        self.rank = (*loop.around.rank_of(loop.at), number)
        self.within = (*loop.around.within, (number, loop.step.op.name))
        self.done = len(self.plan.steps) if number < loop.count else self.of.split

    def held(self, index: int) -> Any:
        return self.loop.held(index, self.number)

    def before(self, index: int) -> Any:
        given = self.loop.given
        return None if given is None else given.at(self.number, index, NOTHING_DONE, None)

    def earliest(self, value: int, holds: Holds) -> RecordedValue | Given:
        first = self.loop.first_with(self.number, value, holds)
        return self.loop.iteration(first)._began_with(value)

    def _began_with(self, index: int) -> RecordedValue | Given:
        value, of, loop = self.plan.values[index], self.of, self.loop
        if value.ref is not None:
            return loop.read(of.fed[value.ref])
        name = value.variable
        if self.number and name in of.loop.variables:
            return loop.result(self.number - 1, of.loop.variables.index(name))
        if name in of.started:
            return loop.read(of.started[name])
        if name not in of.shared:
            return Given(self, index, "nothing")
        if self.number:
            return RecordedValue(loop.iteration(self.number - 1), self.plan.newest(name), index)
        return loop.read(len(of.loop.arguments) + of.shared.index(name))


class LoopRan:
    """The loop that step number `at` of `around` has run; `count` iterations took place."""

    def __init__(self, around: Ran, at: int) -> None:
        self.around, self.at = around, at
        self.step: Step = around.plan.steps[at]
        assert self.step.iteration is not None
        self.of = self.step.iteration
        trace = around.held(trace_of(self.step))
        assert isinstance(trace, LoopTrace)
        self.count = trace.iterations
        self._trace = trace
        self._again: LoopRun | None = None
        self._repeated: dict[int, RunSnapshot] = {}

    @property
    def given(self) -> GivenValues | None:
        """What somebody gave in its iterations."""
        return self._trace.given

    def iteration(self, number: int) -> OneIteration:
        return OneIteration(self, number)

    def read(self, number: int) -> RecordedValue:
        """What the loop read as its input `number`."""
        return RecordedValue(self.around, self.step.reads[number])

    def result(self, number: int, variable: int) -> RecordedValue:
        """What iteration `number` made of a loop variable."""
        return RecordedValue(
            self.iteration(number), self.of.results[variable], self.of.carried[variable]
        )

    def held(self, index: int, number: int) -> Any:
        """Value `index` of iteration `number`, which is run again if it is not kept."""
        if self._trace.keeps(number):
            return self._trace.held(index, number)
        if number not in self._repeated:
            self._repeated = {number: self._repeat(number).recording.record()}
        return self._repeated[number].value(index)

    def first_with(self, number: int, value: int, holds: Holds) -> int:
        """The first of the iterations up to `number`, of all in a row, that began with a value of
        which `holds` is true. Of iterations that are not kept, the first of all."""
        while number and self._trace.keeps(number - 1):
            if not holds(self._trace.held(value, number - 1)):
                return number
            number -= 1
        for earlier in range(number):
            if holds(self._repeat(earlier).recording.value(value)):
                return earlier
        return number

    def _repeat(self, number: int) -> LoopRun:
        """The loop run again, at the end of iteration `number`."""
        again = self._again
        if again is None or again.number > number:
            again = self._again = self._begun()
        length = len(again.recording.plan.steps)
        with printing_to(nowhere):
            while (error := again.reach(length)) is None and again.number < number:
                again.advance()  # nothing limits what it keeps
        if error is not None:
            raise error
        return again

    def _begun(self) -> LoopRun:
        backend, functions = self.around.session.backend, self.around.session.program.functions
        recording = Recording(self.of.plan, backend, functions)
        values = [self.around.held(index) for index in self.step.reads]
        count = len(values) - len(self.of.shared)
        shared = zip(self.of.shared, values[count:], strict=True)
        run = LoopRun(self.of, recording, EVERYTHING)
        there = {name: x for name, x in shared if x is not None}
        run.begin(values[:count], there, self._trace.given)
        return run


def origin(value: RecordedValue, holds: Holds) -> Made | Given:
    """`source`, but of a variable past the runs and iterations that began with a value of which
    `holds` is true already: to where it came to be so."""
    found: RecordedValue | Made | Given = value
    while isinstance(found, RecordedValue):
        began = found.began
        if began is not None and holds(found.ran.held(began)):
            found = found.ran.earliest(began, holds)
        else:
            found = found.ran.came_from(found.index)
    return found


def source(ran: Ran, index: int) -> Made | Given:
    """The step that made value `index` of `ran`, in whatever run or iteration; or what was there
    before all."""
    found = ran.came_from(index)
    while isinstance(found, RecordedValue):
        found = found.ran.came_from(found.index)
    return found


def read_iteration_value(ran: Ran, step: Step, number: int) -> RecordedValue:
    """What an IterationValue reads: a value of iteration `number` of a loop that has run."""
    loop = source(ran, step.reads[0])
    assert isinstance(loop, Made)
    read = loop.ran.plan.steps[loop.step]
    if read.op.type == step.op.type:  # an inner loop, as an iteration of the outer one has run it
        there = read_iteration_value(loop.ran, read, int(loop.ran.held(read.reads[1])))
        loop = source(there.ran, there.index)
        assert isinstance(loop, Made)
    that = LoopRan(loop.ran, loop.step).iteration(number)
    index = that.value_of(TensorRef.parse(step.op.attrs["tensor"]))
    assert index is not None
    return RecordedValue(that, index)
