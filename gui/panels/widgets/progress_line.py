"""How much of something is done, as a line two pixels high."""

from __future__ import annotations

from PySide6.QtCore import QRectF
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gradstep.gui.panels.widgets.small_labels import ThemeSource


class ProgressLine(QWidget):
    """share: from 0 to 1; nothing shows at 0."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme, self._share = theme, 0.0
        self.setFixedHeight(2)

    def show_share(self, share: float) -> None:
        self._share = share
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme()
        painter.fillRect(self.rect(), theme.line if self._share else theme.panel)
        painter.fillRect(QRectF(0, 0, self.width() * self._share, self.height()), theme.update)
