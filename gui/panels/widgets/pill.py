"""A rounded toggle: outlined, in the colour of what it stands for while it is on."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QEnterEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton

from gradstep.gui.look.plain_text import Worded
from gradstep.gui.look.theme import GRID, SMALL, Theme, Tone, fade, sans
from gradstep.gui.model.workspace import Workspace

HEIGHT = 24


class Pill(Worded, QAbstractButton):
    """tone: the theme colour's name while it is checked. filled: tint the inside as well."""

    def __init__(
        self, workspace: Workspace, text: str, name: str, tone: Tone = "text", filled: bool = False
    ) -> None:
        super().__init__()
        self._workspace, self._tone, self._filled = workspace, tone, filled
        self.setText(text)
        self.setObjectName(name)
        self.setAccessibleName(text)
        self.setFont(sans(SMALL + 1))
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        workspace.theme_changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return QSize(self.fontMetrics().horizontalAdvance(self.text()) + 3 * GRID, HEIGHT)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()
        super().enterEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._workspace.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(self._line(theme), 1))
        if self.isChecked() and self._filled:
            painter.setBrush(fade(theme.tone(self._tone), 0.18))
        elif self.underMouse() and self.isEnabled():
            painter.setBrush(theme.hover)
        painter.drawRoundedRect(box, box.height() / 2, box.height() / 2)
        painter.setPen(self._ink(theme))
        painter.drawText(self.rect(), Qt.AlignmentFlag.AlignCenter, self.text())

    def _line(self, theme: Theme) -> QColor:
        if self.hasFocus():
            return theme.selection
        return theme.tone(self._tone) if self.isChecked() else theme.line

    def _ink(self, theme: Theme) -> QColor:
        if not self.isEnabled():
            return theme.disabled
        return theme.tone(self._tone) if self.isChecked() else theme.muted
