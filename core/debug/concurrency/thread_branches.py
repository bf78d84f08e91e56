"""The branches of a program with threads: each a line of runs of its own, of all of its threads.

Where a value is given, or the program edited, all threads go on from there apart: what they share
is another there. A branch is made by doing what led to its beginning again, in the same order, and
then is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from gradstep.core.cancellation import cancelled_when
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.edited_threads import (
    EditedThreads,
    Edits,
    begun_programs,
    edits_in,
    require_alike,
    runs_at,
    with_edit,
)
from gradstep.core.debug.concurrency.thread_runs import ThreadRuns
from gradstep.core.debug.history.branch_record import (
    FIRST_BRANCH,
    Branch,
    BranchEdit,
    Places,
    Turn,
)
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import Assignment
from gradstep.core.debug.history.named_branches import NamedBranches
from gradstep.core.debug.motion.branches import not_reached
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError

# Makes the threads once more, beside those that there are, before anything ran: what each of them
# runs, and the program that says what variables begin with, with the last one, which may have more
# of them.
BeginAgain = Callable[[ThreadRuns, Mapping[str, Program], Program, Program], ThreadRuns]


class ThreadBranches:
    """By name, in the order in which they were made; `current` is the name of the one that is
    shown. Raises GradstepError for a name that there is not, or twice. pausing: whether what makes
    one is to end; breakpoints: those that all threads stop at."""

    def __init__(
        self,
        runs: ThreadRuns,
        programs: EditedThreads,
        begin: BeginAgain,
        pausing: Callable[[], bool] = bool,
    ) -> None:
        self._programs, self._begin, self._pausing = programs, begin, pausing
        self._runs = {FIRST_BRANCH: runs}  # of those that have been made
        self._by_name = NamedBranches()
        self._is_new = False  # whether nothing was done since the current one was made
        self.breakpoints: Sequence[Breakpoint] = ()
        self.current = FIRST_BRANCH

    def __getitem__(self, name: str) -> Branch:
        branch = self._by_name[name]
        if name not in self._runs:
            return branch
        runs = self._runs[name]
        stop = runs.current.session.stop
        place, thread = (stop.run, stop.step), runs.current.name
        return replace(branch, place=place, stands=runs.stands, thread=thread)

    @property
    def all(self) -> tuple[Branch, ...]:
        """What there was given on each of them, and where it stands or was left."""
        return tuple(self[name] for name in self._by_name)

    @property
    def to_be_kept(self) -> tuple[Branch, ...]:
        """The same with the turns that lead to each; of the first one nothing."""
        found = [Branch(self.first)]
        for name in [name for name in self._by_name if name != self.first]:
            runs = self._runs.get(name)
            found.append(self[name] if runs is None else replace(self[name], turns=(*runs.turns,)))
        return (*found,)

    @property
    def first(self) -> str:
        """The name of the one that all others come from."""
        return self._by_name.first

    @property
    def shown(self) -> ThreadRuns:
        """The runs of the current one."""
        return self._runs[self.current]

    @property
    def every(self) -> Sequence[ThreadRuns]:
        """The runs of all branches that have been made."""
        return [*self._runs.values()]

    @property
    def is_alone(self) -> bool:
        """Whether there is but the first."""
        return len(self._by_name) == 1

    @property
    def is_new(self) -> bool:
        """Whether what is given now is the current one's, too."""
        return self._is_new

    def reached(self, name: str) -> tuple[int, int]:
        """The last run of a branch in the thread that is looked at, and how many of its steps were
        done."""
        timeline = self._session(name).timeline
        return timeline.runs - 1, timeline.done(timeline.runs - 1)

    def length(self, name: str) -> int:
        """Steps of a run of a branch, "" for the one that is shown."""
        return self._session(name or self.current).timeline.length

    def moved(self) -> None:
        """A thread has moved: what is given now makes another branch."""
        self._is_new = False

    # -- making them ---------------------------------------------------------------------------

    def fork(self, name: str) -> None:
        """Let a branch leave where the current thread stands, and show it. Raises GradstepError,
        and changes nothing, where it cannot be made."""
        name, before = self._by_name.free_name(name), self.shown
        turns, edits = self._behind()
        runs = self._made(turns, edits)
        runs.stand_as(before, self.breakpoints)
        self._show(name, runs, edits)
        self._is_new = True

    def edit(
        self, name: str, kind: str, names: Sequence[str], words: str, *, possible: bool = False
    ) -> Mapping[str, int]:
        """Let a branch of an edited program leave there: every thread that the edit concerns takes
        the run that it stands in anew, and the others what comes of that. Which threads those are,
        with the runs. Raises GradstepError, and changes nothing, where it cannot be made.
        possible: an edit that cannot be made any more is kept, and does nothing."""
        turns, edits = self._behind()
        stop, plan = self.shown.current.session.stop, self.shown.current.session.plan
        edit = BranchEdit(stop.run, stop.step, plan.op_after(stop.step), kind, (*names,), words)
        if not possible:
            self._programs.require(edits, edit)
        name, before, every = self._by_name.free_name(name), self.shown, (*edits, edit)
        concerned, runs_now = self._programs.concerned(edits, edit), runs_at(turns, before.members)
        where = {n: runs_now[n] for n in before.members if n in concerned}
        require_alike(before, self._programs.parts(every), where)
        for thread, run in where.items():
            turns = with_edit(turns, thread, run, edit)
        runs = self._made(turns, every, exactly=False)
        runs.stand_as(before, self.breakpoints, concerned)
        self._show(name, runs, every)
        self._is_new = False
        return where

    def _behind(self) -> tuple[Sequence[Turn], Edits]:
        """What led to where the current thread stands, and the edits that hold there."""
        runs, edits = self.shown, self._by_name[self.current].edits
        place: Places = (*runs.current.session.stop.place,)
        turns = runs.turns_before(place)
        return turns, edits_in(edits, runs.turns, turns)

    def _made(self, turns: Sequence[Turn], edits: Edits, exactly: bool = True) -> ThreadRuns:
        first, parts, later = begun_programs(self._programs, edits, turns)
        begin, last = self._programs.program(first), self._programs.program(edits)
        runs = self._begin(self.shown, parts, begin, last)
        with cancelled_when(self._pausing):
            runs.repeat(turns, later, exactly)
        return runs

    def _show(self, name: str, runs: ThreadRuns, edits: Edits) -> None:
        left, before = self.current, self.shown
        stop, plan = before.current.session.stop, before.current.session.plan
        given, own = self._by_name[left].changes, self._by_name[left].edits
        self._runs[name] = runs
        self._by_name[name] = Branch(
            *(name, left, stop.run, stop.step, plan.op_after(stop.step), given, len(given)),
            edits=edits,
            edits_inherited=sum(edit in own for edit in edits),
            left=(*sorted(before.stands, key=lambda each: each.thread != before.current.name),),
            thread=before.current.name,
        )
        self.current = name
        self._programs.keep_only(branch.edits for branch in self._by_name.values())

    def take_over(self, branches: Iterable[Branch]) -> None:
        """Before anything ran: those that a document keeps, the first of them first. They are made
        once somebody looks at them."""
        runs, branches = self.shown, (*branches,)
        self._by_name.clear()
        self._by_name.update({branch.name: branch for branch in branches})
        self.current = self.first
        self._runs = {self.first: runs}

    def _of(self, name: str) -> ThreadRuns:
        """The runs of a branch, made now where they were not before."""
        branch = self._by_name[name]
        if name not in self._runs:
            if not branch.stands:
                raise GradstepError(
                    f"branch '{name}' is of the program without threads: there are no turns that "
                    "lead to it",
                    kind="FailedPreconditionError",
                    hint="drop it, or take the threads out of the document",
                )
            try:
                runs = self._made(branch.turns, branch.edits, exactly=False)
                runs.stand_at(branch.stands, branch.thread, self.breakpoints)
            except GradstepError as error:
                raise not_reached(branch, error) from error
            self._runs[name] = runs
        return self._runs[name]

    # -- of those that there are ---------------------------------------------------------------

    def was_given(self, words: str) -> None:
        """Something, on the current one, where it began."""
        branch = self._by_name[self.current]
        given = Assignment(branch.run, branch.step, branch.op, {}, words)
        self._by_name[self.current] = replace(branch, changes=(*branch.changes, given))

    def switch(self, name: str) -> None:
        """Show another branch, where it was left. Raises GradstepError, and shows the one before,
        where it has to be made, and cannot be."""
        self._of(name)
        if name != self.current:
            self.current, self._is_new = name, False

    def rename(self, name: str, to: str) -> None:
        """Call a branch something else."""
        to = self._by_name.rename(name, to)
        self._runs = {to if n == name else n: runs for n, runs in self._runs.items()}
        self.current = to if self.current == name else self.current

    def drop(self, name: str) -> None:
        """Forget a branch; those that leave it leave the one that it leaves. If it is shown, that
        one is shown then."""
        gone = self._by_name.that_leaves(name)
        if name == self.current:
            self.switch(gone.parent)
        self._by_name.drop(name)
        self._runs.pop(name, None)
        self._programs.keep_only(branch.edits for branch in self._by_name.values())

    @contextmanager
    def looking_at(self, name: str) -> Iterator[DebugSession]:
        """The thread that is looked at, as it is on another branch, to be read."""
        yield self._session(name)

    def _session(self, name: str) -> DebugSession:
        return self._of(name).members[self.shown.current.name].session
