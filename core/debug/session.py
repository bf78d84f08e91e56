"""The debugger's state machine: a cursor on a timeline of recorded runs, moved by commands.

Positions are in one line: run 0 from step 0 to its end, then run 1 from step 0, and so on. Moving
over what is recorded only moves the cursor; moving beyond it executes.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from core.collector import collector_paused
from core.debug.breakpoints import Breakpoint
from core.debug.cursor import Cursor
from core.debug.frame import Frame
from core.debug.moves import LEGAL, Command, State, require_legal, state_of
from core.debug.program import Program
from core.debug.stop import Reason, Stop
from core.debug.stops import in_scope
from core.debug.timeline import Timeline
from core.engine.backend import Backend
from core.engine.feeds import fed_types, feed_arrays
from core.engine.groups import Group, owner
from core.engine.numpy_backend import NumpyBackend
from core.engine.plan import Plan, compile_plan
from core.engine.session import Session
from core.engine.state import VariableStore
from core.errors import GradstepError

_POSITION = re.compile(r"(\d+):(\d+)")


class DebugSession:
    """Drives one program. Not thread-safe, but for `pause`.

    limit_bytes: how much memory recorded runs may keep. before: a session of the program before an
    edit; what the edit left as it was is taken over from it, and it must not move any more.
    Raises GradstepError when the program cannot start: a feed or initial value that does not fit,
    a failing `init`, a missing name.
    Every command returns the Stop that `stop` also holds, and raises GradstepError
    (IllegalMoveError) where `stop.legal` does not list it.
    """

    @collector_paused()
    def __init__(
        self,
        program: Program,
        backend: Backend | None = None,
        limit_bytes: int = 2 << 30,
        before: DebugSession | None = None,
    ) -> None:
        self.program = program
        self.backend: Backend = backend or NumpyBackend()
        feeds = feed_arrays(program.graph, program.feeds)
        self.plan: Plan = compile_plan(
            program.graph,
            program.fetches,
            program.targets,
            fed_types(feeds),
            None if before is None else before.plan,
        )
        variables = first_variables(program, self.backend)
        self.timeline: Timeline = Timeline(
            self.plan,
            self.backend,
            program.functions,
            feeds,
            variables,
            limit_bytes,
            None if before is None else before.timeline,
        )
        self._cursor = Cursor(self.timeline, program.gradients)
        self._boundaries = [*(group.start for group in self.plan.groups), self.timeline.length]
        self.stop: Stop = self._arrive(Reason.ENTRY)

    # -- commands ----------------------------------------------------------------------------

    def step(self) -> Stop:
        """To the end of the current group: a forward operation, or all backward (or update)
        operations of one forward operation (or variable). From the end of a run: to the start of
        the next."""
        cursor = self._begin(Command.STEP)
        if cursor.at_end:
            return self._arrive(cursor.next_run() or Reason.STEP)
        limit = self._boundaries[bisect_right(self._boundaries, cursor.step)]
        return self._arrive(cursor.forward(limit) or Reason.STEP)

    def step_into(self) -> Stop:
        """Over one operation of the plan. From the end of a run: to the start of the next."""
        cursor = self._begin(Command.STEP_INTO)
        if cursor.at_end:
            return self._arrive(cursor.next_run() or Reason.STEP)
        return self._arrive(cursor.forward(cursor.step + 1) or Reason.STEP)

    def step_out(self) -> Stop:
        """To the end of the group that the cursor is inside of, else of the enclosing scope; at
        the top, of the phase."""
        cursor = self._begin(Command.STEP_OUT)
        return self._arrive(cursor.forward(self._end_of_scope()) or Reason.STEP)

    def step_back(self) -> Stop:
        """To the start of the group before, or of the group that the cursor is inside of. From
        the start of a run: to the end of the one before."""
        cursor = self._begin(Command.STEP_BACK)
        if cursor.step == 0:
            cursor.place(cursor.run - 1, self.timeline.length)
        else:
            before = bisect_left(self._boundaries, cursor.step) - 1
            cursor.place(cursor.run, self._boundaries[before])
        return self._arrive(Reason.STEP)

    def continue_(self) -> Stop:
        """To the next breakpoint, or the end of the run; from there, of the next run."""
        cursor = self._begin(Command.CONTINUE)
        met = cursor.next_run() if cursor.at_end else None
        return self._arrive(met or cursor.forward(self.timeline.length) or Reason.STEP)

    def reverse_continue(self) -> Stop:
        """Back to the breakpoint before, or the start of the run; from there, of the run before."""
        cursor = self._begin(Command.REVERSE_CONTINUE)
        if cursor.step == 0:
            cursor.place(cursor.run - 1, self.timeline.length)
            if cursor.meets():
                return self._arrive(Reason.BREAKPOINT)
        return self._arrive(Reason.BREAKPOINT if cursor.backward(0) else Reason.STEP)

    def run_to(self, target: str) -> Stop:
        """To just before operation `target` runs next, unless a breakpoint comes first; or, with
        "run:step", exactly there, forward or back, past all breakpoints."""
        self._begin(Command.RUN_TO)
        position = _POSITION.fullmatch(target)
        if position is not None:
            return self._arrive(self._go(int(position[1]), int(position[2])) or Reason.GOTO)
        if target not in self.plan.step_of:
            raise GradstepError(
                f"'{target}' is not executed by this program",
                kind="KeyError",
                node=target,
                hint="only what the fetches, gradients and updates need is executed",
            )
        return self._arrive(self._go_before(self.plan.step_of[target]) or Reason.GOTO)

    def restart(self) -> Stop:
        """Forget all runs and stand before the first."""
        self._begin(Command.RESTART).reset()
        return self._arrive(Reason.ENTRY)

    def command(self, name: str, target: str = "") -> Stop:
        """The command of that name; `target` is for run_to. Raises GradstepError for others."""
        if name == Command.RUN_TO:
            return self.run_to(target)
        if name not in {command.value for command in Command}:
            raise GradstepError(f"there is no command '{name}'", kind="IllegalMoveError")
        move: Stop = getattr(self, name)()
        return move

    def pause(self) -> None:
        """Stop a command that another thread is executing, at the next opportunity."""
        self._cursor.pause()

    def set_breakpoints(self, breakpoints: Sequence[Breakpoint]) -> None:
        """Replace all. Raises GradstepError for a condition that cannot be read."""
        self._cursor.set_breakpoints(breakpoints)

    # -- looking -----------------------------------------------------------------------------

    def frame(self, run: int | None = None, step: int | None = None) -> Frame:
        """The values as of a step; by default, where the session stands."""
        return self._cursor.frame(run, step)

    @property
    def state(self) -> State:
        return state_of(self._cursor.run, self._cursor.step, self.timeline.length)

    # -- moving ------------------------------------------------------------------------------

    def _begin(self, command: Command) -> Cursor:
        require_legal(command, self.state)
        self._cursor.ready()
        return self._cursor

    def _go(self, run: int, step: int) -> Reason | None:
        """Stand exactly at `step` of `run`, executing what is missing; what kept it from that."""
        if step > self.timeline.length:
            raise GradstepError(
                f"a run of this program has {self.timeline.length} steps, not {step}",
                kind="ValueError",
            )
        cursor = self._cursor
        cursor.place(min(run, self.timeline.runs - 1), 0)
        while cursor.run < run:
            stopped = cursor.forward(self.timeline.length, heed=False)
            if stopped is not None:
                return stopped
            cursor.next_run(heed=False)
        return cursor.forward(step, heed=False) if step else None

    def _go_before(self, index: int) -> Reason | None:
        """Move forward to step `index`, in the next run if it is past in this one."""
        cursor = self._cursor
        if index <= cursor.step:
            stopped = cursor.forward(self.timeline.length) if not cursor.at_end else None
            stopped = stopped or cursor.next_run()
            if stopped is not None or index == 0:
                return stopped
        return cursor.forward(index)

    def _end_of_scope(self) -> int:
        step = self._cursor.step
        group = self._group_at(step)
        if step > group.start:
            return group.stop
        scope = group.origin.rpartition("/")[0]
        rest = (g for g in self.plan.groups if g.start > step)
        outside = (g.start for g in rest if g.phase != group.phase or not in_scope(g.origin, scope))
        return next(outside, self.timeline.length)

    def _group_at(self, step: int) -> Group:
        return self.plan.groups[bisect_right(self._boundaries, step) - 1]

    def _arrive(self, reason: Reason) -> Stop:
        """Remember and return where the session stands now."""
        cursor = self._cursor
        if reason in (Reason.STEP, Reason.GOTO) and cursor.at_end:
            reason = Reason.END
        elif reason is Reason.STEP and cursor.step == 0:
            reason = Reason.ENTRY
        op = None if cursor.at_end else self.plan.steps[cursor.step].op
        self.stop = Stop(
            reason=reason,
            run=cursor.run,
            step=cursor.step,
            runs=self.timeline.runs,
            phase="" if op is None else op.phase.value,
            node="" if op is None else owner(op),
            op="" if op is None else op.name,
            error=cursor.error,
            hit=cursor.hit,
            legal=tuple(command.value for command in LEGAL[self.state]),
            recorded_bytes=self.timeline.nbytes,
            recorded_limit=self.timeline.limit_bytes,
        )
        return self.stop


def first_variables(program: Program, backend: Backend) -> VariableStore:
    """The variables before run 0: what `init` makes, and over it the program's own values."""
    session = Session(program.graph, backend, program.functions, program.initial)
    if program.init:
        session.run([], program.feeds, [program.init])
        given = Session(program.graph, backend, program.functions, program.initial).store
        for name, array in given.items():
            session.store.set(name, array)
    return session.store
