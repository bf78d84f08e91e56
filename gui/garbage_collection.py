"""Garbage collection on the main thread, between events.

Anywhere else it takes Qt's objects away under Qt's feet.
"""

from __future__ import annotations

import gc

from PySide6.QtCore import QObject, QTimer

from gradstep.core.memory_release import return_free_pages

INTERVAL = 2000  # milliseconds
FULL = 15  # every how many times all generations are collected


class Collector(QObject):
    """Takes over from Python's automatic collector for as long as it lives."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        gc.disable()
        self._count = 0
        self._timer = QTimer(self, interval=INTERVAL)
        self._timer.timeout.connect(self.collect)
        self._timer.start()

    def collect(self) -> None:
        self._count += 1
        is_full = self._count % FULL == 0
        gc.collect(2 if is_full else 1)
        if is_full:
            return_free_pages()
