"""Texts on the canvas, shaped once and kept."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QStaticText

from gradstep.core.visible_text import visible
from gradstep.gui.look import theme

KEPT = 8_192
Elide = Qt.TextElideMode


class Labels:
    """Draws one line of text, cut to a width. Not thread-safe."""

    def __init__(self) -> None:
        self.title = theme.sans(theme.BODY, strong=True)
        self.caption = theme.sans(theme.SMALL)
        self.number = theme.mono(theme.SMALL)
        self._shaped = lru_cache(KEPT)(self._shape)
        self._metrics = {f.key(): QFontMetricsF(f) for f in (self.title, self.caption, self.number)}
        self.letter = self.width("0", self.number)  # all are as wide

    def draw(
        self,
        painter: QPainter,
        at: QPointF,
        text: str,
        font: QFont,
        color: QColor,
        width: float,
        elide: Elide = Elide.ElideRight,
        size: float = 1.0,
    ) -> None:
        """The text with its upper left corner at a point; size: times that of the font."""
        painter.setFont(font)
        painter.setPen(color)
        shaped = self._shaped(text, font.key(), width / size, elide)
        if size == 1.0:
            painter.drawStaticText(at, shaped)
            return
        painter.save()
        painter.translate(at)
        painter.scale(size, size)
        painter.drawStaticText(QPointF(), shaped)
        painter.restore()

    def width(self, text: str, font: QFont) -> float:
        return self._metrics[font.key()].horizontalAdvance(text)

    def height(self, font: QFont) -> float:
        return self._metrics[font.key()].height()

    def middle(self, top: float, height: float, font: QFont, size: float = 1.0) -> float:
        """Where the top of a text has to be for it to stand amid a row."""
        return top + (height - self.height(font) * size) / 2

    def _shape(self, text: str, key: str, width: float, elide: Elide) -> QStaticText:
        metrics = self._metrics[key]
        cut = metrics.elidedText(visible(text), elide, width)
        shaped = QStaticText(cut)
        shaped.setTextFormat(Qt.TextFormat.PlainText)
        shaped.setPerformanceHint(QStaticText.PerformanceHint.AggressiveCaching)
        return shaped
