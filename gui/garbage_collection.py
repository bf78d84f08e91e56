"""Garbage collection on the main thread, between events, and of all there is while nobody looks.

Anywhere else it takes Qt's objects away under Qt's feet; and while it looks at a large document the
window is deaf.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from itertools import chain
from sys import getsizeof

from PySide6.QtCore import QEvent, QObject, QTimer

from gradstep.core.memory_release import return_free_pages
from gradstep.gui.model.background_work import is_under_way

INTERVAL = 2000  # milliseconds
FULL = 15  # every how many times all generations are collected
MANY = 20_000  # new objects; looking at more of them would be felt
LARGE = 8 << 20  # bytes of them: looking at a few tables of all operations would be felt as well
QUIET = 5.0  # seconds in which nothing was painted: nobody waits for the window
LATEST = 300.0  # seconds after which all is looked at, whoever waits


class Collector(QObject):
    """Takes over from Python's automatic collector for as long as it lives.

    What is new is looked at soon, and what stays is put aside: the objects of a document, which are
    many, hold no cycles and go by themselves. All that was put aside is looked at when nothing
    happens in the window."""

    def __init__(self, window: QObject, is_idle: Callable[[], bool] = lambda: True) -> None:
        """is_idle: whether the window waits for nothing that it would show."""
        super().__init__(window)
        self._is_idle = is_idle
        gc.disable()
        self._count = 0
        self._aside_since = 0.0  # 0 while nothing is put aside
        self._painted_at = time.monotonic()
        window.installEventFilter(self)
        self._timer = QTimer(self, interval=INTERVAL)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.UpdateRequest:
            self._painted_at = time.monotonic()
        return False

    def collect(self) -> None:
        if self._may_look_at_all():
            self._collect_all()
        elif _is_much(0):
            self._put_aside()
        else:
            self._count += 1
            if self._count % FULL:
                gc.collect(1)
            else:
                self._look_at_what_stayed()

    def _look_at_what_stayed(self) -> None:
        """Of what is looked at little by little it may have become much."""
        if not _is_much(2):
            gc.collect()
        self._put_aside()
        return_free_pages()

    def _may_look_at_all(self) -> bool:
        now, since = time.monotonic(), self._aside_since
        if not since or now - since > LATEST:
            return bool(since)
        return now - self._painted_at > QUIET and self._is_idle() and not is_under_way()

    def _put_aside(self) -> None:
        gc.freeze()
        self._aside_since = self._aside_since or time.monotonic()

    def _collect_all(self) -> None:
        gc.unfreeze()
        gc.collect()
        gc.freeze()
        self._aside_since, self._count = 0.0, 0
        return_free_pages()


def _is_much(generation: int) -> bool:
    """Whether looking at one would be felt."""
    return _count_objects(generation) > MANY or _measure_objects(generation) > LARGE


def _measure_objects(generation: int) -> int:
    """Bytes of those in one, without what they refer to; in a single call of C as well."""
    return sum(map(getsizeof, chain.from_iterable(map(gc.get_objects, (generation,)))))


def _count_objects(generation: int) -> int:
    """How many there are in one: in 0 those that nobody has looked at, of which Python's own count
    is what came, less what went of all there is: of an edit that replaces much, none. In a single
    call of C: between two another thread may go on, and a tuple that it is making has to be its
    alone, or it fails."""
    return sum(map(len, map(gc.get_objects, (generation,))))
