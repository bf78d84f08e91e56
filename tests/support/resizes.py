"""How often widgets are given another size."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget


class Resizes(QObject):
    """Counts those of what can be seen; what was hidden is told of its size when it shows."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def follow(self, parts: Iterable[QWidget]) -> None:
        for part in parts:
            if part.isVisible():
                part.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() is QEvent.Type.Resize
        return False
