"""Timing the steps of a plan while it runs, and those of the loops among them."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import numpy as np

from gradstep.core.engine.calls.striped_blocks import Stripes
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import Step

if TYPE_CHECKING:
    from gradstep.core.engine.run.recording import Recording

Clock = Callable[[], float]
KEPT = 1000  # runs of which the times of every step are remembered, the last ones


class Stopwatch:
    """Notes what each step of `plan` takes in a run; of a loop's iterations, in all of them.

    own:    seconds from one look at the clock to the next.
    depth:  how many loops within each other are looked into. That takes time, which would count as
            the loop's; so what a loop takes is said by a watch that does not look into it.
    inside: the watches of the loops that were looked into.

    Of the last run, by step: `times`, how often it was executed; `calls`, the bound calls it was;
    `made` and `read`, bytes of its results and inputs.
    """

    def __init__(self, plan: Plan, clock: Clock, own: float, depth: int) -> None:
        self.plan = plan
        self.inside: dict[Step, Stopwatch] = {}
        self._clock, self._own, self._depth = clock, own, depth
        self._runs: deque[np.ndarray] = deque(maxlen=KEPT)

    def begin(self) -> None:
        """Another run."""
        self._runs.append(np.zeros(len(self.plan.steps)))
        counts = np.zeros((4, len(self.plan.steps)), np.int64)
        self.times, self.calls, self.made, self.read = counts
        for watch in self.inside.values():
            watch.begin()

    @property
    def seconds(self) -> np.ndarray:
        """Of each step, the median over the runs."""
        median: np.ndarray = np.maximum(np.median(self._runs, axis=0), 0.0)
        return median

    def into(self, loop: Step) -> Stopwatch | None:
        """The watch for the iterations of a loop; None where that is not looked into."""
        if self._depth == 0 or loop.iteration is None:
            return None
        if loop not in self.inside:
            plan = loop.iteration.plan
            watch = self.inside[loop] = Stopwatch(plan, self._clock, self._own, self._depth - 1)
            watch.begin()
        return self.inside[loop]

    def run(self, recording: Recording, start: int, stop: int) -> tuple[int, Exception | None]:
        """Execute steps `start` to `stop`; how many steps are done then, and what stopped it
        early."""
        listed = [(step, call) for step, call in recording.calls_as_made if start <= step < stop]
        clock, done, failure = self._clock, stop, None
        taken: list[int] = []
        stamps = [clock()]
        shared: dict[int, list[tuple[int, float]]] = {}  # of a call of several steps
        try:
            with np.errstate(all="ignore"):
                for step, call in listed:
                    if isinstance(call, Stripes):
                        shared[len(taken)] = [*call.timed(clock)]
                    else:
                        call()
                    stamps.append(clock())
                    taken.append(step)
        except Exception as error:
            step, call = listed[len(taken)]
            done, failure = call.failed if isinstance(call, Stripes) else step, error
        seconds = [*(np.diff(stamps) - self._own)]
        for place in reversed(shared):
            taken[place : place + 1] = [step for step, _ in shared[place]]
            seconds[place : place + 1] = [span for _, span in shared[place]]
        self._runs[-1] += _by_step(taken, len(self.times), np.array(seconds))
        self._count(recording, taken, range(start, done))
        return done, failure

    def _count(self, recording: Recording, steps: list[int], done: range) -> None:
        self.times[done.start : done.stop] += 1
        self.calls += _by_step(steps, len(self.times)).astype(np.int64)
        for index in dict.fromkeys(steps):
            step = self.plan.steps[index]
            self.made[index] += _bytes(recording, step.writes)
            self.read[index] += _bytes(recording, step.reads)


def _by_step(steps: list[int], count: int, weights: np.ndarray | None = None) -> np.ndarray:
    return np.bincount(np.array(steps, np.intp), weights, count)


def _bytes(recording: Recording, values: Iterable[int]) -> int:
    """What the values take, even where only a block of them is there at a time."""
    return sum(_size(recording, value) for value in dict.fromkeys(values))


def _size(recording: Recording, value: int) -> int:
    kind = recording.plan.values[value].type
    if kind.shape.is_static:
        return math.prod(kind.shape.static()) * kind.dtype.numpy.itemsize
    array = recording.value(value)
    return 0 if array is None else int(array.nbytes)
