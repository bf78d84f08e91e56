"""The header of the flat tables: small muted words over their columns."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QHeaderView

from gradstep.gui.look.theme import SMALL, mono, sans
from gradstep.gui.panels.widgets.small_labels import ThemeSource

HEIGHT = 24
MARGIN = 12


class FlatHeader(QHeaderView):
    """Across: sans, left. Down: row numbers, mono, right."""

    def __init__(
        self, theme: ThemeSource, orientation: Qt.Orientation, margin: int = MARGIN
    ) -> None:
        super().__init__(orientation)
        self._theme, self._margin = theme, margin
        self.across = orientation is Qt.Orientation.Horizontal
        self.numbers = not self.across  # column numbers stand right, over their elements
        self.setHighlightSections(False)
        self.setMinimumSectionSize(24)
        self.setSectionsClickable(False)
        if self.across:
            self.setFixedHeight(HEIGHT)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        theme = self._theme()
        model = self.model()
        painter.save()
        painter.fillRect(rect, theme.panel)
        painter.setPen(theme.line)
        if self.across:
            painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        font = mono(SMALL) if self.numbers else sans(SMALL)
        painter.setFont(font)
        painter.setPen(theme.muted)
        text = str(model.headerData(section, self.orientation()) or "")
        room = rect.adjusted(self._margin, 0, -4, 0)
        side = Qt.AlignmentFlag.AlignRight if self.numbers else Qt.AlignmentFlag.AlignLeft
        text = QFontMetrics(font).elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, side | Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()
