"""A session's threads: the main program and those beside it, on the same variables and queues.

Moves are of the current thread; the others stand still. Only `continue_` lets all of them go on,
in turn, and in the same order every time: the same commands give the same values.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any
from weakref import proxy

import msgspec
import numpy as np

from gradstep.core.cancellation import cancelled_when
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.edited_threads import EditedThreads
from gradstep.core.debug.concurrency.scheduled_thread import ScheduledThread
from gradstep.core.debug.concurrency.shared_variables import SharedVariables
from gradstep.core.debug.concurrency.thread_branches import ThreadBranches
from gradstep.core.debug.concurrency.thread_runs import Begin, ThreadRuns
from gradstep.core.debug.concurrency.thread_state import MAIN, Thread, ThreadState
from gradstep.core.debug.concurrency.wait_graph import deadlock, involved, said, state
from gradstep.core.debug.history.branch_record import FIRST_BRANCH, Branch
from gradstep.core.debug.history.first_variables import FirstVariables
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import (
    assign,
    find_fitting,
    fitting,
    give_in_thread,
)
from gradstep.core.debug.motion.branches import Branches
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.legal_moves import find_move
from gradstep.core.debug.motion.move_definition import Moved
from gradstep.core.debug.motion.stopped_state import Reason, Stop
from gradstep.core.debug.motion.training import Training, Wish
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import instead

# In the history, beside the names of commands.
_ASSIGN, _INJECT, BREAKPOINTS = "assign", "inject", "breakpoints"
_FORK, _WORDS = "fork", "words"  # a branch of that name; what is said of what is given next
_EDIT = "edit"  # a branch of an edited program
_SWITCH, _DROP, _RENAME = "branch", "drop branch", "rename branch"
_OF_BRANCHES = frozenset({_FORK, _EDIT, _SWITCH, _DROP, _RENAME})
_STOPS = (Reason.BREAKPOINT, Reason.PAUSE)


class Scheduler:
    """Drives a program that may have threads. Not thread-safe, but for `pause`.

    limit_bytes: how much memory recorded runs may keep, those of all threads together. before: the
    threads of the program before an edit, whose memory goes over to these; unless they are to
    `rest`, and be gone on from later.
    given_up: asked while initial operations run, whether they are not to go on; by default whoever
    has said so for all that is under way.
    Raises GradstepError as DebugSession does, and for a name that two threads have.
    """

    def __init__(
        self,
        program: Program,
        backend: Backend | None = None,
        limit_bytes: int = 2 << 30,
        before: Scheduler | None = None,
        rest: bool = False,
        given_up: Callable[[], bool] | None = None,
    ) -> None:
        self.program = program
        backend = backend or NumpyBackend()
        first = None if before is None else before._first
        with contextlib.nullcontext() if given_up is None else cancelled_when(given_up):
            self._first: FirstVariables = FirstVariables(program, backend, first)
        self._backend, self._limit = backend, limit_bytes
        members = {} if before is None else before._members
        old = {member.name: member.session for member in members.values()}
        parts = [(each, own, old.get(each.name)) for each, own in _parts(program)]
        runs = ThreadRuns(parts, self._first.store, self._begin(len(parts), rests=rest))
        programs = EditedThreads(program, {t.name: own for t, own, _ in parts}, _by_name)
        self._pausing = threading.Event()
        me: Scheduler = proxy(self)  # not held by what it has: it goes as soon as nobody has it
        self._branches = ThreadBranches(
            runs, programs, lambda *about: me._once_more(*about), self._pausing.is_set
        )
        self._begun: tuple[Branch, ...] = ()  # that a document has kept
        self._history: list[tuple[str, Any]] = []
        self._words = ""
        # The threads that the last edit on a branch concerned, with the runs that it holds from.
        self.edited_in: Mapping[str, int] = {}

    def _begin(self, count: int, keeps: bool = False, rests: bool = False) -> Begin:
        """What makes a session, of so many that there are to be then. keeps: those before go on;
        rests: they do, and nothing of theirs is taken."""
        limit, backend = self._limit // count, self._backend

        def begin(
            own: Program,
            before: DebugSession | None,
            shared: SharedVariables,
            origin: int = 0,
            start: VariableStore | None = None,
        ) -> DebugSession:
            kept, whole = keeps or start is not None, None
            if rests and before is not None and start is None:
                whole, before = before.branches.programs.own.plan, None
            return DebugSession(own, backend, limit, before, shared, kept, origin, start, whole)

        return begin

    def _once_more(
        self, runs: ThreadRuns, own: Mapping[str, Program], begun: Program, last: Program
    ) -> ThreadRuns:
        """The same threads, before anything ran; see BeginAgain."""
        parts = [(m.thread, own.get(m.name, m.session.program), m.session) for m in runs.all]
        count = len(self.kept_sessions) + len(parts)
        return ThreadRuns(parts, self._start(begun, last), self._begin(count, keeps=True))

    def _start(self, begun: Program, last: Program) -> VariableStore:
        """What variables begin with: as one program says, and those that only another one has."""
        if begun is last is self.program:
            return self._first.store
        store = VariableStore(self._backend)
        for program in dict.fromkeys((last, begun)):
            for name, array in FirstVariables(program, self._backend, self._first).store.items():
                store.hold(name, array)
        return store

    # -- looking -------------------------------------------------------------------------------

    @property
    def branches(self) -> Branches | ThreadBranches:
        """The branches of its runs."""
        return self._branches if len(self._members) > 1 else self.session.branches

    @property
    def _runs(self) -> ThreadRuns:
        return self._branches.shown

    @property
    def _members(self) -> Mapping[str, ScheduledThread]:
        return self._runs.members

    @property
    def _shared(self) -> SharedVariables:
        return self._runs.shared

    @property
    def _current(self) -> ScheduledThread:
        return self._runs.current

    @property
    def session(self) -> DebugSession:
        """The current thread's."""
        return self._current.session

    @property
    def _all(self) -> list[ScheduledThread]:
        return self._runs.all

    @property
    def sessions(self) -> list[DebugSession]:
        """Every thread's, the main one's first."""
        return self._runs.sessions

    @property
    def kept_sessions(self) -> list[DebugSession]:
        """Every thread's, of the runs of all branches."""
        return [session for runs in self._branches.every for session in runs.sessions]

    def keep_at_most(self, limit_bytes: int) -> None:
        """How much memory recorded runs may keep from now on, those of all threads together."""
        self._limit, kept = limit_bytes, self.kept_sessions
        for session in kept:
            session.branches.programs.limit(limit_bytes // len(kept))

    @property
    def current(self) -> str:
        """The current thread's name."""
        return self._current.name

    @property
    def stop(self) -> Stop:
        """Where the current thread stands."""
        stop = self.session.stop
        if stop.reason is not Reason.BLOCKED or self._current.waits is None:
            return stop
        if not self._current.blocked:  # any more: others have changed the queue
            return replace(stop, reason=Reason.STEP, error=None)
        return replace(stop, error=said(self._current, self._all))

    @property
    def states(self) -> list[ThreadState]:
        """Every thread, the main one first."""
        return [state(member, self._all, member is self._current) for member in self._all]

    @property
    def history(self) -> Sequence[tuple[str, Any]]:
        """The commands since the start, with their targets; of switching the target alone; the
        values that variables were given, and the breakpoints that were set."""
        return tuple(self._history)

    @property
    def deadlock(self) -> str:
        """Who waits for what, where threads wait for each other for ever; else ""."""
        return next(filter(None, (deadlock(member, self._all) for member in self._all)), "")

    # -- moving --------------------------------------------------------------------------------

    def switch(self, name: str) -> Stop:
        """Let commands move thread `name` from now on."""
        if name not in self._members:
            raise GradstepError(
                f"there is no thread '{name}'",
                kind="KeyError",
                hint=instead(name, self._members),
            )
        self._runs.current = self._members[name]
        self._remember("", name)
        return self.stop

    def command(self, name: str, target: str = "") -> Stop:
        """The move of that name, of the threads that its record says."""
        moved = find_move(name).moved
        self._pausing.clear()
        self._branches.moved()
        if moved is Moved.ANEW:
            self._restart(name, target)
            return self.stop
        if moved is Moved.IN_TURN and len(self._members) > 1:
            self._continue_all()
        else:
            self._runs.note(self._current, self.session.command(name, target))
        self._remember(name, target)
        return self.stop

    def choose_iteration(self, target: str) -> None:
        """Look at an iteration of a loop of the current thread's: "while/While 3" counts from 1,
        "while/While" and "while/While last" are where it stands, or the last. Raises GradstepError
        for what is neither."""
        loop, _, number = target.strip().rpartition(" ")
        counted = int(number[:18]) if number.isdecimal() else 0  # of any length
        if counted > 0 and loop:
            self.session.choose_iteration(loop, counted - 1)
            return
        if number == "last" and loop:
            number = loop
        elif loop:
            raise GradstepError(
                f"'{number}' is no iteration",
                kind="ValueError",
                hint="iterations are counted from 1; last is the one that was the last",
            )
        self.session.choose_iteration(number, None)

    def train(self, wish: Wish) -> Training:
        """Run after run of the program; see `gradstep.core.debug.motion.training`. Raises
        GradstepError where threads fill its queues: their turns are what runs would hang on."""
        if len(self._members) > 1:
            raise GradstepError(
                "a document with threads is not trained in one go",
                kind="UnimplementedError",
                hint="continue (F5) lets them and the program take turns, run by run",
            )
        self._pausing.clear()
        went = self.session.train(wish)
        self._runs.note(self._current, went.stop)
        return went

    def assign(self, values: Mapping[str, np.ndarray]) -> None:
        """Give variables other values here, between two steps; see
        `gradstep.core.debug.history.manual_assignments`."""
        assign(self.sessions, values)
        self._branches.moved()
        self._runs.was_assigned(values)
        self._remember(_ASSIGN, values)

    def inject(
        self,
        values: Mapping[str, np.ndarray],
        name: str = "",
        words: str = "",
        step: int | None = None,
    ) -> Stop:
        """Give variables and tensors other values here, on a branch of its own; see
        `gradstep.core.debug.motion.branches`, and where there are threads, which give nothing
        after an earlier step, `gradstep.core.debug.concurrency.thread_branches`. Raises
        GradstepError for what cannot be given."""
        if len(self._members) == 1:
            return self.session.inject(values, name, words, step)
        session = self.session
        here, *inside = session.stop.place
        find_fitting(session, values, here, inside)
        if name or not self._branches.is_new:
            return self._fork(values, name, words)
        self._give(values, words)
        return self.stop

    def _fork(self, values: Mapping[str, np.ndarray], name: str, words: str) -> Stop:
        history = [*self._history]
        self._pausing.clear()
        self._branches.fork(name)
        made = self._branches.current
        self._remember(_FORK, made)
        try:
            self._give(values, words)
        except GradstepError:
            self._branches.drop(made)
            self._history = history
            raise
        self.keep_at_most(self._limit)
        return self.stop

    def _give(self, values: Mapping[str, np.ndarray], words: str, possible: bool = False) -> None:
        give_in_thread(self.session, values, words, possible)
        self._runs.was_given(values, words)
        self._branches.was_given(words)
        self._remember(_WORDS, words)
        self._remember(_INJECT, values)

    def edit(self, kind: str, names: Sequence[str], name: str = "", words: str = "") -> Stop:
        """Run an edited program from the beginning of this run on, on a branch of its own; see
        `gradstep.core.debug.motion.branches`. Where there are threads, each that the edit concerns
        runs it from the beginning of the run that it stands in. Raises GradstepError for what
        cannot be."""
        self.edited_in = {}
        if len(self._members) == 1:
            return self.session.edit(kind, names, name, words)
        self._pausing.clear()
        self.edited_in = self._branches.edit(name, kind, names, words)
        told = msgspec.json.encode([self._branches.current, kind, [*names], words])
        self._remember(_EDIT, told.decode())
        self.keep_at_most(self._limit)
        return self.stop

    def switch_branch(self, name: str) -> Stop:
        """Show another branch, where it was left."""
        if len(self._members) == 1:
            return self.session.switch_branch(name)
        self._pausing.clear()
        self._branches.switch(name)
        self._remember(_SWITCH, name)
        self.keep_at_most(self._limit)
        return self.stop

    def drop_branch(self, name: str) -> Stop:
        """Forget a branch."""
        if len(self._members) == 1:
            return self.session.drop_branch(name)
        self._branches.drop(name)
        self._remember(_DROP, name)
        self.keep_at_most(self._limit)
        return self.stop

    def rename_branch(self, name: str, to: str) -> None:
        """Call a branch something else."""
        self.branches.rename(name, to)
        self._remember(_RENAME, f"{name}\n{to}")

    def begin_branches(self, branches: Sequence[Branch]) -> None:
        """Before anything ran: those that a document has kept, the first of them first."""
        if len(self._members) == 1:
            self.session.branches.take_over(branches, branches[0].name)
        else:
            self._begun = (*branches,)
            self._branches.take_over(branches)

    @property
    def begun(self) -> tuple[Branch, ...]:
        """Beside threads, the branches that there were before anything ran."""
        return self._begun

    @property
    def to_be_kept(self) -> tuple[Branch, ...]:
        """The branches, with all that a document needs to keep them."""
        alone = len(self._members) == 1
        return self.session.branches.all if alone else self._branches.to_be_kept

    def repeat(self, history: Sequence[tuple[str, Any]]) -> None:
        """Do these commands, as far as they can be done, and nobody pauses it."""
        with contextlib.suppress(GradstepError):
            for name, target in history:
                if not self._again(name, target):
                    break

    def _again(self, name: str, target: Any) -> bool:
        """One of them; false where it was paused."""
        if name == _ASSIGN:
            self.assign(fitting(self.program.graph, target))
        elif name == _INJECT:
            self._give(target, self._words, possible=True)
        elif name == _WORDS:
            self._words = target
        elif name in _OF_BRANCHES:
            self._again_of_branches(name, target)
        elif name == BREAKPOINTS:
            self.set_breakpoints(target)
        elif not name:
            self.switch(target)
        else:
            return self.command(name, target).reason is not Reason.PAUSE
        return True

    def _again_of_branches(self, name: str, target: str) -> None:
        if name == _SWITCH:
            self.switch_branch(target)
        elif name == _DROP:
            self.drop_branch(target)
        elif name == _RENAME:
            self.rename_branch(*target.split("\n"))
        else:
            if name == _FORK:
                self._branches.fork(target)
            else:
                self._branches.edit(*msgspec.json.decode(target), possible=True)
            self._remember(name, target)
            self.keep_at_most(self._limit)

    def pause(self) -> None:
        """Stop a command that another thread of Python is executing, at the next opportunity."""
        self._pausing.set()
        for member in self._all:
            member.session.pause()

    def set_breakpoints(self, breakpoints: Sequence[Breakpoint]) -> None:
        """Replace all, in every thread. Raises GradstepError for one that cannot be read."""
        for session in self.sessions:
            session.set_breakpoints(breakpoints)
        for session in self.kept_sessions:
            if session not in self.sessions:
                session.set_readable_breakpoints(breakpoints)
        self._branches.breakpoints = tuple(breakpoints)
        self._remember(BREAKPOINTS, tuple(breakpoints))

    def _remember(self, command: str, target: object) -> None:
        if len(self._members) > 1:  # where positions alone do not lead back
            self._history.append((command, target))

    def _restart(self, name: str, target: str) -> None:
        """Of the first branch; the others stay as they are."""
        alone, was, first = self._branches.is_alone, self.current, self._branches.first
        if alone:  # nothing hangs on what was done so far
            self._history = [entry for entry in self._history if entry[0] == BREAKPOINTS][-1:]
            self._begun = ()
            if first != FIRST_BRANCH:
                self._remember(_RENAME, f"{FIRST_BRANCH}\n{first}")
        else:
            self._remember(name, target)
        self._branches.switch(first)
        self._shared.reset()
        for member in self._all:
            member.session.restart()
            member.forget()
        self._runs.forget()
        self.switch(was)

    def _continue_all(self) -> None:
        """Let the threads go on in turn, from one meeting with what is shared to the next, until
        one stops, the first one's run ends, or it waits for what none of them will do. The first
        is the main one; where that has nothing to do, the current one, or the next that has."""
        turns, main = self._in_turn(), self._members[MAIN]
        first = next((m for m in (main, *turns) if m.has_more), main)
        while any(map(self._goes, involved(first, self._all))):
            for turn in turns:
                member: ScheduledThread | None = turn
                while member is not None and self._goes(member):
                    stop = self._runs.note(member, member.go_on())
                    if self._stops(member, stop, first):
                        self._runs.current = member
                        return
                    member = self._served()
        if main.has_more:
            self._runs.current = main

    def _in_turn(self) -> list[ScheduledThread]:
        """All threads, the current one first."""
        at = self._all.index(self._current)
        return self._all[at:] + self._all[:at]

    def _served(self) -> ScheduledThread | None:
        """Who has waited longest of those where something has changed since. They go first: as in
        TensorFlow, a queue serves who came first, and nobody starves."""
        woken = (m for m in self._all if m.waits is not None and self._goes(m))
        return min(woken, key=lambda m: m.since, default=None)

    def _goes(self, member: ScheduledThread) -> bool:
        return member.has_more and not member.blocked

    def _stops(self, member: ScheduledThread, stop: Stop, first: ScheduledThread) -> bool:
        """Whether all threads stop because of where this one stands."""
        if stop.reason is Reason.EXCEPTION:
            return member.ended is None
        ends = member is first and stop.step == member.session.timeline.length
        return ends or stop.reason in _STOPS or self._pausing.is_set()


def _by_name(program: Program) -> Mapping[str, Program]:
    """What each thread runs, by their names."""
    return {thread.name: own for thread, own in _parts(program)}


def _parts(program: Program) -> list[tuple[Thread, Program]]:
    """Each thread with what it runs, the main one first. Raises GradstepError for a name that two
    have."""
    parts = [(Thread(MAIN, program.targets, program.fetches), program)]
    for thread in program.threads:
        if any(thread.name == other.name for other, _ in parts):
            raise GradstepError(
                f"there are two threads '{thread.name}'", kind="ValueError", hint="rename one"
            )
        own = replace(program, targets=thread.targets, fetches=thread.fetches)
        parts.append((thread, own))
    return parts
