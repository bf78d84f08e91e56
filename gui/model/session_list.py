"""The sessions of the open document, as the engine last told of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    Failed,
    ManageSessions,
    Message,
    SessionInfo,
    SessionList,
)

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace


class SessionModel(QObject):
    """found: all of them; current: the one that is shown, and that commands move."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._forget()
        workspace.document_opened.connect(self._forget)

    def _forget(self) -> None:
        """Another document has one session."""
        self.found: tuple[SessionInfo, ...] = ()
        self.current = "main"
        self.changed.emit()

    def refresh(self) -> None:
        """Ask where they stand and what they hold."""
        if self._workspace.program is not None:
            self._workspace.request(ManageSessions(command="list"), (), self._told)

    def ask(self, request: ManageSessions) -> None:
        """Ask for a change; `changed` follows, or the workspace says why not."""
        self._workspace.request(request, (), self._moved)

    def _moved(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, SessionList):
            self._told(reply, buffers)
            self._workspace.debugger.take(reply)
            if reply.text:
                self._workspace.say(reply.text)
        elif isinstance(reply, Failed):
            self._workspace.complain(reply.error)

    def _told(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, SessionList):
            self.found, self.current = tuple(reply.sessions), reply.current
            self.changed.emit()
