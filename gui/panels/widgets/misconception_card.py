"""What is often said, and what is so, side by side."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gradstep.gui.look.theme import BODY, GRID, Tone, mix, sans
from gradstep.gui.panels.widgets.markdown_text import IsName, MarkedText
from gradstep.gui.panels.widgets.small_labels import Text, ThemeSource

NARROW = 280  # pixels; below that one stands over the other
MARK = 12  # pixels


class Claim(QWidget):
    """Two statements; the wrong one first."""

    def __init__(self, theme: ThemeSource, is_name: IsName) -> None:
        super().__init__()
        self.setObjectName("note.claim")
        self.claim = Statement(theme, "note.claim.claim", "Often said", False, is_name)
        self.truth = Statement(theme, "note.claim.truth", "In fact", True, is_name)
        self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._row.setContentsMargins(0, GRID // 2, 0, GRID // 2)
        self._row.setSpacing(GRID)
        self._row.addWidget(self.claim, 1)
        self._row.addWidget(self.truth, 1)

    def say(self, claim: str, truth: str) -> None:
        """Show both; nothing without a claim and a truth."""
        self.claim.text.say(claim)
        self.truth.text.say(truth)
        self.claim.setVisible(bool(claim))
        self.setVisible(bool(claim or truth))

    def restyle(self) -> None:
        for statement in (self.claim, self.truth):
            statement.text.restyle()

    def resizeEvent(self, event: QResizeEvent) -> None:
        narrow = event.size().width() < NARROW
        directions = QBoxLayout.Direction
        self._row.setDirection(directions.TopToBottom if narrow else directions.LeftToRight)
        super().resizeEvent(event)


class Statement(QWidget):
    """A heading with a cross or a tick, and the statement under it, on a tinted ground."""

    def __init__(
        self, theme: ThemeSource, name: str, heading: str, right: bool, is_name: IsName
    ) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(heading)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self._theme, self._right = theme, right
        self._tone: Tone = "update" if right else "problem"
        column = QVBoxLayout(self)
        column.setContentsMargins(10, GRID, 10, GRID)
        column.setSpacing(GRID // 2)
        self.heading = Text(theme, self._tone, sans(BODY, strong=True))
        self.heading.setContentsMargins(0, 0, 0, 0)
        self.heading.set_text(heading)
        self.text = MarkedText(theme, f"{name}.text", is_name, narrow=True)
        column.addWidget(self.heading)
        column.addWidget(self.text, 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme()
        color = theme.tone(self._tone)
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(mix(theme.panel, color, 0.1))
        painter.drawRoundedRect(QRectF(self.rect()), 4, 4)
        row = self.heading.geometry()
        paint_mark(painter, QRectF(row.right() - MARK, row.top(), MARK, row.height()), self._right,
                   QPen(color, 1.6))  # fmt: skip


def paint_mark(painter: QPainter, room: QRectF, right: bool, pen: QPen) -> None:
    """A tick or a cross in the middle of `room`."""
    at = room.center()
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(pen)
    if right:
        ticks = ((-4.5, 0.5), (-1.5, 3.5), (4.5, -3.5))
        painter.drawPolyline(QPolygonF([at + QPointF(x, y) for x, y in ticks]))
    else:
        painter.drawLine(at + QPointF(-3.5, -3.5), at + QPointF(3.5, 3.5))
        painter.drawLine(at + QPointF(-3.5, 3.5), at + QPointF(3.5, -3.5))
