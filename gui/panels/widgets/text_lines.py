"""The lines of a paragraph in some room: broken once, and then measured and drawn."""

from __future__ import annotations

from math import ceil

from PySide6.QtCore import QPointF, QSize
from PySide6.QtGui import QFont, QPainter, QTextLayout, QTextOption

_SEPARATOR = "\u2028"  # a line break, for Qt's layouts
ENDLESS = 1 << 20  # pixels


class TextLines:
    """Of `text`, broken between words to be `room` pixels wide; for each line of it one, where
    there is no limit."""

    def __init__(self, text: str, font: QFont, room: int = ENDLESS) -> None:
        self._layout = QTextLayout(text.replace("\n", _SEPARATOR), font)
        self._layout.setTextOption(_OPTION)
        self._layout.beginLayout()
        width = height = 0.0
        while (line := self._layout.createLine()).isValid():
            line.setLeadingIncluded(True)
            line.setLineWidth(room)
            line.setPosition(QPointF(0, height))
            height = ceil(height + line.height())
            width = max(width, line.naturalTextWidth())
        self._layout.endLayout()
        self.size = QSize(ceil(width), int(height))
        self.least = ceil(self._layout.minimumWidth())  # pixels of the longest word

    def draw(self, painter: QPainter, at: QPointF) -> None:
        """With the painter's pen."""
        self._layout.draw(painter, at)


_OPTION = QTextOption()
_OPTION.setWrapMode(QTextOption.WrapMode.WordWrap)
