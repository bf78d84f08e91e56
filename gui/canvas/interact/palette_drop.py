"""Dropping an op type from the palette: the node appears where the pointer lets go."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QPoint
from PySide6.QtGui import QDropEvent

from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.panels.palette_panel import MIME_TYPE

_DRAGGED = (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop)


class OpDrop(QObject):
    """Takes drags of `MIME_TYPE`. All others go on to the window, which opens files; a graphics
    view by itself would take them and do nothing."""

    def __init__(self, overlay: Overlay, drop: Callable[[str, QPoint], None]) -> None:
        """drop: adds a node of a type, at a pixel of the viewport."""
        super().__init__(overlay.window)
        self._overlay = overlay
        self._drop = drop
        overlay.port.setAcceptDrops(True)
        overlay.port.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() not in _DRAGGED or not isinstance(event, QDropEvent):
            return False
        if not event.mimeData().hasFormat(MIME_TYPE):
            event.ignore()
            return True
        event.acceptProposedAction()
        if event.type() is QEvent.Type.Drop:
            type = bytes(event.mimeData().data(MIME_TYPE).data()).decode()
            self._drop(type, event.position().toPoint())
            self._overlay.take_focus()
        return True
