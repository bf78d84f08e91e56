"""What the Python of the open document printed, piece by piece."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gradstep.core.protocol.messages import Output

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

MOST = 1 << 20  # characters that are kept
LONGEST = 4096  # characters of a line that are shown: a longer one takes long to lay out
_LONG = re.compile(rf"([^\n]{{{LONGEST}}})[^\n]+")


class Printed(QObject):
    """pieces: the texts since the document was opened, the newest at the end."""

    added = Signal(str)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.pieces = deque[str]()
        self._size = 0
        self._open = 0  # characters in the line whose end has not come
        workspace.bridge.event_received.connect(self._take)
        workspace.document_opened.connect(self._clear)

    def _take(self, event: object) -> None:
        if isinstance(event, Output):
            text = self._cut(event.text[-MOST:])
            self.pieces.append(text)
            self._size += len(text)
            while self._size > MOST:
                self._size -= len(self.pieces.popleft())
            self.added.emit(text)

    def _cut(self, text: str) -> str:
        """Without what makes lines too long, the one that the last text began included."""
        begun, end = text.partition("\n")[0], text.rpartition("\n")
        room = max(LONGEST - self._open, 0)
        if len(begun) > room:
            text = begun[:room] + ("…" if room or not self._open else "") + text[len(begun) :]
        self._open = len(end[2]) if end[1] else self._open + len(begun)
        return _LONG.sub(r"\1…", text)

    def _clear(self) -> None:
        self.pieces.clear()
        self._size = self._open = 0
