"""A check box with its words, drawn like those in the tables."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QCheckBox, QSizePolicy

from gradstep.gui.look.plain_text import Worded
from gradstep.gui.look.theme import sans
from gradstep.gui.panels.widgets import panel_marks
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_BOX = 22  # the box and the gap after it


class Check(Worded, QCheckBox):
    """Underlined with the focus, as links are."""

    def __init__(self, theme: ThemeSource, text: str, name: str, font: QFont | None = None) -> None:
        super().__init__()
        self._theme = theme
        self.setText(text)
        self.setObjectName(name)
        self.setAccessibleName(text or name.rpartition(".")[2])
        self.setFont(font or sans())
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def say(self, text: str) -> None:
        """Other words beside it."""
        if text != self.text():
            self.setText(text)
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(_BOX + metrics.horizontalAdvance(self.text()) + 2, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        return QSize(_BOX, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = self._theme(), QPainter(self)
        panel_marks.check_box(painter, self.rect(), self.isChecked(), theme)
        font = QFont(self.font())
        font.setUnderline(self.hasFocus())
        painter.setFont(font)
        painter.setPen(theme.text if self.isEnabled() else theme.disabled)
        room = QRect(_BOX, 0, self.width() - _BOX, self.height())
        text = QFontMetrics(font).elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)

    def hitButton(self, pos: object) -> bool:
        return True
