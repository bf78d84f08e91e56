"""The start page's entries: an example with its picture, a recent file."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QEnterEvent,
    QFontMetrics,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QPixmap,
)
from PySide6.QtWidgets import (
    QAbstractButton,
    QSizePolicy,
)

from gui import commands
from gui.theme import BODY, GRID, SMALL, faded, mono, sans
from gui.workspace import Workspace

PICTURE = QSize(272, 152)
TEXT_HEIGHT = 64


class Card(QAbstractButton):
    """An example: its graph as a picture, its title, what to see in it."""

    def __init__(self, workspace: Workspace, path: Path) -> None:
        super().__init__()
        self._workspace, self._path = workspace, path
        self._picture: QPixmap | None = None
        self._note = ""
        self.setText(path.stem.replace("_", " ").capitalize())
        self.setObjectName(f"welcome.example.{path.stem}")
        self.setAccessibleName(self.text())
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.setMinimumWidth(PICTURE.width() // 2)
        self.clicked.connect(lambda: commands.open_path(workspace, path))

    @property
    def is_drawn(self) -> bool:
        return self._picture is not None

    def draw(self) -> None:
        """Read the example and draw its graph."""
        from core.errors import GradstepError
        from core.io.open import read
        from gui.thumbnails import thumbnail

        try:
            document = read(self._path)
        except GradstepError as error:
            self._picture, self._note = QPixmap(1, 1), error.message
        else:
            self.setText(document.title or self.text())
            self._note = document.note
            theme, ratio = self._workspace.theme, self.devicePixelRatioF()
            self._picture = thumbnail(document, PICTURE, theme, ratio)
        self.setAccessibleName(f"{self.text()}. {self._note}")
        self.setToolTip(self._note)
        self.update()

    def forget(self) -> None:
        """The picture is to be drawn anew."""
        self._picture = None
        self.update()

    def sizeHint(self) -> QSize:
        return PICTURE + QSize(0, TEXT_HEIGHT)

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()
        super().enterEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._workspace.theme
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(0.5, 0.5, self.width() - 1, PICTURE.height() - 1)
        shape = QPainterPath()
        shape.addRoundedRect(box, 8, 8)
        painter.fillPath(shape, theme.background)
        if self._picture is not None:
            painter.setClipPath(shape)
            left = (self.width() - self._picture.deviceIndependentSize().width()) / 2
            painter.drawPixmap(QPointF(left, 0), self._picture)
            painter.setClipping(False)
        lit = self.underMouse() or self.hasFocus()
        painter.setPen(QPen(theme.selection if lit else theme.line, 1))
        painter.drawPath(shape)
        self._paint_text(painter)

    def _paint_text(self, painter: QPainter) -> None:
        theme = self._workspace.theme
        top = PICTURE.height() + GRID
        painter.setFont(sans(strong=True))
        painter.setPen(theme.text)
        painter.drawText(2, top + QFontMetrics(painter.font()).ascent(), self.text())
        painter.setFont(sans(SMALL + 1))
        painter.setPen(theme.muted)
        room = QRectF(2, top + 20, self.width() - 4, TEXT_HEIGHT - 24)
        painter.drawText(room, Qt.TextFlag.TextWordWrap, self._two_lines(painter, room.width()))

    def _two_lines(self, painter: QPainter, width: float) -> str:
        """As much of the note's first sentence as two lines hold."""
        words, room = first_sentence(self._note), int(1.85 * width)
        cut = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, room)
        return words if cut == words else cut.rpartition(" ")[0].rstrip(",;:(") + " …"


class RecentFile(QAbstractButton):
    """A file's name, and the folder it is in."""

    def __init__(self, workspace: Workspace, path: Path) -> None:
        super().__init__()
        self._workspace, self._path = workspace, path
        self.setText(path.name)
        self.setObjectName(f"welcome.recent.{path.name}")
        self.setAccessibleName(f"Open {path.name}")
        self.setToolTip(str(path))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFixedHeight(3 * GRID + 4)
        self.clicked.connect(lambda: commands.open_path(workspace, path))

    def enterEvent(self, event: QEnterEvent) -> None:
        self.update()
        super().enterEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._workspace.theme
        painter = QPainter(self)
        if self.underMouse() or self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(faded(theme.hover, 1))
            painter.drawRoundedRect(self.rect().adjusted(-GRID, 0, 0, 0), 5, 5)
        painter.setFont(mono(BODY - 1))
        painter.setPen(theme.text)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(self.rect(), middle, self._path.name)
        name_width = painter.fontMetrics().horizontalAdvance(self._path.name)
        left = max(28 * GRID, name_width + 2 * GRID)
        painter.setFont(sans(SMALL + 1))
        painter.setPen(theme.muted)
        room = self.rect().adjusted(left, 0, 0, 0)
        folder = QFontMetrics(painter.font()).elidedText(
            str(self._path.parent), Qt.TextElideMode.ElideMiddle, room.width()
        )
        painter.drawText(room, middle, folder)


def first_sentence(text: str) -> str:
    head, dot, _ = text.partition(". ")
    return head + ("." if dot else "")
