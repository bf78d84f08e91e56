"""Dropping an op type from the palette: the node appears where the pointer lets go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QDropEvent

from gradstep.gui import commands
from gradstep.gui.panels.palette_panel import MIME_TYPE

if TYPE_CHECKING:
    from gradstep.gui.canvas.view import GraphView

_DRAGGED = (QEvent.Type.DragEnter, QEvent.Type.DragMove, QEvent.Type.Drop)


class OpDrop(QObject):
    """Takes drags of `MIME_TYPE`. All others go on to the window, which opens files; a graphics
    view by itself would take them and do nothing."""

    def __init__(self, view: GraphView) -> None:
        super().__init__(view)
        self._view = view
        view.viewport().setAcceptDrops(True)
        view.viewport().installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() not in _DRAGGED or not isinstance(event, QDropEvent):
            return False
        if not event.mimeData().hasFormat(MIME_TYPE):
            event.ignore()
            return True
        event.acceptProposedAction()
        if event.type() is QEvent.Type.Drop:
            self._add(event)
        return True

    def _add(self, event: QDropEvent) -> None:
        type = bytes(event.mimeData().data(MIME_TYPE).data()).decode()
        at = self._view.mapToScene(event.position().toPoint())
        commands.place(self._view.workspace, type, self._view.snapped(at))
        self._view.setFocus()
