"""The moves along a program's steps: by groups, by scopes, into loops and out of them."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from gradstep.core.debug.breaks.loop_breakpoints import LoopBreakpoints
from gradstep.core.debug.motion.cursor import Cursor
from gradstep.core.debug.motion.loop_stack import LoopStack
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.engine.plan.compile_plan import Plan
from gradstep.core.engine.plan.step_groups import Group
from gradstep.core.errors import GradstepError
from gradstep.core.graph.scopes import is_inside

_POSITION = re.compile(r"\d{1,18}:\d{1,18}(/\d{1,18}:\d{1,18})*")


class Stepper:
    """Moves `cursor`, and the position in the loops that it stands before. The methods by which
    commands are called are what they do; a move returns what stopped it early."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.descent = LoopStack(cursor)
        self._plan: Plan = cursor.timeline.plan
        self._length = cursor.timeline.length
        self._boundaries = [*(group.start for group in self._plan.groups), self._length]

    def step(self) -> Reason | None:
        """To the end of the current group; from the end of a run, to the start of the next."""
        if self.descent:
            return self._after(self.descent.step())
        if self.cursor.at_end:
            return self.cursor.next_run()
        return self.forward(self._boundaries[bisect_right(self._boundaries, self.cursor.step)])

    def step_into(self) -> Reason | None:
        """Over one step, or into the loop that it is; from the end of a run, to the start of the
        next."""
        if self.descent:
            return self._after(self.descent.step_into())
        if self.cursor.at_end:
            return self.cursor.next_run()
        if not self.descent.at_loop:
            return self.cursor.forward(self.cursor.step + 1)
        self.descent.enter()
        return None

    def step_out(self) -> Reason | None:
        """Past the loop, or to the end of the group or scope, that the cursor is inside of."""
        if self.descent:
            return self._after(self.descent.step_out())
        return self.forward(self._end_of_scope())

    def step_back(self) -> None:
        """To the start of the group before; from the start of a run, to the end of the one before;
        from that of a loop, to before it."""
        cursor = self.cursor
        if self.descent:
            self.descent.step_back()
        elif cursor.step == 0:
            cursor.place(cursor.run - 1, self._length)
        else:
            before = bisect_left(self._boundaries, cursor.step) - 1
            cursor.place(cursor.run, self._boundaries[before])

    def continue_(self) -> Reason | None:
        """To the next breakpoint, or the end of the run; from there, of the next run."""
        return self.to_step(self._length)

    def to_step(self, limit: int) -> Reason | None:
        """To step `limit` of this run, or of the next from the end of this."""
        if self.descent:
            stopped = self._out_of_loops()
        else:
            stopped = self.cursor.next_run() if self.cursor.at_end else None
        return stopped or self.forward(limit)

    def reverse_continue(self) -> Reason | None:
        """Back to the breakpoint before, or the start of the run; from there, of the run before."""
        cursor, stopped = self.cursor, None
        if self.descent:
            stopped = self.descent.reverse() or cursor.stopped_here()
        elif cursor.step == 0:
            cursor.place(cursor.run - 1, self._length)
            stopped = cursor.stopped_here()
        for loop in reversed(self.descent.points.loops(self._plan)):
            if loop < cursor.step and stopped is None:
                stopped = cursor.backward(loop + 1) or self._back_through(loop)
        return stopped or cursor.backward(0)

    def run_to(self, target: str) -> Reason | None:
        """To just before operation `target` runs next, or to the position that it is. Raises
        GradstepError, and stands where it stood, for one that there is not."""
        if _POSITION.fullmatch(target):
            (run, step), *inside = _numbers(target)
            stopped = self._exactly(run, step, inside)
        elif target in self._plan.step_of:
            self.descent.clear()
            stopped = self._before(self._plan.step_of[target])
        else:
            stopped = self._to_inside(target)
        return stopped or Reason.GOTO

    def restart(self) -> Reason:
        """Forget everything that was done."""
        self.descent.clear()
        self.cursor.reset()
        return Reason.ENTRY

    def _back_through(self, loop: int) -> Reason | None:
        """Back from behind step `loop`, which is one, to before it."""
        self.cursor.place(self.cursor.run, loop)
        return self.descent.reverse_into() or self.cursor.stopped_here()

    def forward(self, limit: int) -> Reason | None:
        """To step `limit` of this run, through the loops on the way that breakpoints are in."""
        cursor = self.cursor
        for loop in self.descent.points.loops(self._plan):
            if cursor.step <= loop < limit:
                stopped = cursor.forward(loop) if loop > cursor.step else None
                if stopped is None and self.descent.at_loop:
                    stopped = self.descent.arrive() or self._out_of_loops()
                if stopped is not None:
                    return stopped
        return cursor.forward(limit)

    def _exactly(self, run: int, step: int, inside: Sequence[tuple[int, int]]) -> Reason | None:
        """To `step` of `run`, and in the loop that comes next there to that iteration and step, and
        so on, executing what is missing, past all breakpoints. Raises GradstepError, and stands
        where it stood, for a place that there is not, or that is not kept any more."""
        if step > self._length:
            raise GradstepError(
                f"a run of this program has {self._length} steps, not {step}",
                kind="ValueError",
                hint=f"{run}:{self._length} is its end",
            )
        self._require_loops(step, inside)
        cursor, levels = self.cursor, self.descent.levels
        cursor.timeline.require(run)
        stood = cursor.run, cursor.step
        self.descent.clear()
        try:
            return self._there(run, step, inside)
        except GradstepError:  # a loop of which nothing is kept: nothing had to be executed
            cursor.place(*stood)
            self.descent.levels = levels
            raise

    def _there(self, run: int, step: int, inside: Sequence[tuple[int, int]]) -> Reason | None:
        cursor = self.cursor
        cursor.place(min(run, cursor.timeline.runs - 1), 0)
        while cursor.run < run:
            stopped = cursor.forward(self._length, heed=False)
            if stopped is not None:
                return stopped
            cursor.next_run(heed=False)
        stopped = cursor.forward(step, heed=False) if step else None
        for place in inside:
            stopped = stopped or self.descent.exactly(*place)
        return stopped

    def _to_inside(self, operation: str) -> Reason | None:
        """To just before `operation` of a loop, unless a breakpoint or the run's end comes first.
        Raises GradstepError when no loop of the program has it."""
        if not LoopBreakpoints().also(operation).loops(self._plan):
            raise _not_executed(operation)
        own = self.descent.points
        self.descent.points = own.also(operation)
        try:
            stopped = self.continue_()
        finally:
            self.descent.points = own
        return None if self.cursor.hit == operation else stopped

    def _before(self, index: int) -> Reason | None:
        """Forward to step `index`, in the next run if it is past in this one."""
        cursor = self.cursor
        if index <= cursor.step:
            stopped = self.forward(self._length) if not cursor.at_end else None
            stopped = stopped or cursor.next_run()
            if stopped is not None or index == 0:
                return stopped
        return self.forward(index)

    def _require_loops(self, step: int, inside: Sequence[tuple[int, int]]) -> None:
        """Raises GradstepError where a position in loops names a step that is none."""
        plan = self._plan
        for _, following in inside:
            loop = plan.steps[step].iteration if step < len(plan.steps) else None
            if loop is None:
                loops = ", ".join(map(str, plan.loops)) or "none"
                raise GradstepError(
                    f"step {step} is no loop, so there are no iterations to go to",
                    kind="ValueError",
                    hint=f"the steps that are loops: {loops}",
                )
            plan, step = loop.plan, following

    def _after(self, stopped: Reason | None) -> Reason | None:
        """After a move in loops: out of the outermost, that is the step to be done."""
        if not self.descent.left:
            return stopped
        self.descent.clear()
        return self.cursor.forward(self.cursor.step + 1)

    def _out_of_loops(self) -> Reason | None:
        stopped = self.descent.continue_()
        return self._after(None) if self.descent.left else stopped

    def _end_of_scope(self) -> int:
        step = self.cursor.step
        group = self._group_at(step)
        if step > group.start:
            return group.stop
        scope = group.origin.rpartition("/")[0]
        rest = (g for g in self._plan.groups if g.start > step)
        outside = (g.start for g in rest if g.phase != group.phase or not _lies_in(g.origin, scope))
        return next(outside, self._length)

    def _group_at(self, step: int) -> Group:
        return self._plan.groups[bisect_right(self._boundaries, step) - 1]


def _lies_in(name: str, scope: str) -> bool:
    """Whether an operation lies in a scope; all do in the empty one."""
    return not scope or is_inside(name, scope)


def _numbers(position: str) -> list[tuple[int, int]]:
    """Of "0:4/1:8": run and step, then of each loop iteration and step."""
    pairs = (place.split(":") for place in position.split("/"))
    return [(int(first), int(second)) for first, second in pairs]


def _not_executed(operation: str) -> GradstepError:
    return GradstepError(
        f"'{operation}' is not executed by this program",
        kind="KeyError",
        node=operation,
        hint="only what the fetches, gradients and updates need is executed",
    )
