"""A training elsewhere on this machine, called over its socket or its port: what it says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtNetwork import QLocalSocket, QNetworkProxy, QTcpSocket

from gradstep.core.capture.training_door import HOST, TrainingDoor, door_at, not_the_training
from gradstep.core.capture.training_lines import LONGEST, Greeting, TrainingLine, read_line
from gradstep.core.capture.training_sockets import remove_stale
from gradstep.core.errors import GradstepError

PACE = 100  # milliseconds, at least, from one look at what came to the next
SPARE = 4  # times as long as drawing took is left to all else,
SLOWEST = 2000  # but no longer than this, in milliseconds
AT_ONCE = 1 << 18  # bytes that are read at a look; the rest waits, and so does who sends it
# What errors are called, of sockets and of ports.
_NOBODY = ("ConnectionRefusedError", "ServerNotFoundError")
_CLOSED = ("PeerClosedError", "RemoteHostClosedError")


class TrainingCall(QObject):
    """heard(lines): what came since the last time, at most ten times a second, and less often where
    that is much to draw; the first line of all is a Greeting. ended(error): nothing more will come,
    for an error if it is not None."""

    heard = Signal(object)  # list[TrainingLine]
    ended = Signal(object)  # GradstepError | None

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.path = path
        self._rest = b""
        self._greeted = self._is_over = False
        self._wire: QLocalSocket | QTcpSocket = QLocalSocket(self)
        self._answer = b""  # that has to come first
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self._look)
        self._pace, self._began = PACE, 0.0
        self._drawn = QTimer(self, singleShot=True, interval=0)  # what was posted comes before it
        self._drawn.timeout.connect(self._measure)

    def begin(self) -> None:
        """Call it."""
        try:
            door = door_at(self.path)
        except GradstepError as error:
            self._end(error)
            return
        self._wire = wire = QLocalSocket(self) if door is None else QTcpSocket(self)
        wire.setReadBufferSize(AT_ONCE)
        wire.readyRead.connect(self._look_soon)
        wire.disconnected.connect(self._look_soon)
        wire.errorOccurred.connect(lambda error: self._note_error(error.name))
        if isinstance(wire, QLocalSocket):
            wire.connectToServer(str(self.path))
        elif door is not None:
            self._knock(wire, door)

    def _knock(self, wire: QTcpSocket, door: TrainingDoor) -> None:
        self._answer = door.answer
        wire.setProxy(QNetworkProxy(QNetworkProxy.ProxyType.NoProxy))
        wire.connected.connect(lambda: wire.write(door.knock))
        wire.connectToHost(HOST, door.port)

    def hang_up(self) -> None:
        """Hear nothing more, not even an end."""
        self._is_over = True
        self._soon.stop()
        self._drawn.stop()
        self._wire.abort()
        self.deleteLater()

    def _look_soon(self) -> None:
        """At once for the greeting, which others wait for."""
        if not self._is_over and not self._soon.isActive():
            self._soon.start(self._pace if self._greeted else 0)

    def _look(self) -> None:
        data = bytes(self._wire.read(AT_ONCE).data())
        found: list[TrainingLine] = []
        problem: GradstepError | None = None
        try:
            found.extend(self._lines(data))
        except GradstepError as error:
            problem = error
        if found and not self._is_over:
            self._began = time.monotonic()
            self._drawn.start()
            self.heard.emit(found)
        if self._is_over:  # whoever heard it hung up
            return
        if problem is not None:
            self._end(problem)
        elif self._wire.bytesAvailable():
            self._soon.start(self._pace)
        elif self._wire.state().name == "UnconnectedState":
            self._end(None)

    def _measure(self) -> None:
        """All is drawn that was heard: what that took says when to look again."""
        took = 1000 * (time.monotonic() - self._began)
        self._pace = min(max(PACE, round(SPARE * took)), SLOWEST)
        if self._soon.isActive():
            self._soon.start(self._pace)

    def _lines(self, data: bytes) -> Iterator[TrainingLine]:
        *whole, self._rest = (self._rest + data).split(b"\n")
        if self._answer and (whole or len(self._rest) >= len(self._answer)):
            if not whole or whole.pop(0) + b"\n" != self._answer:
                remove_stale(self.path)
                raise not_the_training(self.path)
            self._answer = b""
        for line in whole:
            found = read_line(line)
            if isinstance(found, Greeting) is self._greeted:
                raise GradstepError("what came is no training that can be followed: it greets "
                                    + ("twice" if self._greeted else "late"),
                                    kind="ValueError")  # fmt: skip
            self._greeted = True
            yield found
        if len(self._rest) > LONGEST:
            read_line(self._rest)

    def _note_error(self, error: str) -> None:
        if error in _NOBODY:
            remove_stale(self.path)
            said = GradstepError("nobody listens there any more", kind="ConnectionRefusedError")
            self._end(said)
        elif error not in _CLOSED:
            self._end(GradstepError(self._wire.errorString(), kind="OSError"))

    def _end(self, error: GradstepError | None) -> None:
        if not self._is_over:
            self._is_over = True
            self._soon.stop()
            self._wire.abort()
            self.ended.emit(error)
