"""A program's threads, what they share, and in which turns they went on.

By the turns the same line of runs can be made again, or only a part of it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import Protocol

import numpy as np

from gradstep.core.cancellation import check_cancelled
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.debug.breaks.hit_counts import Path
from gradstep.core.debug.concurrency.scheduled_thread import ScheduledThread
from gradstep.core.debug.concurrency.shared_variables import SharedVariables
from gradstep.core.debug.concurrency.thread_state import MAIN, Thread
from gradstep.core.debug.history.branch_record import Places, ThreadPlace, Turn
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.manual_assignments import (
    assign,
    fitting,
    give_in_thread,
    inner_places,
    inside_in,
)
from gradstep.core.debug.motion.branch_replay import give_before
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.program_runs import over
from gradstep.core.debug.motion.stopped_state import Stop
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.position_text import position_text

_BEGINNING: Places = ((0, 0),)


class Begin(Protocol):
    """Makes a session of a part of the program, with what is shared. before: the session before an
    edit that it takes over; origin, start: its first run, and what variables hold then."""

    def __call__(
        self,
        own: Program,
        before: DebugSession | None,
        shared: SharedVariables,
        origin: int = 0,
        start: VariableStore | None = None,
    ) -> DebugSession: ...


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
        self._begin = begin
        self.members: dict[str, ScheduledThread] = {}
        for thread, program, before in parts:
            session = begin(program, before, self.shared)
            self.members[thread.name] = ScheduledThread(thread, session, self.shared)
        self._share()
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

    @property
    def stands(self) -> tuple[ThreadPlace, ...]:
        """Where each of them stands."""
        return tuple(map(_stands, self.all))

    def _share(self) -> None:
        self.shared.between([m.session.timeline.link for m in self.all])
        for member in self.all:
            member.meet_others()

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
            ops = ops_at(member.session.plan, ahead) if ahead else ()
            self._take_down(Turn(member.name, ahead, ops, tried))

    def _went_last(self, name: str) -> bool:
        last = self.turns[-1] if self.turns else Turn("")
        return last.thread == name and last.is_move and bool(last.place) and not last.tried

    def was_given(self, values: Mapping[str, np.ndarray], words: str = "") -> None:
        """Tensors and variables were given values in the current thread."""
        self._take_down(Turn(self.current.name, given=dict(values), words=words))

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
                return [*found, Turn(name, place, ops_at(self.current.session.plan, place))]
            newest = turn.place if own and turn.place else newest
            found.append(turn)
        return found

    def repeat(
        self,
        turns: Sequence[Turn],
        later: Mapping[Turn, Program] | None = None,
        exactly: bool = True,
    ) -> None:
        """Do what another line of the same runs did, from the beginning, before there are
        breakpoints. later: what a thread runs from one of the turns on. exactly: as it was done
        there; else, by another program, each goes as far as it did there, or as it comes, and is
        given what it can be given. Raises GradstepError, and Cancelled."""
        for turn in turns:
            check_cancelled()
            if turn.thread not in self.members:
                continue  # an edit of the document has taken it away
            if turn.edit is not None:
                self._enter(turn, None if later is None else later.get(turn))
            elif turn.is_move:
                self._go(turn)
            else:
                self._give(turn, exactly)

    def _give(self, turn: Turn, exactly: bool) -> None:
        session = self.members[turn.thread].session
        with contextlib.nullcontext() if exactly else contextlib.suppress(GradstepError):
            if turn.given is not None:
                give_in_thread(session, turn.given, possible=not exactly)
            elif turn.assigned is not None:
                given = turn.assigned
                assign(self.sessions, given if exactly else fitting(session.program.graph, given))
            self._take_down(turn)

    def _go(self, turn: Turn) -> None:
        member, newest = self.members[turn.thread], self._newest[turn.thread]
        session = member.session
        if not turn.place and not turn.tried:
            self.note(member, replace(session.stop, error=None))
            return
        place, failed = place_in(session.plan, turn.place, turn.ops), False
        if _flat(place) > _flat(newest):
            failed = session.command("run_to", position_text(place)).error is not None
        elif not turn.tried:
            return
        if turn.tried and not failed:
            session.command("run_to", position_text(_next(session)))
        self.note(member, session.stop)

    def _enter(self, turn: Turn, program: Program | None) -> None:
        """Let a thread, at the end of a run, run another program from the next one on; None: it
        does already."""
        self._take_down(turn)
        if program is None:
            return
        member, run = self.members[turn.thread], turn.place[0][0]
        before = member.session
        start = over(program, self.shared.start, self.shared.now)
        session = self._begin(program, before, self.shared, run, start)
        give_before(session.runs, before.changes)
        member.run_on(session)
        self._share()
        session.timeline.link.know_all()
        self._newest[turn.thread] = ((run, 0),)

    def stand_as(
        self, other: ThreadRuns, breakpoints: Sequence[Breakpoint], edited: Set[str] = frozenset()
    ) -> None:
        """Behind the same turns, let every thread stand where it does there, if it has come so far,
        with what breakpoints have counted by then; in the threads that an edit concerns, before the
        run that it holds from."""
        self.stand_at(other.stands, other.current.name, breakpoints)
        for name, member in self.members.items():
            session, theirs = member.session, other.members[name].session
            newest: Places = self._newest[name]
            until = ((newest[0][0], 0),) if name in edited else newest
            session.hits.hold(theirs.hits.until(_flat(until)))

    def stand_at(
        self, stands: Sequence[ThreadPlace], current: str, breakpoints: Sequence[Breakpoint]
    ) -> None:
        """Let every thread stand there, if it has come so far."""
        for there in stands:
            if there.thread not in self.members:
                continue
            session = self.members[there.thread].session
            place = place_in(session.plan, there.place, there.ops)
            first, newest = session.timeline.first, self._newest[there.thread]
            if place[0][0] < first:
                place = ((first, 0),)
            if _flat(place) < _flat(newest):
                session.command("run_to", position_text(place))
        for session in self.sessions:
            session.set_readable_breakpoints(breakpoints)
        self.current = self.members.get(current, self.members[MAIN])


def _stands(member: ScheduledThread) -> ThreadPlace:
    place: Places = (*member.session.stop.place,)
    return ThreadPlace(member.name, place, ops_at(member.session.plan, place))


def ops_at(plan: Plan, place: Places) -> tuple[str, ...]:
    """What comes next at a place, from the outermost loop in; "" at an end."""
    (_, step), *inside = place
    return (plan.op_after(step), *(op for _, _, op in inner_places(plan, step, inside)))


def place_in(plan: Plan, place: Places, ops: Sequence[str]) -> Places:
    """The same place in a plan that an edit may have made another one."""
    if not place or not ops:
        return place
    (run, step), *inside = place
    at = plan.step_of.get(ops[0], min(step, len(plan.steps))) if ops[0] else len(plan.steps)
    places = [(number, s, op) for (number, s), op in zip(inside, ops[1:], strict=False)]
    return ((run, at), *(inside_in(plan, at, places) or ()))


def _next(session: DebugSession) -> Places:
    """Right behind the step that comes next."""
    *around, (number, step) = session.stop.place
    if not around and step == session.timeline.length:
        return ((number + 1, 0),)
    return (*around, (number, step + 1))


def _flat(place: Places) -> Path:
    """To be compared: what comes later is greater."""
    return tuple(number for pair in place for number in pair)
