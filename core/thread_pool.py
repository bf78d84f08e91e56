"""A few threads that share large calls of NumPy's, which let other threads run meanwhile.

GRADSTEP_THREADS says how many there are, the one that asks included: by default as many as this
process may use processors; 1 is none besides. They are made when there is work for them, and not
at all in a process that forks before.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextvars import copy_context
from functools import cache, partial
from queue import SimpleQueue

from gradstep.core.errors import GradstepError

VARIABLE = "GRADSTEP_THREADS"
Task = Callable[[], object]


def thread_count() -> int:
    """How many threads share a large call. Raises GradstepError for what is no number of them."""
    wanted = os.environ.get(VARIABLE, "")
    if not wanted:
        return _processors()
    if not wanted.isdecimal() or int(wanted) < 1:
        raise GradstepError(
            f"{VARIABLE} is '{wanted}', which is no number of threads",
            kind="ValueError",
            hint="set it to 1 or more, or leave it out for one thread for each processor",
        )
    return int(wanted)


def _processors() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_tasks(tasks: Sequence[Task]) -> None:
    """Do all of them, which must not depend on each other, and return when all are done. Raises
    what the first of them raised that failed, in their order. What the caller's context says holds
    in every thread: what NumPy says of NaN, where text goes, what cancels."""
    if len(tasks) == 1:
        tasks[0]()
        return
    helpers = min(thread_count(), len(tasks)) - 1
    shared = _Shared(tasks)
    if helpers > 0:
        _pool().help(shared, helpers)
    shared.finish()


class _Shared:
    """Tasks that several threads take from, one after the other."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        self._left = deque(enumerate(tasks))
        self._count = len(tasks)
        self._done: SimpleQueue[None] = SimpleQueue()  # something for each that a helper has done
        self._failures: dict[int, BaseException] = {}

    def finish(self) -> None:
        """Do what no helper does, and wait for what they are at: for none that is yet to come."""
        own = sum(1 for _ in self._work())
        for _ in range(self._count - own):
            self._done.get()
        if self._failures:
            raise self._failures[min(self._failures)]

    def help(self) -> None:
        for _ in self._work():
            self._done.put(None)

    def _work(self) -> Iterator[None]:
        while self._left:
            try:
                number, task = self._left.popleft()
            except IndexError:  # another thread was quicker
                return
            try:
                task()
            except BaseException as error:  # raised where the caller waits
                self._failures[number] = error
            yield


class _Pool:
    """Threads that wait for work."""

    def __init__(self) -> None:
        self._work: SimpleQueue[Task] = SimpleQueue()
        self._threads: list[threading.Thread] = []
        self._lock = threading.Lock()

    def help(self, shared: _Shared, helpers: int) -> None:
        with self._lock:
            while len(self._threads) < helpers:
                name = f"gradstep-{len(self._threads) + 1}"
                thread = threading.Thread(target=self._serve, name=name, daemon=True)
                thread.start()
                self._threads.append(thread)
        for _ in range(helpers):
            self._work.put(partial(copy_context().run, shared.help))

    def _serve(self) -> None:
        while True:
            self._work.get()()


@cache
def _pool() -> _Pool:
    return _Pool()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # its threads are the parent's
