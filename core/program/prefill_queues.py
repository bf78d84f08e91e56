"""The queues that a program's threads fill, for runs that are made without the threads."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress

from gradstep.core.debug.concurrency.thread_state import ENDS, Thread
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.engine.backend import Backend
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.ops.state.queue import Queue

_MOST = 1000  # runs of a thread that never has to wait


def prefill_queues(program: Program, backend: Backend, store: VariableStore) -> dict[str, Queue]:
    """Let the program's threads run on `store` until each has to wait, or has ended; the queues
    then, by name. Raises GradstepError where a thread fails."""
    filling = _Filling(program, backend, store)
    while any(filling.advance(thread) for thread in program.threads):
        pass  # what one puts in may be what another waits for
    return {name: value for name, value in store.items() if isinstance(value, Queue)}


class _Filling:
    def __init__(self, program: Program, backend: Backend, store: VariableStore) -> None:
        self._session = Session(program.graph, backend, program.functions)
        self._session.store = store
        self._feeds = program.feeds
        self._runs: Counter[str] = Counter()
        self._ended: set[str] = set()

    def advance(self, thread: Thread) -> bool:
        """Let a thread run once; whether that has changed anything."""
        if thread.name in self._ended or self._runs[thread.name] == _MOST:
            return False
        try:
            self._session.run(thread.fetches, self._feeds, thread.targets)
        except GradstepError as error:
            if error.kind in ENDS:
                self._end(thread)
                return True  # what it closes may end another
            if error.kind != "DeadlineExceededError":
                raise
            return False
        self._runs[thread.name] += 1
        return True

    def _end(self, thread: Thread) -> None:
        self._ended.add(thread.name)
        if thread.closes:
            with suppress(GradstepError):  # it may be closed already
                self._session.run([], self._feeds, [thread.closes])
