"""What users do with threads and their branches, and what each thread does of it, in turns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from gradstep.core.debug.concurrency.scheduled_thread import ScheduledThread
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.thread_state import MAIN
from gradstep.core.debug.history.frozen_program import NamedEdit
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Stop
from gradstep.core.errors import GradstepError
from tests.support.queueing import FEEDERS

NAMES = (MAIN, *FEEDERS)
Place = tuple[int, int]


@dataclass(frozen=True)
class Did:
    """One thing that one thread did: it went to a place, before `op`, and perhaps tried a step more
    in vain; or was given something; or variables were assigned; or it has one more edit (by its
    number) from there on. back: or it went back to there, and waits no more."""

    thread: str
    to: Place | None = None
    op: str = ""
    tried: bool = False
    given: tuple[str, Any] | None = None
    assigned: Any = None
    edit: int | None = None
    back: bool = False

    @property
    def is_way(self) -> bool:
        return self.given is None and self.assigned is None and self.edit is None and not self.back


@dataclass
class Line:
    """What the test knows of a branch. edits: each with the runs of threads that it holds from."""

    parent: str = ""
    done: list[Did] = field(default_factory=list)
    edits: list[tuple[NamedEdit, dict[str, int]]] = field(default_factory=list)


def end(session: DebugSession) -> Place:
    run = session.timeline.runs - 1
    return run, session.timeline.done(run)


def before(done: list[Did], name: str, target: Place, last: Place, op: str = "") -> list[Did]:
    """What was done until a thread went on from a place, or tried to; all, where that is its last
    one. op: what comes next there."""
    if target == last:
        return [*done]
    found, newest = list[Did](), (0, 0)
    for each in done:
        if each.thread == name and each.is_way:
            to = each.to or target
            if newest == target and (to > target or each.tried):
                return found
            if each.to is not None and (to > target or (to == target and each.tried)):
                return [*found, Did(name, target, op)]
            newest = max(newest, each.to or newest)
        found.append(each)
    return found


class ThreadWalk(RuleBasedStateMachine):
    """Commands of users; what came of each is taken down thread by thread."""

    def _set_out(self, threads: Scheduler) -> None:
        self.threads = threads
        self.lines = {"main": Line()}
        self.first, self.current, self.is_new = "main", "main", False
        self._spy()

    def _spy(self) -> None:
        """See what `continue` lets each thread do."""
        self.went: list[tuple[str, Stop]] = []
        went, go_on = self.went, ScheduledThread.go_on
        for runs in self.threads._branches.every:
            for member in runs.all:

                def spied(member: ScheduledThread = member) -> Stop:
                    stop = go_on(member)
                    went.append((member.name, stop))
                    return stop

                member.go_on = spied  # type: ignore[method-assign]

    @property
    def line(self) -> Line:
        return self.lines[self.current]

    def _take_down(self, name: str, stop: Stop, newest: Place, waited: bool) -> None:
        here, plan = (stop.run, stop.step), self.threads._members[name].session.plan
        ahead = here if here > newest else None
        if ahead or stop.error is not None:
            self.line.done.append(Did(name, ahead, plan.op_after(here[1]), stop.error is not None))
        elif waited:
            self.line.done.append(Did(name, here, back=True))

    @rule(name=st.sampled_from(NAMES))
    def switch(self, name: str) -> None:
        self.threads.switch(name)

    @rule(times=st.integers(1, 6))
    def step(self, times: int) -> None:
        for _ in range(times):
            self._move("step_into")

    @rule(times=st.integers(1, 4))
    def back(self, times: int) -> None:
        for _ in range(times):
            if "step_back" in self.threads.stop.legal:
                self._move("step_back")

    def _move(self, command: str, target: str = "") -> None:
        member = self.threads._current
        newest, waited = end(member.session), member.waits is not None
        self.threads.command(command, target)
        self._take_down(member.name, member.session.stop, newest, waited)
        self.is_new = False

    @rule()
    def continue_(self) -> None:
        ends = {m.name: end(m.session) for m in self.threads._all}
        waits = {m.name: m.waits is not None for m in self.threads._all}
        self.went.clear()
        self.threads.command("continue_")
        for name, stop in self.went:
            self._take_down(name, stop, ends[name], waits[name])
            ends[name] = max(ends[name], (stop.run, stop.step))
            waits[name] = stop.error is not None
        self.is_new = False

    def _go_into_the_past(self, data: st.DataObject) -> None:
        session = self.threads.session
        last, done = end(session)
        run = data.draw(st.integers(session.timeline.first, last))
        step = data.draw(st.integers(0, done if run == last else session.timeline.length))
        self._move("run_to", f"{run}:{step}")

    @rule(data=st.data())
    def drop(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.lines)))
        if name == self.first:
            with pytest.raises(GradstepError, match="all others leave"):
                self.threads.drop_branch(name)
            return
        self.threads.drop_branch(name)
        parent = self.lines.pop(name).parent
        for line in self.lines.values():
            line.parent = parent if line.parent == name else line.parent
        if self.current == name:
            self.current, self.is_new = parent, False
        self._spy()
