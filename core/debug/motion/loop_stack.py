"""The loops that the debugger has stepped into, and moving about in the innermost."""

from __future__ import annotations

from dataclasses import replace

from gradstep.core.debug.breaks.loop_breakpoints import LoopBreakpoints
from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.motion.cursor import Cursor
from gradstep.core.debug.motion.loop_place import Place
from gradstep.core.debug.motion.loop_position import LoopPosition, View, looked_at, trace_of
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation


class LoopStack:
    """Loops within each other, the innermost last. Without any, the debugger is in none: `enter`
    brings it into one, and moves lead it deeper, and out again.

    cursor: where it stands in the run: before the outermost loop, as long as it is in one.
    left: the last move led out of that loop, which is the step to be done next.
    """

    def __init__(self, cursor: Cursor) -> None:
        self.levels: list[LoopPosition] = []
        self.left = False
        self.points = LoopBreakpoints()
        self._cursor = cursor

    def __bool__(self) -> bool:
        return bool(self.levels)

    @property
    def places(self) -> tuple[Place, ...]:
        return tuple(Place(x.name, x.number, x.step, x.length, x.iterations) for x in self.levels)

    @property
    def next_op(self) -> Operation | None:
        """What the next step executes; None at the end of an iteration."""
        step = self.levels[-1].next
        return None if step is None else step.op

    def frame(self) -> Frame:
        """What there is to see here: the iterations, and the run around them."""
        views = (View(x, x.number, x.step) for x in reversed(self.levels))
        return replace(self._cursor.frame(), loops=tuple(views))

    @property
    def at_loop(self) -> bool:
        """Whether the next step is a loop that is run: not in a branch that is not taken."""
        step = self.levels[-1].next if self.levels else self._cursor.next
        if step is None or step.iteration is None:
            return False
        return step.guard is None or not self.frame().skips(step.op.name)

    def clear(self) -> None:
        """Be in no loop."""
        self.levels = []
        self.left = False

    def enter(self) -> None:
        """Go into the loop that is the next step: to its start, or to where it was paused. Raises
        GradstepError when it has run, and nothing is kept of it."""
        self._enter_start()
        if self._cursor.resuming:
            self.levels[-1].resume()

    def arrive(self) -> Reason | None:
        """`enter`, heeding a breakpoint there."""
        self.enter()
        return Reason.BREAKPOINT if self._meets() else None

    def step(self) -> Reason | None:
        """Over a group of steps; from the end of an iteration to the start of the next; from the
        end of the loop out of it. What stopped it early."""
        level = self.levels[-1]
        if level.at_end:
            return self._past_end()
        return self._stopped(level.forward(level.after_group))

    def step_into(self) -> Reason | None:
        """Over one step, or into the loop that it is; what stopped it early."""
        level = self.levels[-1]
        if level.next is None:
            return self._past_end()
        if not self.at_loop:
            return self._stopped(level.forward(level.step + 1))
        self.enter()
        return None

    def step_out(self) -> Reason | None:
        """Past the innermost loop, however often it goes round; what stopped it early."""
        self.levels.pop()
        self.left = not self.levels
        if self.left:
            return None
        level = self.levels[-1]
        return self._stopped(level.forward(level.step + 1))

    def step_back(self) -> None:
        """Back by a group, or an iteration; from the start of the loop to before it."""
        if not self.levels[-1].back():
            self.levels.pop()

    def exactly(self, iteration: int, step: int) -> Reason | None:
        """Into the loop that is the next step, to `step` of its iteration; what stopped it. Where
        the loop ends before, to its end; where it is not run, no farther."""
        if not self.at_loop:
            return Reason.GOTO
        self._enter_start()
        level = self.levels[-1]
        while level.number < iteration:
            stopped = self._stopped(level.forward(level.length))
            if stopped is not None or level.is_over:
                return stopped
            stopped = self._onward(level)
            if stopped is not None:
                return stopped
        return self._stopped(level.forward(step))

    def continue_(self) -> Reason | None:
        """Out of all loops, unless something stops it."""
        reason = None
        while self.levels and reason is None:
            reason = self._past_end() if self.levels[-1].at_end else self._along()
            if reason is None and self._meets():
                reason = Reason.BREAKPOINT
        return reason

    def reverse(self) -> Reason | None:
        """Back to before the outermost loop, unless something stops it."""
        while self.levels:
            self._reverse_along()
            if self._meets():
                return Reason.BREAKPOINT
            if self._cursor.pausing:
                return Reason.PAUSE
        return None

    def reverse_into(self) -> Reason | None:
        """`reverse`, from the end of the loop that is the next step and has run before."""
        if not self._enter_end():
            return None
        return Reason.BREAKPOINT if self._meets() else self.reverse()

    def _enter_end(self) -> bool:
        """Go to the end of the loop that is the next step and has run before; whether it was run,
        and that is kept."""
        if not self._enter_kept():
            return False
        self.levels[-1].to_end()
        return True

    def _enter_kept(self) -> bool:
        """`enter` the next step if it is a loop that is run, and not over and forgotten; whether it
        is."""
        try:
            if self.at_loop:
                self.enter()
                return True
        except GradstepError:
            pass  # nothing can be seen in it
        return False

    def _enter_start(self) -> None:
        self.levels.append(self.levels[-1].enter() if self.levels else self._outermost())

    def _outermost(self) -> LoopPosition:
        timeline, run, step = self._cursor.timeline, self._cursor.run, self._cursor.step
        loop = timeline.plan.steps[step]
        assert loop.iteration is not None
        live = timeline.loop(run, step)
        if live is None:
            return looked_at(loop, timeline.held(run, trace_of(loop), step + 1))
        return LoopPosition(loop.op.name, loop.iteration, live.trace, live)

    def _along(self) -> Reason | None:
        """To the next place in this iteration where a breakpoint may stop, or into a loop that
        breakpoints are in, or to the end; what stopped it."""
        level = self.levels[-1]
        loops = self.points.loops(level.plan)
        if level.step in loops and self._enter_kept():
            return None
        places = self.points.of(level.name, level.plan).between(level.step, level.length)
        ahead = [*places, *(i for i in loops if i > level.step), level.length]
        return self._stopped(level.forward(min(ahead)))

    def _reverse_along(self) -> None:
        """Back to the last place in this iteration where a breakpoint may stop, or to the end of a
        loop that breakpoints are in, or of the iteration before, or out of the loop."""
        level = self.levels[-1]
        loops = [i for i in self.points.loops(level.plan) if i < level.step]
        places = [*self.points.of(level.name, level.plan).between(-1, level.step - 1)]
        if loops and loops[-1] >= max(places, default=0):
            level.step = loops[-1]
            self._enter_end()
        elif places:
            level.step = places[-1]
        else:
            level.step = 0
            self.step_back()

    def _past_end(self) -> Reason | None:
        level = self.levels[-1]
        if level.is_over:
            return self.step_out()
        return self._onward(level)

    def _onward(self, level: LoopPosition) -> Reason | None:
        error = level.onward()
        return None if error is None else self._cursor.stopped_by(error)

    def _meets(self) -> bool:
        if not self.levels:
            return False
        level = self.levels[-1]
        points = self.points.of(level.name, level.plan)
        cursor = self._cursor
        way = [cursor.run, cursor.step]
        for outer in self.levels:
            way += outer.number, outer.step
        return cursor.meets_of(points, (*way[:-1],), level.step, self.frame, level.at_end)

    def _stopped(self, error: GradstepError | None) -> Reason | None:
        if error is not None:
            return self._cursor.stopped_by(error)
        return Reason.PAUSE if self._cursor.pausing else None
