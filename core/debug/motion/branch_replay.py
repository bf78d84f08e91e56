"""The runs of a branch made anew: from what was given and edited on the way to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.history.branch_record import Branch, BranchEdit
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import (
    Assignment,
    give_possible,
    place_of,
)
from gradstep.core.debug.motion.branch_programs import BranchPrograms, kept_steps
from gradstep.core.debug.motion.level import Level
from gradstep.core.debug.motion.program_runs import ProgramRuns
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.plan.steps import storage_name
from gradstep.core.engine.run.loop_places import Places
from gradstep.core.engine.run.variable_map import variables
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef

if TYPE_CHECKING:
    from gradstep.core.debug.motion.debug_session import DebugSession


class BranchReplay:
    """Leads a session, whose branches have all been put aside, to one of them. Each raises
    GradstepError where a step fails, or an edit cannot be made."""

    def __init__(self, session: DebugSession, programs: BranchPrograms) -> None:
        self._session, self._programs = session, programs

    def make_again(self, branch: Branch) -> None:
        """Compute the runs of a branch of which nothing is kept, up to where it was left."""
        if branch.stands:
            raise GradstepError(
                f"branch '{branch.name}' is of several threads, which the program does not have",
                kind="FailedPreconditionError",
                hint="drop it, or let the document have its threads again",
            )
        self._begin(branch.edits, branch.changes)
        origin = self._session.timeline.origin
        self._repeat([change for change in branch.changes if change.run >= origin])
        self._go(*branch.place)

    def _repeat(self, changes: Iterable[Assignment]) -> None:
        session = self._session
        for change in changes:
            at = change.run, change.step_in(session.plan)
            self._go(*at)
            give_possible(session, change, at)

    def _begin(self, edits: Sequence[BranchEdit], changes: Sequence[Assignment]) -> None:
        """Show the program after edits, before its first run, with what was given before that."""
        runs = self._programs.of(edits)
        if runs is None:  # an edit of the document may have made some of them impossible
            edits = self._programs.possible(edits)
            runs = self._programs.of(edits)
        if runs is None:
            runs = self._edited_again(edits, changes)
            self._programs.hold(edits[-1], runs)
        self._session.runs = runs
        runs.timeline.link.shared.reset()
        runs.timeline.reset()
        give_before(runs, changes)

    def beside(self, program: Program, run: int) -> ProgramRuns:
        """Runs of a program that begin as run `run` of what is shown did; nothing else is there."""
        before = self._session.runs
        runs = before.edited(program, run, self.started(before, run))
        give_before(runs, before.timeline.changes)
        return runs

    def _edited_again(
        self, edits: Sequence[BranchEdit], changes: Sequence[Assignment]
    ) -> ProgramRuns:
        """The program after edits, where nothing is kept of it: what its first run begins with is
        made by the one before."""
        origin = edits[-1].run
        program = self._programs.program_after(edits)
        earlier = [change for change in changes if change.run < origin]
        self._begin([edit for edit in edits if edit.run < origin], earlier)
        before = self._session.runs
        self._repeat([change for change in earlier if change.run >= before.timeline.origin])
        self._go(origin, 0)
        return before.edited(program, origin, self.started(before, origin))

    def started(self, runs: ProgramRuns, run: int) -> VariableStore | None:
        """What the variables were at the start of a run, those of no step included; None for the
        first: then they are what the program that is run says."""
        if run == 0:
            return None
        store, timeline = runs.timeline.start_of(run), runs.timeline
        there = variables(runs.program.graph)
        for change in (change for change in timeline.changes if change.run < run):
            for name, value in change.values.items():
                if name in there and storage_name(there[name]) not in runs.plan.versions:
                    store.set(storage_name(there[name]), timeline.backend.put(value))
        return store

    def begin_edited(
        self, runs: ProgramRuns, before: ProgramRuns, edit: BranchEdit, inside: Places = ()
    ) -> tuple[int, int]:
        """Let an edited program come to where the one before it stands, at least to before the loop
        that this stands in; the place that it has come to: a step may fail on the way."""
        here = place_of(edit.run, edit.step, inside)
        changes = [c for c in before.timeline.changes if c.at <= here]
        self._session.runs = runs
        give_before(runs, changes)
        mine = [change for change in changes if change.run == edit.run]
        step = _step_in(edit, runs)
        self._repeat(mine)
        kept = {} if mine else kept_steps(runs, before, edit.run, step)
        runs.timeline.take(step, kept, before.timeline.values(edit.run))
        return edit.run, min(step, runs.timeline.done(edit.run))

    def _go(self, run: int, step: int) -> None:
        timeline = self._session.timeline
        while timeline.runs <= run:
            check_cancelled()
            self._reach(timeline.runs - 1, timeline.length)
            error = timeline.advance(timeline.runs - 1)
            if error is not None:
                raise error
        self._reach(run, min(step, timeline.length))

    def _reach(self, run: int, step: int) -> None:
        lacking = Level(self._session.timeline, run).lacking(step)
        error = None if lacking is None else lacking.reach(step)
        if error is not None:
            raise error


def give_before(runs: ProgramRuns, changes: Sequence[Assignment]) -> None:
    """What was given in runs before the program's first one, as far as it is fed to all."""
    timeline, plan = runs.timeline, runs.plan
    earlier = [change for change in changes if change.run < timeline.origin]
    if not earlier:
        return
    fed = dict[TensorRef, np.ndarray]()
    for change in earlier:
        for name, value in change.values.items():
            if (ref := _lasting(plan, name)) is not None:
                fed[ref] = value
    timeline.begin_with(earlier, fed)


def _lasting(plan: Plan, name: str) -> TensorRef | None:
    """The tensor of that name if it is fed, or a constant: what it was given it is in all runs."""
    ref = None if name in plan.variables else TensorRef.parse(name)
    where = None if ref is None else plan.tensors.get(ref)
    if not isinstance(where, int):
        return None
    return ref if where in plan.fed or plan.constant(where) is not None else None


def _step_in(edit: BranchEdit, runs: ProgramRuns) -> int:
    """The step of an edited program before which it stands where the one before it stood."""
    length = runs.timeline.length
    if not edit.op:
        return length
    return runs.plan.step_of.get(edit.op, min(edit.step, length))
