"""What stands over a plot: its name on the left, what it is at the cursor on the right."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QFont, QFontMetrics
from PySide6.QtWidgets import QGraphicsItem, QGraphicsSimpleTextItem, QGraphicsWidget

from gradstep.core.visible_text import visible
from gradstep.gui.look.theme import SMALL, Theme, mono, sans

GAP = 16  # pixels


class PlotCaption:
    """Two texts on the upper edge of `over`, the one on the left from `left` pixels on."""

    def __init__(self, over: QGraphicsWidget, theme: Theme, left: int) -> None:
        self._over, self._left = over, left
        self._title = _text(over, theme, sans(SMALL, strong=True), "text")
        self._read = _text(over, theme, mono(SMALL), "muted")
        self._whole, self._number = "", ""
        over.geometryChanged.connect(self._lay_out)

    def say(self, title: str) -> None:
        """The name of the plot."""
        self._whole = visible(title)
        self._lay_out()

    def read_out(self, words: str) -> None:
        """What is known at the cursor; "" for no cursor."""
        self._number = visible(words)
        self._lay_out()

    @property
    def texts(self) -> tuple[str, str]:
        """As they are shown."""
        return self._title.text(), self._read.text()

    def _lay_out(self) -> None:
        room = max(int(self._over.size().width()) - self._left, 0)
        self._title.setText(_elided(self._title, self._whole, room))
        taken = int(self._title.boundingRect().width())
        if self._number and room - taken - GAP < 80:  # the number is what is wanted now
            self._title.setText("")
            taken = -GAP
        self._read.setText(_elided(self._read, self._number, room - taken - GAP))
        self._title.setPos(QPointF(self._left, 1))
        right = self._left + room - self._read.boundingRect().width()
        self._read.setPos(QPointF(right, 1))


def _text(over: QGraphicsItem, theme: Theme, font: QFont, tone: str) -> QGraphicsSimpleTextItem:
    item = QGraphicsSimpleTextItem("", over)
    item.setFont(font)
    item.setBrush(theme.text if tone == "text" else theme.muted)
    return item


def _elided(item: QGraphicsSimpleTextItem, text: str, room: int) -> str:
    return QFontMetrics(item.font()).elidedText(text, Qt.TextElideMode.ElideRight, max(room, 0))
