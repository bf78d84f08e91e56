"""The debugger's state machine: a cursor on a timeline of recorded runs, moved by commands.

Positions are in one line: run 0 from step 0 to its end, then run 1 from step 0, and so on. Moving
over what is recorded only moves the cursor; moving beyond it executes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.breaks.hit_counts import HitCounts
from gradstep.core.debug.breaks.loop_breakpoints import LoopBreakpoints
from gradstep.core.debug.concurrency.shared_variables import SharedVariables
from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import Assignment
from gradstep.core.debug.history.timeline import Timeline
from gradstep.core.debug.motion.cursor import Cursor
from gradstep.core.debug.motion.legal_commands import (
    LEGAL,
    Command,
    DebuggerState,
    require_legal,
    state_of,
)
from gradstep.core.debug.motion.move_log import MoveLog
from gradstep.core.debug.motion.stepping import Stepper
from gradstep.core.debug.motion.stopped_state import Reason, Stop
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.compile_plan import Plan, compile_plan
from gradstep.core.engine.plan.step_groups import owner
from gradstep.core.engine.run.feed_values import feed_arrays, infer_fed_types
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.model import Operation

_POSITION = re.compile(r"\d{1,18}:\d{1,18}(/\d{1,18}:\d{1,18})*")


class DebugSession:
    """Drives one program. Not thread-safe, but for `pause`.

    limit_bytes: how much memory recorded runs may keep. before: a session of the program before an
    edit; what the edit left as it was is taken over from it, and it must not move any more.
    shared: what other sessions of the same graph work on as well; it has the first variables.
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
        shared: SharedVariables | None = None,
    ) -> None:
        self.program = program
        self.changes: list[Assignment] = []
        self.backend: Backend = backend or NumpyBackend()
        feeds = feed_arrays(program.graph, program.feeds)
        self.plan: Plan = compile_plan(
            program.graph,
            program.fetches,
            program.targets,
            infer_fed_types(feeds),
            None if before is None else before.plan,
        )
        variables = first_variables(program, self.backend) if shared is None else shared.start
        self.timeline: Timeline = Timeline(
            self.plan,
            self.backend,
            program.functions,
            feeds,
            variables,
            limit_bytes,
            None if before is None else before.timeline,
            shared,
        )
        self._cursor = Cursor(self.timeline, program.gradients, program.losses)
        self._walk = Stepper(self._cursor)
        self._log = MoveLog(self.timeline)
        self.stop: Stop = self._arrive(Reason.ENTRY)

    # -- commands ----------------------------------------------------------------------------

    def step(self) -> Stop:
        """To the end of the current group: a forward operation, or all backward (or update)
        operations of one forward operation (or variable). From the end of a run, or an iteration:
        to the start of the next."""
        return self._moved(self._begin(Command.STEP).over_group())

    def step_into(self) -> Stop:
        """Over one operation of the plan, or into the loop that it is. From the end of a run, or
        an iteration: to the start of the next."""
        return self._moved(self._begin(Command.STEP_INTO).over_step())

    def step_out(self) -> Stop:
        """Past the loop, or to the end of the group, that the cursor is inside of, else of the
        enclosing scope; at the top, of the phase."""
        return self._moved(self._begin(Command.STEP_OUT).out())

    def step_back(self) -> Stop:
        """To the start of the group before, or of the group that the cursor is inside of. From
        the start of a run, or an iteration: to the end of the one before."""
        self._begin(Command.STEP_BACK).back()
        return self._moved(None)

    def continue_(self) -> Stop:
        """To the next breakpoint, or the end of the run; from there, of the next run."""
        return self._moved(self._begin(Command.CONTINUE).on(self.timeline.length))

    def reverse_continue(self) -> Stop:
        """Back to the breakpoint before, or the start of the run; from there, of the run before."""
        return self._moved(self._begin(Command.REVERSE_CONTINUE).reverse())

    def run_to(self, target: str) -> Stop:
        """To just before operation `target` runs next, unless a breakpoint comes first; or, with
        "run:step", exactly there, forward or back, past all breakpoints; in a loop that is
        "run:step/iteration:step". Raises GradstepError, and moves nowhere, for a place that the
        program does not have, or that is not kept any more."""
        walk = self._begin(Command.RUN_TO)
        position = _POSITION.fullmatch(target)
        if position is None and target not in self.plan.step_of:
            return self._arrive(walk.to_inside(target) or Reason.GOTO)
        if position is not None:
            (run, step), *inside = _numbers(target)
            return self._arrive(walk.exactly(run, step, inside) or Reason.GOTO)
        walk.descent.clear()
        return self._arrive(walk.before(self.plan.step_of[target]) or Reason.GOTO)

    def restart(self) -> Stop:
        """Forget all runs and changes, and stand before the first."""
        walk = self._begin(Command.RESTART)
        walk.descent.clear()
        walk.cursor.reset()
        self.changes.clear()
        return self._arrive(Reason.ENTRY)

    def go_on(self, limit: int) -> Stop:
        """To step `limit` of this run; from its end, of the next run. Legal wherever there is
        anything to run."""
        self._log.begin("go_on", self.stop)
        self._cursor.ready()
        return self._moved(self._walk.on(limit))

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
        hits = HitCounts()
        self._cursor.set_breakpoints(breakpoints, hits)
        self._walk.descent.points = LoopBreakpoints(breakpoints, hits)

    # -- looking -----------------------------------------------------------------------------

    def frame(self, run: int | None = None, step: int | None = None) -> Frame:
        """The values as of a step; by default, where the session stands, in loops too."""
        return self._walk.descent.frame() if run is step is None else self._cursor.frame(run, step)

    @property
    def next_op(self) -> Operation | None:
        """What the next step executes; None at the end of a run, or of an iteration."""
        if self._walk.descent:
            return self._walk.descent.next_op
        return None if self._cursor.next is None else self._cursor.next.op

    @property
    def state(self) -> DebuggerState:
        if self._walk.descent:
            return DebuggerState.INSIDE
        cursor, timeline = self._cursor, self.timeline
        return state_of(cursor.run, cursor.step, timeline.length, timeline.first)

    # -- moving ------------------------------------------------------------------------------

    def _begin(self, command: Command) -> Stepper:
        require_legal(command, self.state)
        self._log.begin(command, self.stop)
        self._cursor.ready()
        return self._walk

    def _moved(self, stopped: Reason | None) -> Stop:
        return self._arrive(stopped or Reason.STEP)

    def _arrive(self, reason: Reason) -> Stop:
        """Remember and return where the session stands now."""
        cursor, inside = self._cursor, self._walk.descent.places
        if reason in (Reason.STEP, Reason.GOTO) and cursor.at_end:
            reason = Reason.END
        elif reason is Reason.STEP and cursor.step == 0 and not inside:
            reason = Reason.ENTRY
        op = self.next_op
        self.stop = Stop(
            reason=reason,
            run=cursor.run,
            step=cursor.step,
            runs=self.timeline.runs,
            phase="" if op is None else op.phase,
            node="" if op is None else owner(op),
            op="" if op is None else op.name,
            error=cursor.error,
            hit=cursor.hit,
            inside=inside,
            legal=tuple(command.value for command in LEGAL[self.state]),
            recorded_bytes=self.timeline.nbytes,
            recorded_limit=self.timeline.limit_bytes,
        )
        self._log.end(self.stop)
        return self.stop


def _numbers(position: str) -> list[tuple[int, int]]:
    """Of "0:4/1:8": run and step, then of each loop iteration and step."""
    pairs = (place.split(":") for place in position.split("/"))
    return [(int(first), int(second)) for first, second in pairs]


def first_variables(program: Program, backend: Backend) -> VariableStore:
    """The variables before run 0: what `init` makes, and over it the program's own values."""
    session = Session(program.graph, backend, program.functions, program.initial)
    if program.init:
        session.run([], program.feeds, [program.init])
        given = Session(program.graph, backend, program.functions, program.initial).store
        for name, array in given.items():
            session.store.set(name, array)
    return session.store
