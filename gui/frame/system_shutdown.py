"""The system asks the program to end: unsaved work is kept for the next start, without a word."""

from __future__ import annotations

import contextlib
import signal
import socket
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier
from PySide6.QtGui import QSessionManager
from PySide6.QtWidgets import QApplication

from gradstep.gui.frame import open_windows

SIGNALS = ("SIGTERM", "SIGHUP", "SIGINT")
STATUS = 128  # and the signal's number: the exit status, as shells have it


class Ending(QObject):
    """Signals, the end of the desktop's session, and Qt's own end. A signal arrives between any two
    instructions, also while Qt runs and Python does not: the interpreter writes its number to a
    socket, and Qt's event loop, a dialog's too, reads it from there."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app
        self._number = 0
        self.is_asked = False  # whether a signal came
        self._read, self._write = socket.socketpair()
        for end in (self._read, self._write):
            end.setblocking(False)
        self._wakeup = signal.set_wakeup_fd(self._write.fileno(), warn_on_full_buffer=False)
        self._notifier = QSocketNotifier(self._read.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._answer)
        self._handlers = {}
        for name in SIGNALS:
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is not signal.SIG_IGN:  # nohup
                self._handlers[number] = signal.signal(number, self._note)
        self._requests = (app.commitDataRequest, app.saveStateRequest, app.aboutToQuit)
        for request in self._requests:
            request.connect(self._keep)

    def remove(self) -> None:
        """As it was before."""
        for request in self._requests:
            request.disconnect(self._keep)
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._wakeup)
        self._notifier.setEnabled(False)
        self._read.close()
        self._write.close()

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._number = number

    def _answer(self) -> None:
        with contextlib.suppress(OSError):
            self._read.recv(64)
        if self._number:
            number, self._number = self._number, 0
            self.is_asked = True
            try:
                open_windows.keep_all()
            finally:
                self._leave(STATUS + number)

    def _leave(self, status: int) -> None:
        """Out of every event loop, a dialog's too; nobody is asked as by QApplication.quit. What
        happens until then is kept by windows.end_all, once the last loop is left."""
        self._app.exit(status)

    def _keep(self, _: QSessionManager | None = None) -> None:
        open_windows.keep_all()
