"""What lies over the picture of the graph: items, a cursor, a tip, and the parents of widgets."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QGraphicsItem, QGraphicsView, QWidget

from gradstep.gui.look.plain_text import show_tip


class Overlay:
    """Wraps a view's scene and its viewport.

    window: parent of popups over the canvas; port: of widgets on it, which move with its pixels.
    """

    def __init__(self, view: QGraphicsView) -> None:
        self.window: QWidget = view
        self.port = view.viewport()
        self._items = view.scene()

    def add(self, *items: QGraphicsItem) -> None:
        for item in items:
            self._items.addItem(item)

    def remove(self, *items: QGraphicsItem) -> None:
        for item in items:
            self._items.removeItem(item)

    def set_cursor(self, shape: Qt.CursorShape) -> None:
        self.port.setCursor(shape)

    def unset_cursor(self) -> None:
        self.port.unsetCursor()

    def show_tip(self, pixel: QPoint, text: str) -> None:
        """A tool tip now, at a pixel of the viewport; "" hides it."""
        show_tip(self.to_screen(pixel), text, self.port)

    def to_screen(self, pixel: QPoint) -> QPoint:
        return self.port.mapToGlobal(pixel)

    def take_focus(self) -> None:
        """Have keys come to the canvas."""
        self.window.setFocus()
