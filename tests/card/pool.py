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

Done = Callable[[str, Any], None]  # is given a task and its result


@dataclass
class Pool:
    """device: of tests.card.device.KINDS. workers: processes at a time. seconds: what a task may
    take. until: when (by time.monotonic) no task is begun any more, and what runs is ended."""

    device: str
    workers: int
    seconds: float
    until: float
    log: Path
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
        child: _Child | None = None
        while time.monotonic() < self.until:
            try:
                task = self._tasks.get_nowait()
            except queue.Empty:
                break
            if child is None or not child.takes(task):
                if child is not None:
                    child.end()
                child = _Child(self.device, library_of(task), self.log)
            result = child.ask(task, min(self.seconds, self.until + 5 - time.monotonic()))
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


class _Child(Child):
    """One process, `python -m tests.card.worker`, for tasks of one library."""

    def __init__(self, device: str, library: str, log: Path) -> None:
        self.library = library
        super().__init__([sys.executable, "-m", "tests.card.worker", device, library], log)

    def takes(self, task: str) -> bool:
        return library_of(task) == self.library and self.lives
