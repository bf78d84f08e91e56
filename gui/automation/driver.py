"""Using the real window without a hand: waiting, keys, clicks, pictures."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QEvent, QObject, QPoint, Qt, QTimer
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.disk.memory_budget import DEFAULT
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.model.background_work import is_under_way

PATIENCE = 60.0  # seconds; for a machine that is busy with other things
SETTLED = 0.05  # seconds within which what is about to happen is waited for
PAUSE = 0.002  # seconds between two looks at what is under way
# Of the event loop, in which nothing may come: one paints what the one before has changed.
ROUNDS = 5


class Driver:
    """One window and what is done to it. Raises GradstepError when it does not answer."""

    def __init__(self, window: MainWindow) -> None:
        self.window = window
        self.workspace = window.workspace
        window.show()
        self.activate()

    def activate(self) -> None:
        """Make the window the one that keys go to."""
        self.window.activateWindow()
        self.wait(self.window.isActiveWindow, "the window to become active")

    def open(self, path: Path, memory: int = DEFAULT) -> None:
        """Open a file, and wait until it is shown and the engine has taken it. memory: bytes that
        reading it may take."""
        opened: list[bool] = []
        self.workspace.document_opened.connect(lambda: opened.append(True))
        self.window.files.open(path, limit=memory)
        self.wait(lambda: bool(opened), f"{path.name} to open")
        self.settle()

    def key(self, keys: str) -> None:
        """Press keys as a user does, on what has the focus, and wait until all is shown."""
        QApplication.processEvents()
        if QApplication.activeWindow() is None:  # a dialog closed, and nobody took over
            self.activate()
        target = QApplication.focusWidget() or self.window
        QTest.keySequence(target, QKeySequence(keys))
        self.settle()

    def click(self, name: str) -> None:
        """Click the widget of that object name."""
        widget = self.window.findChild(QWidget, name)
        if widget is None:
            raise GradstepError(f"the window has no '{name}'", kind="LookupError")
        middle = QPoint(widget.width() // 2, widget.height() // 2)
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=middle)
        self.settle()

    def close_popups(self) -> None:
        """Close every dialog and popup that is open, without an answer."""
        tops = QApplication.topLevelWidgets()
        opened = [top for top in tops if top is not self.window and top.isVisible()]
        for popup in opened:
            popup.close()
        if opened:
            self.settle()

    def settle(self) -> None:
        """Wait until the engine has answered everything, what is under way beside the main thread
        or for a timer is done, and all is painted. Work that goes on for longer is not waited for,
        once nothing else was for a while."""
        end = time.monotonic() + PATIENCE
        quiet, rounds = time.monotonic(), 0  # since when, and for how many rounds, it was idle
        while rounds < ROUNDS:
            QApplication.processEvents()
            if not self.workspace.is_idle:
                quiet, rounds, pause = time.monotonic(), 0, PAUSE
            elif time.monotonic() - quiet < SETTLED and (pause := self._time_to_next(rounds)):
                rounds = 0
            else:
                rounds += 1
                continue
            if quiet > end:
                raise GradstepError("the engine does not answer", kind="DeadlineExceededError")
            time.sleep(pause)

    def _time_to_next(self, rounds: int) -> float:
        """Seconds until a timer runs out that does so soon; some where a result is under way, or a
        window system may tell of something, which does so when it likes; 0 else. Timers are looked
        for once, in the middle of all idle rounds: that takes longer than the rounds."""
        if QApplication.platformName() != "offscreen" or is_under_way():
            return PAUSE
        if rounds != ROUNDS // 2:
            return 0.0
        tops = (top for top in QApplication.topLevelWidgets() if top.parent() is None)
        roots: list[QObject] = [*tops, self.workspace]  # a menu is below the window that has it
        timers = (timer.remainingTime() for root in roots for timer in root.findChildren(QTimer))
        soon = [left / 1000 for left in timers if 0 <= left <= 1000 * SETTLED]
        return max(PAUSE, min(soon)) if soon else 0.0

    def wait(self, condition: Callable[[], bool], what: str) -> None:
        """Let the window live until `condition` holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise GradstepError(f"waited in vain for {what}", kind="DeadlineExceededError")
            QApplication.processEvents()
            time.sleep(0.005)

    def picture(self, path: Path) -> None:
        """Write what the window shows now. Raises GradstepError (FileError) when it cannot."""
        # What is not needed any more goes in an event loop only, and nobody runs one here.
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        path.parent.mkdir(parents=True, exist_ok=True)
        buffer = QBuffer()
        self.window.grab().save(buffer, "PNG")
        replace_file(path, bytes(buffer.data().data()))
