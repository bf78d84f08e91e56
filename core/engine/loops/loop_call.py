"""The bound call of a step that runs a loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gradstep.core.engine.device_transfer import copy_array
from gradstep.core.engine.loops.given_values import GivenValues
from gradstep.core.engine.loops.iteration_trace import LoopTrace, not_kept
from gradstep.core.engine.loops.loop_pause import LoopPaused
from gradstep.core.engine.loops.loop_run import LoopRun
from gradstep.core.engine.loops.trace_retention import Retention
from gradstep.core.engine.plan.steps import Step

if TYPE_CHECKING:
    from gradstep.core.engine.run.plan_binding import Binding


class LoopCall:
    """Takes `run` through the loop on what its step reads, from wherever it stands if it was begun
    by `open`.

    cells: value -> its array; fixed: whether that is always the same object; absent: versions of
    variables that turned out to hold no value; on_host: number of an input that the loop wants on
    the host -> what it always is.
    """

    def __init__(
        self,
        around: Binding,
        run: LoopRun,
        step: Step,
        cells: list[Any],
        fixed: Sequence[int],
        absent: set[int],
        on_host: Mapping[int, Any],
    ) -> None:
        self.run = run
        self._step, self._cells, self._fixed, self._absent = step, cells, fixed, absent
        self.around, self._on_host = around, on_host
        self._begun = self._done = False

    def __call__(self) -> None:
        if not self._begun or self._done:
            self._begin()
        watch = self.around.stopwatch
        self.run.recording.stopwatch = None if watch is None else watch.into(self._step)
        error = self.run.finish(self.around.pausing)
        if error is None and not self.run.ended:
            raise LoopPaused
        self._done = True
        if error is not None:
            raise error
        self._put()

    def open(self) -> LoopRun:
        """The run, at its start if the step has not come there yet."""
        if not self._begun:
            self._begin()
        return self.run

    def open_at(self, number: int, step: int, kept: Any) -> LoopRun:
        """The run, standing where `step` steps of iteration `number` are done. kept: what there is
        of the iterations, where it is over. What was done of that iteration is not done again, nor
        what is before it. Raises GradstepError where that is not kept."""
        if self._begun and not self._done:
            self.run.go_back(number, step)
            return self.run
        self._begin()
        if not isinstance(kept, LoopTrace) or kept.iteration is not self.run.iteration:
            raise not_kept(self._step.op.name)
        self.run.go_back(number, step, kept)
        return self.run

    def close(self) -> None:
        """Another run of the plan begins."""
        if self._begun:
            self._begun = self._done = False
            self.run.release()

    def close_unfinished(self) -> None:
        """Where it was left half-way, begin again."""
        if not self._done:
            self.close()

    def adopt(self, keeping: Retention) -> None:
        """Keep this of iterations from now on."""
        if keeping is not self.run.keeping:
            self.run.adopt(keeping)

    def _begin(self) -> None:
        iteration, reads, absent = self.run.iteration, self._step.reads, self._absent
        values = [None if i in absent else self._cells[i] for i in reads]
        for number, array in self._on_host.items():
            values[number] = array
        count = len(reads) - len(iteration.shared)
        shared = zip(iteration.shared, values[count:], strict=True)
        there = {name: array for name, array in shared if array is not None}
        self.run.begin(values[:count], there, self.given)
        self._begun, self._done = True, False

    @property
    def given(self) -> GivenValues | None:
        """What is given by hand in its iterations."""
        around = self.around
        return around.given.get(around.plan.step_of[self._step.op.name]) if around.given else None

    def _put(self) -> None:
        run, step = self.run, self._step
        variables = run.variables
        written = (variables.get(name) for name in run.iteration.written)
        xp = run.recording.backend.xp
        for index, result in zip(step.writes, (*run.results, run.trace, *written), strict=True):
            if result is None:
                self._absent.add(index)
            elif self._fixed[index]:
                self._cells[index][...] = result
            else:
                self._cells[index] = copy_array(xp, result)
