"""The branches of a program with threads: each a line of runs of its own, of all of its threads.

Where a value is given, all threads go on from there apart: what they share is another there. A
branch is made by doing what led to its beginning again, in the same order, and then is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.thread_runs import ThreadRuns
from gradstep.core.debug.history.branch_record import FIRST_BRANCH, Branch
from gradstep.core.debug.history.manual_assignments import Assignment
from gradstep.core.debug.history.named_branches import NamedBranches
from gradstep.core.debug.motion.debug_session import DebugSession


class ThreadBranches:
    """By name, in the order in which they were made; `current` is the name of the one that is
    shown. Raises GradstepError for a name that there is not, or twice. begin: makes the threads
    once more, beside those that there are, before anything ran."""

    def __init__(self, runs: ThreadRuns, begin: Callable[[ThreadRuns], ThreadRuns]) -> None:
        self._begin = begin
        self._runs = {FIRST_BRANCH: runs}
        self._by_name = NamedBranches()
        self._is_new = False  # whether nothing was done since the current one was made
        self.current = FIRST_BRANCH

    def __getitem__(self, name: str) -> Branch:
        branch, stop = self._by_name[name], self._runs[name].current.session.stop
        return replace(branch, place=(stop.run, stop.step))

    @property
    def all(self) -> tuple[Branch, ...]:
        """What there was given on each of them, and where it stands or was left."""
        return tuple(self[name] for name in self._by_name)

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
        """Those of all."""
        return [*self._runs.values()]

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

    def fork(self, name: str, breakpoints: Sequence[Breakpoint]) -> None:
        """Let a branch leave where the current thread stands, and show it. Raises GradstepError,
        and changes nothing, where it cannot be made."""
        name, left, before = self._by_name.free_name(name), self.current, self.shown
        session = before.current.session
        stop, op = session.stop, session.plan.op_after(session.stop.step)
        runs = self._begin(before)
        runs.repeat(before.turns_before((*stop.place,)))
        runs.stand_as(before, breakpoints)
        self._runs[name] = runs
        given = self._by_name[left].changes
        self._by_name[name] = Branch(name, left, stop.run, stop.step, op, given, len(given))
        self.current, self._is_new = name, True

    def was_given(self, words: str) -> None:
        """Something, on the current one, where it began."""
        branch = self._by_name[self.current]
        given = Assignment(branch.run, branch.step, branch.op, {}, words)
        self._by_name[self.current] = replace(branch, changes=(*branch.changes, given))

    def switch(self, name: str) -> None:
        """Show another branch, where it was left."""
        self[name]
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
        del self._runs[name]

    @contextmanager
    def looking_at(self, name: str) -> Iterator[DebugSession]:
        """The thread that is looked at, as it is on another branch, to be read."""
        self[name]
        yield self._session(name)

    def _session(self, name: str) -> DebugSession:
        return self._runs[name].members[self.shown.current.name].session
