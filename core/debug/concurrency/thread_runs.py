"""A program's threads, what they share, and in which turns they went on.

By the turns the same line of runs can be made again, or only a part of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.breaks.hit_counts import Path
from gradstep.core.debug.concurrency.scheduled_thread import ScheduledThread
from gradstep.core.debug.concurrency.shared_variables import SharedVariables
from gradstep.core.debug.concurrency.thread_state import MAIN, Thread
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import assign, give_in_thread
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Stop
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.position_text import position_text

Places = tuple[tuple[int, int], ...]  # run and step, and in loops iteration and step
Begin = Callable[[Program, DebugSession | None, SharedVariables], DebugSession]
_BEGINNING: Places = ((0, 0),)


@dataclass(frozen=True, eq=False, slots=True)
class Turn:
    """What a thread did in one go. place: to where it executed; () where it executed nothing.
    tried: and then the next step, which failed, or could not be done yet. Neither: it went back,
    and waits no more. given: or what it was given there; assigned: or what variables were, in all
    threads."""

    thread: str
    place: Places = ()
    tried: bool = False
    given: Mapping[str, np.ndarray] | None = None
    assigned: Mapping[str, np.ndarray] | None = None

    @property
    def is_move(self) -> bool:
        """Whether it was not given anything."""
        return self.given is None and self.assigned is None


class ThreadRuns:
    """members: the threads by name, the main one first; current: the one that commands move.
    parts: each with the program that it runs, and the session before an edit that it takes over.
    begin: makes a session of such a part, with what is shared."""

    def __init__(
        self,
        parts: Iterable[tuple[Thread, Program, DebugSession | None]],
        start: VariableStore,
        begin: Begin,
    ) -> None:
        self.shared = SharedVariables(start)
        self.members: dict[str, ScheduledThread] = {}
        for thread, program, before in parts:
            session = begin(program, before, self.shared)
            self.members[thread.name] = ScheduledThread(thread, session, self.shared)
        self.shared.between([m.session.timeline.link for m in self.all])
        self.current = self.members[MAIN]
        self.forget()

    @property
    def all(self) -> list[ScheduledThread]:
        return [*self.members.values()]

    @property
    def sessions(self) -> list[DebugSession]:
        """Every thread's, the main one's first."""
        return [member.session for member in self.all]

    def forget(self) -> None:
        """Before anything ran."""
        self.turns: list[Turn] = []
        self._newest: dict[str, Places] = dict.fromkeys(self.members, _BEGINNING)

    # -- taking down ---------------------------------------------------------------------------

    def note(self, member: ScheduledThread, stop: Stop) -> Stop:
        """A thread has moved, and where that led; what has ended closes what it is to close."""
        waited = member.waits is not None
        ended = member.note(stop)
        self._went(member, stop, waited)
        if ended and member.thread.closes:
            self._close(member.thread.closes)
        return stop

    def _went(self, member: ScheduledThread, stop: Stop, waited: bool) -> None:
        place: Places = (*stop.place,)
        ahead = place if _flat(place) > _flat(self._newest[member.name]) else ()
        self._newest[member.name] = ahead or self._newest[member.name]
        tried = stop.error is not None
        if ahead and self._went_last(member.name):
            self.turns.pop()  # it goes on from there, and nobody else has meanwhile
        if ahead or tried or waited:
            self._take_down(Turn(member.name, ahead, tried))

    def _went_last(self, name: str) -> bool:
        last = self.turns[-1] if self.turns else Turn("")
        return last.thread == name and bool(last.place) and not last.tried

    def was_given(self, values: Mapping[str, np.ndarray]) -> None:
        """Tensors and variables were given values in the current thread."""
        self._take_down(Turn(self.current.name, given=dict(values)))

    def was_assigned(self, values: Mapping[str, np.ndarray]) -> None:
        """Variables were, wherever the threads stand."""
        self._take_down(Turn(self.current.name, assigned=dict(values)))

    def _take_down(self, turn: Turn) -> None:
        if len(self.members) > 1:  # what one does alone, nobody makes again by its turns
            self.turns.append(turn)

    def _close(self, operation: str) -> None:
        """Run what a thread runs when it has ended. As in TensorFlow's QueueRunner, what goes wrong
        with that is nobody's error: the queue is closed already, or the operation unfinished."""
        main, names = self.members[MAIN].session, self.shared.names
        program = main.program
        session = Session(program.graph, main.backend, program.functions)
        for name in names:
            if (now := self.current.session.timeline.outside(name)) is not None:
                session.store.set(name, now)
        before = {name: session.store.get(name) for name in names}
        with contextlib.suppress(GradstepError):
            session.run([], program.feeds, [operation])
        for name in names:
            if session.store.get(name) is not before[name]:
                self.shared.set(name, session.store[name])

    # -- making it again -----------------------------------------------------------------------

    def turns_before(self, place: Places) -> Sequence[Turn]:
        """What led to a place of the current thread, and nothing that came of going on from it, or
        of trying to. The others are as far as they were when it did."""
        name, newest = self.current.name, _BEGINNING
        if place == self._newest[name]:
            return [*self.turns]
        found: list[Turn] = []
        for turn in self.turns:
            own = turn.thread == name and turn.is_move
            there = _flat(newest) == _flat(place)
            if own and there and (turn.place or turn.tried):
                return found
            beyond = _flat(turn.place) > _flat(place) or (turn.place == place and turn.tried)
            if own and beyond:
                return [*found, Turn(name, place)]
            newest = turn.place if own and turn.place else newest
            found.append(turn)
        return found

    def repeat(self, turns: Sequence[Turn]) -> None:
        """Do what another line of the same runs did, from the beginning, before there are
        breakpoints. Raises GradstepError, and Cancelled."""
        for turn in turns:
            check_cancelled()
            self._do(turn)

    def _do(self, turn: Turn) -> None:
        member = self.members[turn.thread]
        session = member.session
        if turn.given is not None:
            give_in_thread(session, turn.given)
            self._take_down(turn)
            return
        if turn.assigned is not None:
            assign(self.sessions, turn.assigned)
            self._take_down(turn)
            return
        if not turn.place and not turn.tried:
            self.note(member, replace(session.stop, error=None))
            return
        stop = session.stop
        if turn.place:
            stop = session.command("run_to", position_text(turn.place))
        if turn.tried:
            stop = session.command("run_to", position_text(_next(session)))
        self.note(member, stop)

    def stand_as(self, other: ThreadRuns, breakpoints: Sequence[Breakpoint]) -> None:
        """Behind the same turns, let every thread stand where it does there, if it has come so far,
        with what breakpoints have counted by then."""
        for name, member in self.members.items():
            session, theirs = member.session, other.members[name].session
            place: Places = (*theirs.stop.place,)
            if _flat(place) < _flat(self._newest[name]):
                session.command("run_to", position_text(place))
            session.set_breakpoints(breakpoints)
            session.hits.hold(theirs.hits.until(_flat(self._newest[name])))
        self.current = self.members[other.current.name]


def _next(session: DebugSession) -> Places:
    """Right behind the step that comes next."""
    *around, (number, step) = session.stop.place
    if not around and step == session.timeline.length:
        return ((number + 1, 0),)
    return (*around, (number, step + 1))


def _flat(place: Places) -> Path:
    """To be compared: what comes later is greater."""
    return tuple(number for pair in place for number in pair)
