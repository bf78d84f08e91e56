"""Controls in one line, or, where that is too narrow, one below the other."""

from __future__ import annotations

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QWidget

from gradstep.gui.look.theme import GRID

_ACROSS, _DOWN = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.TopToBottom


class BreakingRow(QWidget):
    """narrow: pixels; of less width the line is broken between the parts of `rows`."""

    def __init__(self, narrow: int) -> None:
        super().__init__()
        self._narrow = narrow
        self.rows = QBoxLayout(_ACROSS)
        self.rows.setContentsMargins(12, GRID // 2, 12, GRID // 2)
        self.rows.setSpacing(GRID)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        way = _ACROSS if self.width() >= self._narrow else _DOWN
        if self.rows.direction() is not way:
            self.rows.setDirection(way)
            self.updateGeometry()
