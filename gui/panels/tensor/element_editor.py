"""A field over a cell of the table, in which an element is given another value."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from gradstep.gui.look.theme import mono


class ElementEditor(QLineEdit):
    """entered(text): Enter was pressed. It goes away by Escape, and when it is left."""

    entered = Signal(str)

    def __init__(self, parent: QWidget, left: Callable[[], None]) -> None:
        super().__init__(parent)
        self.setObjectName("tensor.element")
        self.setAccessibleName(self.tr("Value of the element from here on"))
        self.setFont(mono(12))
        self.setAlignment(Qt.AlignmentFlag.AlignRight)
        self._left = left
        self.hide()

    def begin(self, place: QRect, text: str) -> None:
        """Over a cell, with what it holds."""
        self.setGeometry(place.adjusted(0, 0, -1, -1))
        self.setText(text)
        self.selectAll()
        self.show()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._end()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            text = self.text()
            self._end()
            self.entered.emit(text)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.hide()

    def _end(self) -> None:
        self.hide()
        self._left()
