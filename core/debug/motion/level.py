"""One level of a position: a place in a program's runs, or in the iterations of a loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from gradstep.core.debug.history.loop_iterations import LoopIterations
from gradstep.core.debug.motion.loop_place import Place
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step
from gradstep.core.errors import GradstepError


class Run(Protocol):
    """The newest of a track. step: how many of its steps are done."""

    @property
    def step(self) -> int: ...

    def reach(self, step: int) -> GradstepError | None:
        """Execute what is missing up to `step`, or up to where the run ends before, or is paused;
        what stopped it."""
        ...


class Track(Protocol):
    """Runs of one plan, one after the other: those of a program, or a loop's iterations.

    name: of the loop; "" for the program. count: how many there are; None while that is not known.
    """

    name: str
    plan: Plan

    @property
    def count(self) -> int | None: ...

    def length_of(self, number: int) -> int:
        """Steps of run `number`."""
        ...

    def is_last(self, number: int) -> bool:
        """Whether none follows run `number`."""
        ...

    def under_way(self, number: int) -> Run | None:
        """Run `number`, if it is the newest; of any other all is done."""
        ...

    def advance(self, number: int) -> GradstepError | None:
        """Let the run after number `number`, which is done, begin; what is in the way."""
        ...

    def enter(self, number: int, step: int) -> LoopIterations:
        """The iterations of the loop that is step `step` of run `number`. Raises GradstepError when
        they are not kept any more."""
        ...


@dataclass(slots=True)
class Level:
    """Standing where `step` steps of run `number` of `track` are done."""

    track: Track
    number: int = 0
    step: int = 0

    @property
    def plan(self) -> Plan:
        return self.track.plan

    @property
    def length(self) -> int:
        """Steps of this run."""
        return self.track.length_of(self.number)

    @property
    def at_end(self) -> bool:
        """Whether all of this run is done."""
        return self.step == self.track.length_of(self.number)

    @property
    def is_over(self) -> bool:
        """Whether all of this run is done, and it is the last."""
        return self.track.is_last(self.number) and self.at_end

    @property
    def next(self) -> Step | None:
        """The step that comes next; None at the end of the run."""
        return None if self.at_end else self.track.plan.steps[self.step]

    @property
    def group_start(self) -> int:
        """Where the group of steps begins that the last step done is of."""
        return self.track.plan.whole_at(self.step - 1).start

    @property
    def group_end(self) -> int:
        """Where the group of steps ends that the next step is of."""
        return self.track.plan.whole_at(self.step).stop

    @property
    def place(self) -> Place:
        """As the debugger says it, of a loop."""
        return Place(self.track.name, self.number, self.step, self.length, self.track.count)

    def lacking(self, step: int) -> Run | None:
        """What has to `reach(step)` before this level can `stand` there; None where all that is
        recorded, or is not to be executed. Asked for and not done, which is a call less."""
        run = self.track.under_way(self.number)
        return run if run is not None and step > run.step else None

    def stand(self, step: int) -> None:
        """Stand before `step` of this run; or where the run ends before, or is paused."""
        run = self.track.under_way(self.number)
        self.step = min(step, self.length if run is None else run.step)

    def to_end(self) -> None:
        """Stand at the end of the loop, which is over."""
        self.number = self.track.count or 0
        self.step = self.length
