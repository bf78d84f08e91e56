"""What the Python of the open document printed, piece by piece."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from core.host.messages import Output

if TYPE_CHECKING:
    from gui.workspace import Workspace

MOST = 5_000  # pieces that are kept


class Printed(QObject):
    """pieces: the texts since the document was opened, the newest at the end."""

    added = Signal(str)

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.pieces = deque[str](maxlen=MOST)
        workspace.bridge.event.connect(self._take)
        workspace.document_opened.connect(self.pieces.clear)

    def _take(self, event: object) -> None:
        if isinstance(event, Output):
            self.pieces.append(event.text)
            self.added.emit(event.text)
