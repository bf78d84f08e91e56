"""The sessions of the open document, as the engine last told of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QObject, Signal

from gradstep.core.graph.dtypes import DType
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    Assign,
    Failed,
    Inject,
    ManageBranches,
    ManageSessions,
    Message,
    Seen,
    SessionInfo,
    SessionList,
)
from gradstep.core.protocol.tensor_bytes import pack

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

LONG = 30.0  # seconds of runs that nobody wants to wait for again


class SessionModel(QObject):
    """found: all of them; current: the one that is shown, and that commands move; seconds: by
    name, in which the engine ran for it since the document was opened."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._forget()
        workspace.document_opened.connect(self._forget)
        workspace.debugger.ran.connect(self._add_time)

    def _forget(self) -> None:
        """Another document has one session."""
        self.found: tuple[SessionInfo, ...] = ()
        self._seen: Seen | None = None  # what was taken over already
        self.current = "main"
        self.give_up()
        self.changed.emit()

    def give_up(self) -> None:
        """From here on nobody is asked about what the runs made so far have made."""
        self.seconds: dict[str, float] = {}

    def took_long(self, name: str = "") -> bool:
        """Whether what a session holds, or all of them hold together, took the user real time."""
        seconds = self.seconds.get(name, 0.0) if name else sum(self.seconds.values())
        return seconds >= LONG

    def _add_time(self, seconds: float) -> None:
        self.seconds[self.current] = self.seconds.get(self.current, 0.0) + seconds

    @property
    def names(self) -> list[str]:
        """Of all of them; of the one that there is before the engine has told of any."""
        return [session.name for session in self.found] or [self.current]

    def refresh(self) -> None:
        """Ask where they stand and what they hold, unless that came with the stop."""
        stop = self._workspace.stop
        seen = stop.seen if stop is not None else None
        if seen is not None and seen.sessions is not None and seen is not self._seen:
            self._seen = seen
            self.found = tuple(seen.sessions)
            self.changed.emit()
        elif self._workspace.program is not None:
            self._workspace.debugger.ask(ManageSessions(command="list"), (), self._told)

    def ask(self, request: ManageSessions | ManageBranches) -> None:
        """Ask for a change; `changed` follows, or the workspace says why not."""
        if isinstance(request, ManageBranches):
            self._workspace.debugger.branch(request, (), self._moved)
        else:
            self._workspace.debugger.ask(request, (), self._moved)

    def inject(self, name: str, value: np.ndarray, at: str = "") -> None:
        """Give a tensor or variable, or a part of it, another value here, on a branch."""
        dtype = DType.of(value.dtype).value
        self.put(Inject(name=name, at=at, dtype=dtype, shape=[*value.shape]), (pack(value),))

    def put(self, request: Assign | Inject, buffers: Sequence[Buffer]) -> None:
        """Give a value as messages have it, on a branch where that is asked for."""
        if isinstance(request, Inject):
            self._workspace.debugger.branch(request, buffers, self._moved)
        else:
            self._workspace.debugger.ask(request, buffers, self._moved)

    def _moved(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, SessionList):
            self._told(reply, buffers)
            self._workspace.debugger.take(reply, buffers)
            if reply.text:
                self._workspace.say(reply.text)
        elif isinstance(reply, Failed):
            self._workspace.complain(reply.error)

    def _told(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, SessionList):
            seen = reply.stopped.seen
            told = None if seen is None else seen.sessions  # with what their variables hold
            self.found = tuple(reply.sessions if told is None else told)
            self.current = reply.current
            names = {session.name for session in self.found}
            self.seconds = {n: spent for n, spent in self.seconds.items() if n in names}
            self.changed.emit()
