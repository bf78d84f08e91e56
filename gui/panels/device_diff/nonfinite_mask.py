"""Which elements are NaN or infinite, and on which side: a small square for each."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradstep.gui.look.theme import Tone
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_SQUARE, _GAP = 8, 1
_TONES: Mapping[str, Tone] = {".": "line", "l": "forward", "r": "problem", "b": "muted"}


class NonfiniteMask(QWidget):
    """Rows as long as the last axis, where that fits; else as long as there is room."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("device_diff.mask")
        self._theme, self._mask, self._last = theme, "", 0
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_mask(self, mask: str, last: int) -> None:
        """mask: as in messages.NodeDifference; last: the length of the last axis."""
        self._mask, self._last = mask, last
        self.setVisible(bool(mask))
        self.updateGeometry()
        self.update()

    def columns(self) -> int:
        fits = max(1, self.width() // (_SQUARE + _GAP))
        return self._last if 0 < self._last <= fits else fits

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        fits = max(1, width // (_SQUARE + _GAP))
        columns = self._last if 0 < self._last <= fits else fits
        return -(-len(self._mask) // columns) * (_SQUARE + _GAP)

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(200, self.width())))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter, columns = self._theme(), QPainter(self), self.columns()
        step = _SQUARE + _GAP
        for number, mark in enumerate(self._mask):
            y, x = divmod(number, columns)
            place = QRect(x * step, y * step, _SQUARE, _SQUARE)
            painter.fillRect(place, theme.tone(_TONES[mark]))
