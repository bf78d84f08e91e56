"""Using the real window without a hand: waiting, keys, clicks, pictures."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QBuffer, QPoint, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.atomic_write import replace_file
from gradstep.core.io.disk.memory_budget import DEFAULT
from gradstep.gui.frame.main_window import MainWindow

PATIENCE = 60.0  # seconds; for a machine that is busy with other things
SETTLED = 0.05  # seconds in which nothing may start any more,
ROUNDS = 3  # and of the event loop: on a busy machine one may take longer than that


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
        for widget in QApplication.topLevelWidgets():
            if widget is not self.window and widget.isVisible():
                widget.close()
        self.settle()

    def settle(self) -> None:
        """Wait until the engine has answered everything and all is painted."""
        end = time.monotonic() + PATIENCE
        quiet, rounds = time.monotonic(), 0  # since when, and for how many rounds, it was idle
        while rounds < ROUNDS or time.monotonic() - quiet < SETTLED:
            QApplication.processEvents()
            rounds += 1
            if not self.workspace.is_idle:
                quiet, rounds = time.monotonic(), 0
            if quiet > end:
                raise GradstepError("the engine does not answer", kind="DeadlineExceededError")
            time.sleep(0.005)

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
        path.parent.mkdir(parents=True, exist_ok=True)
        buffer = QBuffer()
        self.window.grab().save(buffer, "PNG")
        replace_file(path, bytes(buffer.data().data()))
