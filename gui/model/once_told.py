"""Showing once what several signals say: once all is told, and before the window is painted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, Signal

if TYPE_CHECKING:
    from gradstep.gui.model.debugger import Debugger


class OnceTold(QObject):
    """Calls `show` for what is heard; once after all that one reply of the engine says. It goes
    with its parent, and so do its connections."""

    def __init__(self, debugger: Debugger, show: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._debugger, self._show = debugger, show
        self.is_waiting = False
        debugger.told.connect(self.hear_out)

    def hear(self, *_: object) -> None:
        if self._debugger.is_telling:
            self.is_waiting = True
        else:
            self._show()

    def hear_out(self) -> None:
        """All that came at once was said."""
        if self.is_waiting:
            self.is_waiting = False
            self.hear()


class BeforePaint(QObject):
    """Makes a call once, soon, however often it is started until then. What a timer of no time
    calls comes after the window is painted, which is painted once more for what that changes."""

    _started = Signal()

    def __init__(self, call: Callable[[], object], parent: QObject) -> None:
        super().__init__(parent)
        self._call = call
        self.is_waiting = False
        self._started.connect(self._make, Qt.ConnectionType.QueuedConnection)

    def start(self, *_: object) -> None:
        if not self.is_waiting:
            self.is_waiting = True
            self._started.emit()

    def stop(self) -> None:
        self.is_waiting = False

    def _make(self) -> None:
        if self.is_waiting:
            self.is_waiting = False
            self._call()
