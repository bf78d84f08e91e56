"""The branches of a session: where a value is given or the program edited, its runs fork.

One is shown: its runs are the timeline's. Of the others the timeline keeps what there is room for;
the rest is computed again from what was given by hand, and edited, on the way.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING
from weakref import proxy

import numpy as np

from gradstep.core.cancellation import Cancelled, cancelled_when
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.breaks.hit_counts import Path
from gradstep.core.debug.history.branch_record import FIRST_BRANCH, Branch, BranchEdit
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import (
    InnerPlace,
    find_fitting,
    give,
    inner_places,
    inside_in,
    place_of,
)
from gradstep.core.debug.history.named_branches import NamedBranches
from gradstep.core.debug.history.parked_runs import ParkedRuns
from gradstep.core.debug.motion.branch_programs import BranchPrograms
from gradstep.core.debug.motion.branch_replay import BranchReplay
from gradstep.core.debug.motion.program_runs import ProgramRuns
from gradstep.core.errors import GradstepError
from gradstep.core.position_text import position_text

if TYPE_CHECKING:
    from gradstep.core.debug.motion.cursor import Cursor
    from gradstep.core.debug.motion.debug_session import DebugSession

Hits = Mapping[Breakpoint, list[Path]]


class Branches:
    """By name, in the order in which they were made; `current` is the name of the one that is
    shown. Raises GradstepError for a name that there is not, or twice."""

    def __init__(self, session: DebugSession) -> None:
        self._session: DebugSession = proxy(session)  # which has these
        self.programs = BranchPrograms(session.runs)
        self._replay = BranchReplay(self._session, self.programs)
        self._by_name = NamedBranches()
        self._hits: dict[str, Hits] = {}  # of those that are not shown
        self._is_new = False  # whether nothing was done since the current one was made
        self.current = FIRST_BRANCH

    def __getitem__(self, name: str) -> Branch:
        return self._by_name[name]

    @property
    def all(self) -> tuple[Branch, ...]:
        """What leads to each of them, and to where it stands or was left."""
        self._note()
        return tuple(self._by_name.values())

    @property
    def first(self) -> str:
        """The name of the one that all others come from."""
        return self._by_name.first

    @property
    def edits(self) -> tuple[BranchEdit, ...]:
        """Those that the program has which is shown."""
        return self.programs.possible(self[self.current].edits)

    def reached(self, name: str) -> tuple[int, int]:
        """The last run of a branch, and how many of its steps were done."""
        timeline = self._session.timeline
        if name == self.current:
            return timeline.runs - 1, timeline.done(timeline.runs - 1)
        parked = self._parked_with(name).get(name)
        return self[name].place if parked is None else (parked.runs - 1, parked.done)

    def length(self, name: str) -> int:
        """Steps of a run of a branch, "" for the one that is shown; -1 where its program is not
        kept."""
        runs = self.programs.of(self[name or self.current].edits)
        return -1 if runs is None else runs.timeline.length

    def beside(self, program: Program, run: int) -> ProgramRuns:
        """Runs of an edited program that begin as run `run` of the branch that is shown did, to be
        looked at: no branch."""
        return self._replay.beside(program, run)

    def moved(self) -> None:
        """The session has moved: what is given now makes another branch."""
        self._is_new = False

    # -- making and leaving them ---------------------------------------------------------------

    def inject(
        self,
        values: Mapping[str, np.ndarray],
        name: str = "",
        words: str = "",
        step: int | None = None,
    ) -> Branch:
        """Give variables and tensors other values where the session stands. What there is stays as
        it is: a branch leaves it here, and is shown. Where one begins already, and nothing was done
        since, they are that one's, too. name: of the branch; "" for the next that is free. words:
        what is given, for people. step: after how many steps of the run they are given, and the
        branch leaves, where that is before the session stands; what comes behind that and hangs on
        them is done again, and the session stays. Raises GradstepError, and changes nothing, for
        what cannot be."""
        session = self._session
        here, *inside = session.stop.place
        at = here if step is None else (here[0], step)
        within = inside if at == here else []
        find_fitting(session, values, at, within)
        changes = session.timeline.changes
        follows = not changes or changes[-1].at <= place_of(*at, within)
        goes_on = self._is_new and not name and follows
        if goes_on:
            give(session, values, at, words, within)
        else:
            self._fork(self._by_name.free_name(name), values, words, at, within)
        if at != here or not goes_on:
            self._stand_again(here, within)
        self._is_new = True
        self._note()
        return self[self.current]

    def edit(self, kind: str, names: Sequence[str], name: str = "", words: str = "") -> Branch:
        """Run the program after an edit, from the beginning of the run that the session stands in,
        on a branch that leaves the current one here and is shown. What that run had done already
        stays where it does not hang on the edit. kind, names: see BranchEdit; the rest as of
        `inject`. Raises GradstepError, and changes nothing, for what cannot be."""
        session, op = self._session, self._op
        here, *inside = session.stop.place
        edit = BranchEdit(*here, op, kind, (*names,), words)
        edits = *self[self.current].edits, edit
        program = self.programs.program_after([*self.edits, edit])
        name, left, before = self._by_name.free_name(name), self.current, session.runs
        within = inner_places(before.plan, edit.step, inside)
        with self._elsewhere(name):
            started = self._replay.started(before, edit.run)
            runs = before.edited(program, edit.run, started)
            place = self._replay.begin_edited(runs, before, edit, inside)
            self.programs.hold(edit, runs)
        given = len(runs.timeline.changes)
        self._by_name[name] = Branch(
            name, left, *here, op, inherited=given, edits=edits, edits_inherited=len(edits) - 1
        )
        self._cursor.hits.hold(before.cursor.hits.until((edit.run, 0)))
        self._stand(*place, within)
        self._is_new = False
        self._settle()
        return self[name]

    def switch(self, name: str) -> None:
        """Show another branch, where it was left. Raises GradstepError, and shows the one before,
        where its runs are to be computed again, and that fails or is cancelled."""
        if self[name].name == self.current:
            return
        with self._elsewhere(name):
            parked = self._parked_with(name).pop(name, None)
            if parked is None:
                self._replay.make_again(self[name])
            else:
                self._show(self[name])
                self._session.timeline.resume(parked)
        self._cursor.hits.hold(self._hits.pop(name, {}))
        self._stand_at(self[name])
        self._is_new = False
        self._settle()

    def lead(self) -> None:
        """To where the current branch, which `take_over` has told of, was left; as far as that can
        be made; what kept it from being made is the cursor's error. Where its program does not even
        begin, the first branch is shown."""
        branch, runs = self[self.current], self._session.runs
        failed: GradstepError | None = None
        try:
            with suppress(Cancelled), cancelled_when(runs.cursor.pausing):
                self._replay.make_again(branch)
        except GradstepError as error:
            failed = not_reached(branch, error)
        now, self._session.runs = self._session.runs, runs
        if now is not self.programs.of(self.programs.possible(branch.edits)):
            now, self.current = self.programs.own, self.first
            now.timeline.reset()
        self._follow_on(now)
        self._stand_at(self[self.current])
        self._cursor.error = failed or self._cursor.error
        self._settle()

    def rename(self, name: str, to: str) -> None:
        """Call a branch something else."""
        to = self._by_name.rename(name, to)
        parked = self._parked_with(to)
        if name in parked:
            parked[to] = parked.pop(name)
        if name in self._hits:
            self._hits[to] = self._hits.pop(name)
        self.current = to if self.current == name else self.current

    def drop(self, name: str) -> None:
        """Forget a branch; those that leave it leave the one that it leaves. If it is shown, that
        one is shown then."""
        gone = self._by_name.that_leaves(name)
        if name == self.current:
            self.switch(gone.parent)
        self._parked_with(name).pop(name, None)
        self._by_name.drop(name)
        self._hits.pop(name, None)
        self._settle()

    @contextmanager
    def looking_at(self, name: str) -> Iterator[DebugSession]:
        """Inside, the timeline is that of another branch, to be read; then all is as it was. Raises
        GradstepError where its runs are to be computed again, and that fails."""
        if self[name].name == self.current:
            yield self._session
            return
        runs, was = self._session.runs, self.current
        self._leave()
        there = self._parked_with(name).pop(name, None)
        try:
            with runs.cursor.unheeded(), cancelled_when(runs.cursor.pausing):
                if there is None:
                    self._replay.make_again(self[name])
                    there = self._session.timeline.park()
                else:
                    self._show(self[name])
                    self._session.timeline.resume(there)
                self._go_inside(self[name])
            yield self._session
        finally:
            if there is not None:
                self._parked_with(name)[name] = there
            self._back_on(runs, was)

    def begin_again(self) -> None:
        """Before a restart: the first one begins anew, and the others stay as they are."""
        if self.current != self.first:
            self._leave()
            self._follow_on(self.programs.own)
            self._parked_with(self.first).pop(self.first, None)
            self.current = self.first
        self._is_new = False

    def take_over(self, branches: Iterable[Branch], current: str) -> None:
        """Those of a session before an edit, or of an engine that is no more; of which the session
        is to be led to the current one."""
        self._by_name.clear()
        self._by_name.update({branch.name: branch for branch in branches})
        self.current = current

    # -- inside --------------------------------------------------------------------------------

    def _fork(
        self,
        name: str,
        values: Mapping[str, np.ndarray],
        words: str,
        at: tuple[int, int],
        inside: Sequence[tuple[int, int]],
    ) -> None:
        timeline, left = self._session.timeline, self.current
        with self._elsewhere(name):
            timeline.fork(*at, inside)
            self._cursor.hits.hold(self._cursor.hits.until(place_of(*at, inside)))
            inherited = len(timeline.changes)
            give(self._session, values, at, words, inside)
        # Only now: what failed has made no branch.
        edits, op = self[left].edits, self._session.plan.op_after(at[1])
        branch = Branch(name, left, *at, op, inherited=inherited, place=at, edits=edits)
        branch = replace(branch, edits_inherited=len(edits))
        self._by_name[name] = branch

    def _stand_again(self, here: tuple[int, int], inside: Sequence[tuple[int, int]]) -> None:
        """Where the session stood before something was given; or, where a step before that fails
        now, at that."""
        timeline, (run, step) = self._session.timeline, here
        failed = timeline.reach(step) if timeline.done(run) < step else None
        self._cursor.stand_inside(run, min(step, timeline.done(run)), inside)
        self._cursor.error = failed or self._cursor.error

    @contextmanager
    def _elsewhere(self, name: str) -> Iterator[None]:
        """Leave the current branch: `name` is, once what is inside is done; if that fails, the
        session stands on the one before again."""
        runs, left = self._session.runs, self.current
        pausing = runs.cursor.pausing
        self._leave()
        try:
            with runs.cursor.unheeded(), cancelled_when(pausing):
                yield
        except BaseException:
            self._back_on(runs, left)
            raise
        self.current = name
        now, self._session.runs = self._session.runs, runs
        self._follow_on(now)

    def _back_on(self, runs: ProgramRuns, name: str) -> None:
        """Show again what was shown before it was left."""
        self._session.runs = runs
        runs.timeline.resume(runs.timeline.parked.by_name.pop(name))
        self._cursor.hits.hold(self._hits.pop(name))
        if self._cursor.is_inside:
            self._stand_at(self[name])

    def _show(self, branch: Branch) -> None:
        """The program of that branch, which is kept."""
        runs = self.programs.of(branch.edits)
        assert runs is not None
        self._session.runs = runs

    def _follow_on(self, runs: ProgramRuns) -> None:
        """Move along these from now on, as the ones that were shown were moved along."""
        before, self._session.runs = self._session.runs, runs
        if runs is not before:
            runs.cursor.follow(before.cursor)

    def _parked_with(self, name: str) -> dict[str, ParkedRuns]:
        """What is kept of the branches that run the program of that one."""
        return self.programs.parked(self[name])

    def _settle(self) -> None:
        """Branches have come or gone, or another program is shown."""
        self._note()
        self.programs.keep_only(self._by_name.values(), self._session.runs)

    def _stand_at(self, branch: Branch) -> None:
        """Where a branch was left; an edit may have left fewer steps."""
        timeline, (run, step) = self._session.timeline, branch.place
        run = min(max(run, timeline.first), timeline.runs - 1)
        self._stand(run, min(step, timeline.done(run)), branch.inside)

    def _stand(self, run: int, step: int, inside: Sequence[InnerPlace]) -> None:
        """At a step; and in the loop that comes then, as far as it comes to that place."""
        self._cursor.stand(run, step)
        places = inside_in(self._session.plan, step, inside)
        if places:
            with suppress(GradstepError):  # nothing is kept of the loop
                self._session.runs.stepper.run_to(position_text([(run, step), *places]))

    def _go_inside(self, branch: Branch) -> None:
        """Let the loop in which a branch was left come as far again; nobody stands there."""
        step = branch.place[1]
        places = inside_in(self._session.plan, step, branch.inside)
        if places:
            with suppress(GradstepError):  # it fails on the way
                self._session.timeline.go_inside(step, places)

    @property
    def _op(self) -> str:
        """The operation of the run that comes where the session stands; "" at the run's end."""
        return self._session.plan.op_after(self._session.stop.step)

    @property
    def _cursor(self) -> Cursor:
        return self._session.runs.cursor

    def _leave(self) -> None:
        """Put the current branch aside, as it is."""
        self._note()
        self._session.timeline.parked.by_name[self.current] = self._session.timeline.park()
        self._hits[self.current] = self._cursor.hits.seen

    def _note(self) -> None:
        """Remember where the current one stands, and what was given on it."""
        branch, changes = self[self.current], tuple(self._session.timeline.changes)
        place, *inside = self._session.stop.place
        within = inner_places(self._session.plan, place[1], inside)
        noted = replace(branch, changes=changes, place=place, inside=within)
        self._by_name[branch.name] = noted


def not_reached(branch: Branch, error: GradstepError) -> GradstepError:
    """That a branch cannot be made again, because of that."""
    return GradstepError(
        f"branch '{branch.name}' cannot be made again up to where it was left: {error.message}",
        kind=error.kind,
        node=error.node,
        hint=error.hint or "step on from here, or drop the branch",
    )
