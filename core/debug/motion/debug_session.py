"""The debugger's state machine: a cursor on a timeline of recorded runs, moved by commands.

Positions are in one line: run 0 from step 0 to its end, then run 1 from step 0, and so on. Moving
over what is recorded only moves the cursor; moving beyond it executes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.breaks.curves import Curves, Holders
from gradstep.core.debug.breaks.hit_counts import HitCounts
from gradstep.core.debug.concurrency.shared_variables import SharedVariables
from gradstep.core.debug.history.branching_timeline import BranchingTimeline
from gradstep.core.debug.history.chosen_iterations import ChosenIterations
from gradstep.core.debug.history.frame import Frame
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import Assignment
from gradstep.core.debug.motion.branches import Branches
from gradstep.core.debug.motion.cursor import Cursor
from gradstep.core.debug.motion.legal_moves import (
    find_move,
    legal_names,
    require_legal,
    state_of,
)
from gradstep.core.debug.motion.move_definition import DebuggerState
from gradstep.core.debug.motion.move_logging import MoveLog
from gradstep.core.debug.motion.move_table import Moves
from gradstep.core.debug.motion.program_runs import ProgramRuns
from gradstep.core.debug.motion.stepping import PastLoop, Stepper
from gradstep.core.debug.motion.stopped_state import Reason, Stop
from gradstep.core.debug.motion.training import Trainer, Training, Wish
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.step_groups import owner
from gradstep.core.engine.run.loop_places import Places
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.garbage_collection import collector_paused
from gradstep.core.graph.loop import require_loop, way_to
from gradstep.core.graph.model import Operation, Phase, TensorRef


class DebugSession(Moves[Stop]):
    """Drives one program, and on branches of it edited ones. Not thread-safe, but for `pause`.

    limit_bytes: how much memory recorded runs may keep. before: a session of the program before an
    edit; what the edit left as it was is taken over from it, and it must not move any more; unless
    it `keeps` what it has, and goes on beside this one.
    shared: what other sessions of the same graph work on as well; it has the first variables.
    origin: the first run; start: what variables begin with there, for others than the first ones.
    Raises GradstepError when the program cannot start: a feed or initial value that does not fit,
    a failing `init`, a missing name.
    runs: of the branch that is shown; `program`, `plan` and `timeline` are theirs.
    Every move, by `command` or the method of its name, returns the Stop that `stop` also holds, and
    raises GradstepError (IllegalMoveError) where `stop.legal` does not list it.
    """

    @collector_paused()
    def __init__(
        self,
        program: Program,
        backend: Backend | None = None,
        limit_bytes: int = 2 << 30,
        before: DebugSession | None = None,
        shared: SharedVariables | None = None,
        keeps: bool = False,
        origin: int = 0,
        start: VariableStore | None = None,
        whole: Plan | None = None,
    ) -> None:
        self.backend: Backend = backend or NumpyBackend()
        known = None if before is None else before.branches.programs.own
        self.runs: ProgramRuns = ProgramRuns(
            program, self.backend, limit_bytes, known, shared, origin, keeps, start, whole
        )
        if before is not None:
            self._cursor.chosen = before.chosen
        self.branches: Branches = Branches(self)
        self.stop: Stop = self._arrive(Reason.ENTRY)

    # -- of the branch that is shown -----------------------------------------------------------

    @property
    def program(self) -> Program:
        return self.runs.program

    @property
    def plan(self) -> Plan:
        return self.runs.plan

    @property
    def timeline(self) -> BranchingTimeline:
        return self.runs.timeline

    @property
    def _cursor(self) -> Cursor:
        return self.runs.cursor

    @property
    def _stepper(self) -> Stepper:
        return self.runs.stepper

    @property
    def _log(self) -> MoveLog:
        return self.runs.log

    # -- moving ------------------------------------------------------------------------------

    def command(self, name: str, target: str = "") -> Stop:
        command = find_move(name)
        require_legal(command, self.state)
        self._log.begin(name, self.stop)
        self._cursor.ready()
        self.branches.moved()
        if name == "restart":
            self.branches.begin_again()
            self._cursor.ready()
        move = getattr(self._stepper, name)
        onward = move(target) if command.target else move()
        if isinstance(onward, int):
            past_loop = isinstance(onward, PastLoop)
            onward = self._stepper.forward(int(onward), through=not past_loop)
        return self._arrive(onward or Reason.STEP)

    def go_on(self, limit: int) -> Stop:
        """To step `limit` of this run; from its end, of the next run. Legal wherever there is
        anything to run."""
        self._log.begin("go_on", self.stop)
        self._cursor.ready()
        self.branches.moved()
        stepper = self._stepper
        return self._arrive(stepper.to_run() or stepper.forward(limit) or Reason.STEP)

    def train(self, wish: Wish) -> Training:
        """Run after run from the newest one on; where each is recorded, past no breakpoint. Raises
        GradstepError for a curve that cannot be read."""
        require_legal(find_move("continue_"), self.state)
        self._log.begin("train", self.stop)
        self._cursor.ready()
        self.branches.moved()
        trainer = Trainer(self._cursor)
        stop = self._arrive(trainer.train(wish) or Reason.STEP)
        return Training(stop, trainer.made, trainer.ended, trainer.wrong)

    def curves(
        self, texts: Sequence[str] = (), until: str = "", subject: TensorRef | None = None
    ) -> Curves:
        """Numbers to be followed in this program's runs; see Curves."""
        holders = Holders(self.program.gradients, self.program.losses)
        tensors = self.plan.tensors
        return Curves(
            tensors, holders, texts, until, subject, lambda ref: isinstance(tensors.get(ref), str)
        )

    def inject(
        self,
        values: Mapping[str, np.ndarray],
        name: str = "",
        words: str = "",
        step: int | None = None,
    ) -> Stop:
        """Give variables and tensors other values here, or after an earlier step of this run, on a
        branch of its own: see Branches."""
        self._cursor.ready()
        self.branches.inject(values, name, words, step)
        return self._arrive(Reason.GOTO)

    def edit(self, kind: str, names: Sequence[str], name: str = "", words: str = "") -> Stop:
        """Run an edited program from the beginning of this run on, on a branch of its own: see
        Branches."""
        self._cursor.ready()
        self.branches.edit(kind, names, name, words)
        return self._arrive(Reason.GOTO)

    def lead(self) -> Stop:
        """To where the current branch was left, which others have begun."""
        self.branches.lead()
        return self._arrive(Reason.GOTO)

    def switch_branch(self, name: str) -> Stop:
        """Show another branch, where it was left."""
        self._cursor.ready()
        self.branches.switch(name)
        return self._arrive(Reason.GOTO)

    def drop_branch(self, name: str) -> Stop:
        """Forget a branch; the one that it leaves is shown, if it was."""
        self._cursor.ready()
        self.branches.drop(name)
        return self._arrive(Reason.GOTO)

    def pause(self) -> None:
        """Stop a command that another thread is executing, at the next opportunity."""
        self._cursor.pause()

    def set_breakpoints(self, breakpoints: Sequence[Breakpoint]) -> None:
        """Replace all. Raises GradstepError for a condition that cannot be read."""
        self._cursor.set_breakpoints(breakpoints)

    def set_readable_breakpoints(self, breakpoints: Sequence[Breakpoint]) -> None:
        """Replace all, but leave out those that this program has not the tensors of."""
        self._cursor.set_readable(breakpoints)

    @property
    def hits(self) -> HitCounts:
        """What they count."""
        return self._cursor.hits

    @property
    def hit_counts(self) -> Sequence[int]:
        """How often each breakpoint was hit, in the order in which they were set."""
        return self._cursor.hit_counts

    # -- looking -----------------------------------------------------------------------------

    def frame(self, run: int | None = None, step: int | None = None, inside: Places = ()) -> Frame:
        """The values as of a step; by default, where the session stands, in loops too. inside: in
        the loop that comes then, and in loops inside of it. Raises GradstepError where nothing is
        kept of that loop."""
        return self._cursor.frame(run, step, inside)

    def view(self) -> Frame:
        """The same of where the session stands, but of loops the iterations that were chosen."""
        return self._cursor.view()

    def choose_iteration(self, loop: str, number: int | None) -> None:
        """Look at iteration `number` of a loop, counted from 0, until a move goes into that loop;
        None: at where the session stands, or the last. Raises GradstepError for no loop."""
        around, chosen = require_loop(self.plan.graph, loop), self._cursor.chosen
        if around.phase is Phase.BACKWARD and around.origin:
            view = self.view().view_of((*(way_to(self.plan.graph, loop) or ()), around))
            count = None if view is None else view.loop.count
            chosen = chosen.with_(loop, None)  # of before it had run
            if number is None:
                loop = around.origin
            elif count is not None:  # by the iteration that it goes back through
                loop, number = around.origin, max(count - 1 - number, 0)
        self._cursor.chosen = chosen.with_(loop, number)

    @property
    def chosen(self) -> ChosenIterations:
        """The iterations that somebody has chosen."""
        return self._cursor.chosen

    def looked_at(self) -> ChosenIterations:
        """The iterations that `view` looks into: that were chosen, or in which it stands."""
        return self._cursor.looked_at()

    @property
    def changes(self) -> Sequence[Assignment]:
        """What variables were given by hand, in the order in which they were."""
        return self.timeline.changes

    @property
    def next_op(self) -> Operation | None:
        """What the next step executes; None at the end of a run, or of an iteration."""
        return self._cursor.next_op

    @property
    def state(self) -> DebuggerState:
        """Where it stands, as far as moves go."""
        if self._cursor.is_inside:
            return DebuggerState.INSIDE
        run, timeline = self._cursor.run, self.timeline
        return state_of(run.number, run.step, timeline.length, timeline.first)

    def _batch(self, run: int) -> str:
        batches = self.program.batches
        return "" if batches is None else batches.words_at(run)

    def _arrive(self, reason: Reason) -> Stop:
        """Remember and return where the session stands now."""
        cursor, state = self._cursor, self.state
        if reason in (Reason.STEP, Reason.GOTO) and state is DebuggerState.END:
            reason = Reason.END
        elif reason is Reason.STEP and cursor.run.step == 0 and not cursor.is_inside:
            reason = Reason.ENTRY
        cursor.chosen = cursor.chosen.without(place.loop for place in cursor.places)
        op = cursor.next_op
        self.stop = Stop(
            reason=reason,
            run=cursor.run.number,
            step=cursor.run.step,
            runs=self.timeline.runs,
            phase="" if op is None else op.phase,
            node="" if op is None else owner(op),
            op="" if op is None else op.name,
            error=cursor.error,
            hit=cursor.hit,
            inside=cursor.places,
            legal=legal_names(state),
            recorded_bytes=self.timeline.nbytes,
            recorded_limit=self.timeline.limit_bytes,
            batch=self._batch(cursor.run.number),
        )
        self._log.end(self.stop)
        return self.stop
