"""One thread among others: its session, what it waits for, and whether it has ended."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property

from gradstep.core.debug.concurrency.shared_variables import SharedVariables
from gradstep.core.debug.concurrency.thread_state import ENDS, MAIN, Thread
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Reason, Stop
from gradstep.core.engine.run.blocked_on_queue import who_helps
from gradstep.core.errors import GradstepError
from gradstep.core.ops.state.queue import WouldBlockError


class ScheduledThread:
    """waits: what its next step waits for; since: who waits longer has a lower number; ended: what
    ended it."""

    def __init__(self, thread: Thread, session: DebugSession, shared: SharedVariables) -> None:
        self.thread = thread
        self.session = session
        self._shared = shared
        self.forget()

    def forget(self) -> None:
        """Before anything ran."""
        self.waits: WouldBlockError | None = None
        self.queue = ""  # where it waits
        self.since = 0
        self._changes = 0  # of that queue, when it came to wait
        self.ended: GradstepError | None = None

    def run_on(self, session: DebugSession) -> None:
        """Be where that session stands, which runs another program."""
        self.session = session

    def meet_others(self) -> None:
        """What threads have in common is something else now."""
        self.__dict__.pop("_meetings", None)

    @property
    def name(self) -> str:
        return self.thread.name

    @property
    def is_main(self) -> bool:
        return self.name == MAIN

    @property
    def blocked(self) -> bool:
        """Whether it waits, and nothing has changed where it does."""
        return self.waits is not None and self._shared.changes[self.queue] == self._changes

    @property
    def failed(self) -> bool:
        return self.session.stop.reason is Reason.EXCEPTION

    @property
    def has_more(self) -> bool:
        """Whether it has anything to do, at least wait."""
        return self.ended is None and bool(self.session.plan.steps)

    def note(self, stop: Stop) -> bool:
        """Take notice of where a move led; whether that has ended the thread."""
        error, waited, self.waits = stop.error, self.waits, None
        if isinstance(error, WouldBlockError):
            if waited is None:
                self.since = self._shared.take_number()
            self.waits, self.queue = error, error.left.storage
            self._changes = self._shared.changes[self.queue]
        elif error is not None and not self.is_main and error.kind in ENDS:
            before, self.ended = self.ended, error
            return before is None
        return False

    def go_on(self) -> Stop:
        """To behind the next step that has to do with what is shared, or to the end of the run;
        from there into the next run first."""
        here = self.session.stop.step
        after = bisect_right(self._meetings, 0 if here == self._length else here)
        return self.session.go_on([*self._meetings, self._length][after])

    def helps(self, other: ScheduledThread) -> bool:
        """Whether it can end what `other` waits for."""
        if other.waits is None or other is self or self.ended is not None:
            return False
        names = who_helps(self.session.plan.graph, other.queue, other.waits.waits_for)
        return any(name in self.session.plan.step_of for name in names)

    @property
    def wish(self) -> str:
        """What it waits for, in words: "to enqueue: queue 'q' is full (3 of 3)"."""
        assert self.waits is not None
        act = "enqueue" if self.waits.waits_for == "take" else "dequeue"
        return f"{self.name} waits to {act}: {self.waits.lack}"

    @property
    def _length(self) -> int:
        return self.session.timeline.length

    @cached_property
    def _meetings(self) -> list[int]:
        """Behind which steps: ascending."""
        plan, met = self.session.plan, self._shared.met
        touched = ((plan.values[v].variable for v in (*s.reads, *s.writes)) for s in plan.steps)
        return [number for number, names in enumerate(touched, 1) if not met.isdisjoint(names)]
