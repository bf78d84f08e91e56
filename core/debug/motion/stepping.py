"""The moves, in a program's runs and in the iterations of loops alike."""

from __future__ import annotations

from gradstep.core.debug.breaks.loop_breakpoints import LoopBreakpoints
from gradstep.core.debug.motion.exact_place import ExactPlace, parse_place, require_place
from gradstep.core.debug.motion.level import Level
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.debug.motion.travel import Travel
from gradstep.core.errors import GradstepError
from gradstep.core.graph.scopes import is_inside

_FAR = 64  # runs ahead; fewer than that are all recorded


class PastLoop(int):
    """A step behind a loop that was left: on the way there its breakpoints do not hold."""


# Where a move leads: a step of the level that it has come to, which is still to be gone on to by
# `forward`; or it has gone there itself: None, or what stopped it.
Onward = int | Reason | None


class Stepper(Travel):
    """The moves: a command is made by the method of its name."""

    def step(self) -> Onward:
        """To the end of the current group; from the end of a run or an iteration, to the start of
        the next; from the end of a loop, past it."""
        level = self.cursor.level
        return self._from_end() if level.at_end else level.group_end

    def step_into(self) -> Onward:
        """Over one step, or into the loop that it is; from an end as `step`."""
        level = self.cursor.level
        if level.at_end:
            return self._from_end()
        if not self.cursor.at_loop:
            return level.step + 1
        self.cursor.enter()
        return None

    def step_out(self) -> Onward:
        """Past the loop, or to the end of the group or scope, that the cursor is inside of."""
        return self._out_of_loop() if self.cursor.is_inside else self._end_of_scope()

    def step_back(self) -> None:
        """To the start of the group before; from the start of a run or an iteration, to the end of
        the one before; from that of a loop, to before it."""
        level = self.cursor.level
        if level.step:
            level.step = level.group_start
        else:
            self.cursor.retreat()

    def continue_(self) -> Onward:
        """To the next breakpoint, or the end of the run; from there, of the next run."""
        return self.to_run() or self._length

    def reverse_continue(self) -> Reason | None:
        """Back to the breakpoint before, or the start of the run; from there, of the run before."""
        cursor, run = self.cursor, self.cursor.run
        if not cursor.is_inside and run.step == 0:
            cursor.retreat()
            if cursor.meets(logs=False):
                return Reason.BREAKPOINT
        while cursor.is_inside or run.step:
            self.back_along()
            if cursor.meets(logs=False):
                return Reason.BREAKPOINT
            if cursor.is_pausing:
                return Reason.PAUSE
        return None

    def run_to(self, target: str) -> Reason:
        """To just before operation `target` runs next, or to the place that it is. Raises
        GradstepError, and stands where it stood, for one that there is not."""
        place = parse_place(target)
        if place is not None:
            stopped = self._exactly(place)
        elif target in self._plan.step_of:
            stopped = self._before(self._plan.step_of[target])
        else:
            stopped = self._before_inside(target)
        return stopped or Reason.GOTO

    def restart(self) -> Reason:
        """Forget everything that was done."""
        self.cursor.reset()
        return Reason.ENTRY

    def _from_end(self) -> Onward:
        return self._out_of_loop() if self.cursor.level.is_over else self.past_end()

    def _out_of_loop(self) -> PastLoop:
        self.cursor.leave()
        return PastLoop(self.cursor.level.step + 1)

    # -- to a place ----------------------------------------------------------------------------

    def _exactly(self, place: ExactPlace) -> Reason | None:
        """Past all breakpoints, executing what is missing. Raises GradstepError, and stands where
        it stood, for a place that there is not, or that is not kept any more."""
        require_place(self._plan, place)
        cursor, timeline, run = self.cursor, self.cursor.timeline, place[0][0]
        timeline.require(run)
        stood = cursor.levels
        cursor.levels = [Level(timeline, min(run, timeline.runs - 1))]
        try:
            return self._into(place)
        except GradstepError:  # a loop of which nothing is kept: nothing had to be executed
            cursor.levels = stood
            raise

    def _into(self, place: ExactPlace) -> Reason | None:
        """From the start of a run. Where a loop ends before, to its end; where it is not run, no
        farther."""
        for depth, (number, step) in enumerate(place):
            if depth:
                if not self.cursor.at_loop:
                    return Reason.GOTO
                self.cursor.enter(resumed=False)
            stopped = self._onto(number, step)
            if stopped is not None:
                return stopped
        return None

    def _onto(self, number: int, step: int) -> Reason | None:
        """To `step` of run or iteration `number`, this one or one to come."""
        if not self.cursor.is_inside:
            stopped = self._near(number)
            if stopped is not None:
                return stopped
        level = self.cursor.level
        while level.number < number:
            stopped = self.forward(level.length, heed=False)
            if stopped is not None or level.is_over:
                return stopped
            stopped = self.past_end(heed=False)
            if stopped is not None:
                return stopped
        return self.forward(step, heed=False)

    def _near(self, number: int) -> Reason | None:
        """Where run `number` is far off, to the one before it, by runs that are not recorded."""
        timeline = self.cursor.timeline
        far = number - timeline.runs
        if far < _FAR or not timeline.can_skip:
            return None
        stopped = self.forward(self._length, heed=False)
        if stopped is None:
            self.skip(far)
        return stopped

    def _before(self, index: int) -> Reason | None:
        """Forward to step `index`, in the next run if it is past in this one."""
        run = self.cursor.run
        self.cursor.leave(1)
        if index <= run.step:
            stopped = None if run.at_end else self.forward(self._length)
            stopped = stopped or self.past_end()
            if stopped is not None:
                return stopped
        return self.forward(index)

    def _before_inside(self, operation: str) -> Reason | None:
        """Forward to just before `operation` of a loop, unless the run ends before. Raises
        GradstepError when no loop of the program has it."""
        cursor = self.cursor
        if not LoopBreakpoints().also(operation).loops(self._plan):
            raise _not_executed(operation)
        own = cursor.loop_points
        cursor.loop_points = own.also(operation)
        try:
            stopped = self.to_run() or self.forward(self._length)
        finally:
            cursor.loop_points = own
        return None if cursor.hit == operation else stopped

    def _end_of_scope(self) -> int:
        """Of the group that the next step is in the middle of, or else of the scope around it, in
        the same phase."""
        here = self._plan.whole_at(self.cursor.run.step)
        scope = here.origin.rpartition("/")[0]
        if self.cursor.run.step > here.start:
            return here.stop
        after = here
        while after.stop < self._length:
            after = self._plan.whole_at(after.stop)
            if after.phase != here.phase or not _lies_in(after.origin, scope):
                return after.start
        return self._length


def _lies_in(name: str, scope: str) -> bool:
    """Whether an operation lies in a scope; all do in the empty one."""
    return not scope or is_inside(name, scope)


def _not_executed(operation: str) -> GradstepError:
    return GradstepError(
        f"'{operation}' is not executed by this program",
        kind="KeyError",
        node=operation,
        hint="only what the fetches, gradients and updates need is executed",
    )
