"""What a tensor was over the runs, as far as that is recorded, or can be had for little."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.history.timeline import Timeline
from gradstep.core.engine.device_transfer import get
from gradstep.core.graph.model import TensorRef

Array = np.ndarray[Any, Any]
FrameAt = Callable[[int, int], Frame]


@dataclass(frozen=True, slots=True, eq=False)
class Moment:
    """The tensor's value once `step` steps of `run` are done: to be done with before the next one.
    frame: of what else there is then; None where only the tensor is known."""

    run: int
    step: int
    value: Array
    frame: Frame | None = None


class TensorHistory:
    """Of one tensor. A variable has a moment at each step that writes it, and where it is known
    what runs that were not recorded began with; any other tensor one a run."""

    def __init__(self, timeline: Timeline, frame: FrameAt, ref: TensorRef) -> None:
        self._timeline, self._frame, self._ref = timeline, frame, ref
        self._place = timeline.plan.tensors.get(ref)

    def moments(self, most: int, until: float) -> Iterator[Moment]:
        """At most about `most`, the first few from all over the runs: those that are there, and
        then, before the time `until` (of time.monotonic), those that runs have to be made again
        for."""
        recorded = _spread(self._timeline.recorded_runs, most)
        for run in _far_apart(recorded):
            check_cancelled()
            yield from self._recorded(run, begins=run - 1 not in recorded)
        left = most - len(recorded) * max(len(self._steps), 1)
        if left > 0 and not self._timeline.link.names:
            yield from self._not_recorded(left, until)

    @property
    def _steps(self) -> Sequence[int]:
        """How many steps are done in a run when the tensor has a new value."""
        plan = self._timeline.plan
        if isinstance(self._place, str):
            return [plan.made_by[version] + 1 for version in plan.versions[self._place]]
        return [self._timeline.length if self._place is None else plan.made_by[self._place] + 1]

    def _recorded(self, run: int, begins: bool) -> Iterator[Moment]:
        """begins: whether to say what a variable was at its begin, which the run before has said
        otherwise."""
        done = self._timeline.done(run)
        for step in self._steps:
            if not step and not begins:
                continue
            frame = self._frame(run, step)
            value = frame.look(self._ref) if step <= done else None
            if value is not None:
                yield Moment(run, step, value, frame)

    def _not_recorded(self, most: int, until: float) -> Iterator[Moment]:
        there = {*self._timeline.recorded_runs}
        runs = [run for run in self._timeline.starts.runs if run not in there]
        if isinstance(self._place, str):
            yield from self._begun(_spread(runs, most), self._place)
        elif self._place is not None and self._ref not in self._timeline.plan.alive:
            yield from self._repeated(_far_apart(_spread(runs, most)), self._place, until)

    def _begun(self, runs: Sequence[int], variable: str) -> Iterator[Moment]:
        for run in runs:
            value = self._timeline.starts[run].get(variable)
            if value is not None:
                yield Moment(run, 0, get(self._timeline.backend, value))

    def _repeated(self, runs: Sequence[int], place: int, until: float) -> Iterator[Moment]:
        for run in runs:
            if time.monotonic() >= until:
                return
            check_cancelled()
            value = self._timeline.repeated(run).value(place)
            yield Moment(run, self._steps[0], get(self._timeline.backend, value))


def _spread(runs: Sequence[int], most: int) -> Sequence[int]:
    """At most so many of them, the first and the last among them."""
    if len(runs) <= most:
        return runs
    places = np.linspace(0, len(runs) - 1, max(most, 2)).round().astype(int)
    return [runs[place] for place in dict.fromkeys(places.tolist())]


def _far_apart(runs: Sequence[int]) -> Sequence[int]:
    """In such an order that the first few lie all over them."""
    bits = max(len(runs) - 1, 1).bit_length()
    turned = sorted(range(len(runs)), key=lambda i: int(f"{i:0{bits}b}"[::-1], 2))
    return [runs[i] for i in turned]
