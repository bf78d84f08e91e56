"""The start page's list of groups: one is chosen, and the gallery shows its examples."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QEnterEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QButtonGroup, QSizePolicy, QVBoxLayout, QWidget

from gradstep.gui.look.theme import GRID, SMALL, sans
from gradstep.gui.panels.widgets.small_labels import ThemeSource


class GroupList(QWidget):
    """Buttons of which one is down."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setAccessibleName("Groups of examples")
        self._theme = theme
        self._buttons = QButtonGroup(self)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(1)

    @property
    def buttons(self) -> list[QAbstractButton]:
        return self._buttons.buttons()

    def add(self, text: str, count: int, chosen: Callable[[], None]) -> GroupButton:
        """One more; the first is down."""
        button = GroupButton(self._theme, text, count)
        button.setChecked(not self._buttons.buttons())
        self._buttons.addButton(button)
        self._column.addWidget(button)
        button.clicked.connect(chosen)
        return button


class GroupButton(QAbstractButton):
    """A name, and how many there are."""

    def __init__(self, theme: ThemeSource, text: str, count: int) -> None:
        super().__init__()
        self._theme, self._count = theme, count
        self.setText(text)
        self.setObjectName(f"welcome.group.{text}")
        self.setAccessibleName(f"{text}, {count} examples")
        self.setCheckable(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(160, 3 * GRID + 4)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()
        super().enterEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.isChecked() or self.underMouse() or self.hasFocus():
            painter.setPen(theme.selection if self.hasFocus() else Qt.PenStyle.NoPen)
            painter.setBrush(theme.selected_row if self.isChecked() else theme.hover)
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 5, 5)
        room = self.rect().adjusted(GRID, 0, -GRID, 0)
        painter.setPen(theme.muted)
        painter.setFont(sans(SMALL + 1))
        count = str(self._count)
        width = painter.fontMetrics().horizontalAdvance(count)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(room, middle | Qt.AlignmentFlag.AlignRight, count)
        painter.setFont(sans())
        painter.setPen(theme.text if self.isChecked() else theme.muted)
        left = QRect(room.x(), room.y(), room.width() - width - GRID, room.height())
        text = painter.fontMetrics().elidedText(
            self.text(), Qt.TextElideMode.ElideRight, left.width()
        )
        painter.drawText(left, middle, text)
