"""A session's threads: the main program and those beside it, on the same variables and queues.

Moves are of the current thread; the others stand still. Only `continue_` lets all of them go on,
in turn, and in the same order every time: the same commands give the same values.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.concurrency.scheduled_thread import ScheduledThread
from gradstep.core.debug.concurrency.shared_variables import SharedVariables
from gradstep.core.debug.concurrency.thread_state import MAIN, Thread, ThreadState
from gradstep.core.debug.concurrency.wait_graph import deadlock, involved, said, state
from gradstep.core.debug.history.branch_record import Branch
from gradstep.core.debug.history.first_variables import FirstVariables
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import assign, fitting, give_in_thread
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.legal_commands import find_command
from gradstep.core.debug.motion.move_definition import Moved
from gradstep.core.debug.motion.stopped_state import Reason, Stop
from gradstep.core.debug.motion.training import Training, Wish
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.suggestions import instead

_ASSIGN, _INJECT, _BREAKPOINTS = "assign", "inject", "breakpoints"  # in the history
_STOPS = (Reason.BREAKPOINT, Reason.PAUSE)


class Scheduler:
    """Drives a program that may have threads. Not thread-safe, but for `pause`.

    limit_bytes: how much memory recorded runs may keep, those of all threads together. before: the
    threads of the program before an edit, whose memory goes over to these; unless they are to
    `rest`, and be gone on from later.
    Raises GradstepError as DebugSession does, and for a name that two threads have.
    """

    def __init__(
        self,
        program: Program,
        backend: Backend | None = None,
        limit_bytes: int = 2 << 30,
        before: Scheduler | None = None,
        rest: bool = False,
    ) -> None:
        self.program = program
        backend = backend or NumpyBackend()
        first = None if before is None else before._first
        self._first: FirstVariables = FirstVariables(program, backend, first)
        self._shared = SharedVariables(self._first.store)
        main = Thread(MAIN, program.targets, program.fetches)
        members = {} if before is None or rest else before._members
        old = {member.name: member.session for member in members.values()}
        limit = limit_bytes // (1 + len(program.threads))
        self._members: dict[str, ScheduledThread] = {}
        for thread in (main, *program.threads):
            if thread.name in self._members:
                raise GradstepError(
                    f"there are two threads '{thread.name}'", kind="ValueError", hint="rename one"
                )
            own = program
            if thread is not main:
                own = replace(program, targets=thread.targets, fetches=thread.fetches)
            session = DebugSession(own, backend, limit, old.get(thread.name), self._shared)
            self._members[thread.name] = ScheduledThread(thread, session, self._shared)
        self._shared.between([m.session.timeline.link for m in self._all])
        self._current = self._members[MAIN]
        self._pausing = threading.Event()
        self._history: list[tuple[str, Any]] = []

    # -- looking -------------------------------------------------------------------------------

    @property
    def session(self) -> DebugSession:
        """The current thread's."""
        return self._current.session

    @property
    def _all(self) -> list[ScheduledThread]:
        return [*self._members.values()]

    @property
    def sessions(self) -> list[DebugSession]:
        """Every thread's, the main one's first."""
        return [member.session for member in self._all]

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
        self._current = self._members[name]
        self._remember("", name)
        return self.stop

    def command(self, name: str, target: str = "") -> Stop:
        """The move of that name, of the threads that its record says."""
        moved = find_command(name).moved
        self._pausing.clear()
        if moved is Moved.ANEW:
            self._history = [entry for entry in self._history if entry[0] == _BREAKPOINTS][-1:]
            self._restart()
            self._remember("", self.current)
            return self.stop
        if moved is Moved.IN_TURN and len(self._members) > 1:
            self._continue_all()
        else:
            self._note(self._current, self.session.command(name, target))
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
        self._note(self._current, went.stop)
        return went

    def assign(self, values: Mapping[str, np.ndarray]) -> None:
        """Give variables other values here, between two steps; see
        `gradstep.core.debug.history.manual_assignments`."""
        assign(self.sessions, values)
        self._remember(_ASSIGN, values)

    def inject(self, values: Mapping[str, np.ndarray], name: str = "", words: str = "") -> Stop:
        """Give variables and tensors other values here, on a branch of its own; see
        `gradstep.core.debug.motion.branches`. Where there are threads, whose lines of runs are one
        with what they share, they are given where the current thread stands, and it goes on with
        them: at its newest step alone. Raises GradstepError for what cannot be given."""
        if len(self._members) == 1:
            return self.session.inject(values, name, words)
        if name:
            self._require_alone()
        stop = give_in_thread(self.session, values, words)
        self._remember(_INJECT, values)
        return stop

    def edit(self, kind: str, names: Sequence[str], name: str = "", words: str = "") -> Stop:
        """Run an edited program from the beginning of this run on, on a branch of its own; see
        `gradstep.core.debug.motion.branches`. Raises GradstepError where there are threads."""
        self._require_alone()
        return self.session.edit(kind, names, name, words)

    def switch_branch(self, name: str) -> Stop:
        """Show another branch, where it was left."""
        self._require_alone()
        return self.session.switch_branch(name)

    def drop_branch(self, name: str) -> Stop:
        """Forget a branch."""
        self._require_alone()
        return self.session.drop_branch(name)

    def begin_branches(self, branches: Sequence[Branch]) -> None:
        """Before anything ran: those that a document has kept, the first of them first. A program
        with threads has none."""
        if len(self._members) == 1:
            self.session.branches.take_over(branches, branches[0].name)

    def _require_alone(self) -> None:
        if len(self._members) > 1:
            raise GradstepError(
                "a program with threads has no branches: they share variables and queues",
                kind="FailedPreconditionError",
                hint="duplicate the session: the copy goes on from here, with what you set there",
            )

    def repeat(self, history: Sequence[tuple[str, Any]]) -> None:
        """Do these commands, as far as they can be done, and nobody pauses it."""
        with contextlib.suppress(GradstepError):
            for name, target in history:
                if name == _ASSIGN:
                    self.assign(fitting(self.program.graph, target))
                elif name == _INJECT:
                    give_in_thread(self.session, target, "", possible=True)
                elif name == _BREAKPOINTS:
                    self.set_breakpoints(target)
                elif not name:
                    self.switch(target)
                elif self.command(name, target).reason is Reason.PAUSE:
                    break

    def pause(self) -> None:
        """Stop a command that another thread of Python is executing, at the next opportunity."""
        self._pausing.set()
        for member in self._all:
            member.session.pause()

    def set_breakpoints(self, breakpoints: Sequence[Breakpoint]) -> None:
        """Replace all, in every thread. Raises GradstepError for one that cannot be read."""
        for member in self._all:
            member.session.set_breakpoints(breakpoints)
        self._remember(_BREAKPOINTS, tuple(breakpoints))

    def _remember(self, command: str, target: object) -> None:
        if len(self._members) > 1:  # where positions alone do not lead back
            self._history.append((command, target))

    def _restart(self) -> None:
        self._shared.reset()
        for member in self._all:
            member.session.restart()
            member.forget()

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
                    stop = self._note(member, member.go_on())
                    if self._stops(member, stop, first):
                        self._current = member
                        return
                    member = self._served()
        if main.has_more:
            self._current = main

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

    def _note(self, member: ScheduledThread, stop: Stop) -> Stop:
        if member.note(stop) and member.thread.closes:
            self._close(member.thread.closes)
        return stop

    def _close(self, operation: str) -> None:
        """Run what a thread runs when it has ended. As in TensorFlow's QueueRunner, what goes wrong
        with that is nobody's error: the queue is closed already, or the operation unfinished."""
        program, names = self.program, self._shared.names
        session = Session(program.graph, self.session.backend, program.functions)
        for name in names:
            if (now := self.session.timeline.outside(name)) is not None:
                session.store.set(name, now)
        before = {name: session.store.get(name) for name in names}
        with contextlib.suppress(GradstepError):
            session.run([], program.feeds, [operation])
        for name in names:
            if session.store.get(name) is not before[name]:
                self._shared.set(name, session.store[name])
