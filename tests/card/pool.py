"""Child processes that try one task after another; one that dies or hangs costs only its task.

An error of a card is for good: whatever its process does afterwards fails, too. So a child that
has seen one ends, and another takes its place.
"""

from __future__ import annotations

import queue
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.card.child import Child

Start = Callable[[str], Child]  # a process for tasks of this library
Done = Callable[[str, Any], None]  # is given a task and its result


def _as_it_is(task: str) -> Any:
    return task


@dataclass
class Pool:
    """workers: processes at a time. seconds: what a task may take. until: when (by time.monotonic)
    no task is begun any more, and what runs is ended. question: how a process is asked a task."""

    start: Start
    workers: int
    seconds: float
    until: float
    question: Callable[[str], Any] = _as_it_is
    _tasks: queue.Queue[str] = field(default_factory=queue.Queue)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, tasks: Sequence[str], done: Done) -> None:
        """Try all, in any order; `done` is called by one thread at a time."""
        for task in tasks:
            self._tasks.put(task)
        threads = [threading.Thread(target=self._work, args=(done,)) for _ in range(self.workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _work(self, done: Done) -> None:
        child: Child | None = None
        loaded = ""
        while time.monotonic() < self.until:
            try:
                task = self._tasks.get_nowait()
            except queue.Empty:
                break
            library = library_of(task)
            if child is None or loaded != library or not child.lives:
                if child is not None:
                    child.end()
                child, loaded = self.start(library), library
            seconds = min(self.seconds, self.until + 5 - time.monotonic())
            result = child.ask(self.question(task), seconds)
            if "lost" in result or "died" in result:
                child.end()
                child = None
            with self._lock:
                done(task, result)
        if child is not None:
            child.end()


def library_of(task: str) -> str:
    """What a process has to have loaded for the task; never two of them."""
    return task.split("|")[1]


def worker(device: str, log: Path, library: str) -> Child:
    """One process, `python -m tests.card.worker`. device: of tests.card.device.KINDS."""
    return Child([sys.executable, "-m", "tests.card.worker", device, library], log)
