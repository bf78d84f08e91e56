"""Heat tiles: the elements of a small tensor, coloured by sign and size, with the number inside."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from gui import numbers
from gui.canvas import heat
from gui.panels import painting
from gui.panels.labels import ThemeSource
from gui.theme import SMALL, mono

_HEIGHT = 24
_GAP = 2
_MOST_ROWS, _MOST_COLUMNS = 8, 8


class HeatTiles(QWidget):
    """Up to 8 by 8 elements, row-major; what is left out is said by an ellipsis."""

    def __init__(self, theme: ThemeSource, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._theme = theme
        self._tables: np.ndarray[Any, Any] = np.empty((0, 0))
        self._texts: list[list[str]] = []
        self._scale = 0.0
        self._marked: Collection[tuple[int, ...]] = ()
        self._more = ""
        self._shape: tuple[int, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_head(
        self,
        head: np.ndarray[Any, Any],
        shape: tuple[int, ...],
        marked: Collection[tuple[int, ...]] = (),
    ) -> None:
        """`head`: the first elements, flat, of a tensor of `shape`; `marked`: indexes to frame."""
        self._shape, self._marked = shape, marked
        columns = min(shape[-1] if shape else 1, head.size)
        rows = head.size // columns if columns else 0
        table = head[: rows * columns].reshape(rows, columns) if columns else np.empty((0, 0))
        self._tables = table[:_MOST_ROWS, :_MOST_COLUMNS]
        total = int(np.prod(shape, dtype=np.int64))
        self._more = "" if self._tables.size == total else f"… {total} elements"
        self._texts = [[x.strip() for x in numbers.elements(row)] for row in self._tables]
        self._scale = _largest(self._tables)
        spoken = ", ".join(" ".join(row) for row in self._texts)
        self.setAccessibleDescription(f"{spoken} {self._more}".strip())
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        rows, columns = self._tables.shape
        lines = rows + bool(self._more)
        return QSize(columns * (self._width() + _GAP), lines * (_HEIGHT + _GAP))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def _width(self) -> int:
        metrics = QFontMetrics(mono(SMALL))
        widest = max((metrics.horizontalAdvance(t) for r in self._texts for t in r), default=0)
        return max(40, widest + 12)

    def _tile(self, row: int, column: int) -> QRect:
        count = max(self._tables.shape[1], 1)
        width = min(self._width(), max((self.width() - _GAP * count) // count, 4))
        return QRect(column * (width + _GAP), row * (_HEIGHT + _GAP), width, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(mono(SMALL))
        for row, values in enumerate(self._tables):
            for column, value in enumerate(values):
                self._paint_tile(painter, row, column, value)
        if self._more:
            painter.setPen(self._theme().muted)
            place = QRect(0, len(self._texts) * (_HEIGHT + _GAP), self.width(), _HEIGHT)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, self._more)

    def _paint_tile(self, painter: QPainter, row: int, column: int, value: Any) -> None:
        theme, place = self._theme(), self._tile(row, column)
        number = float(value.real) if np.issubdtype(self._tables.dtype, np.number) else 0.0
        color = heat.color(theme, number, self._scale)
        marked = self._index(row, column) in self._marked
        painter.setPen(QPen(theme.problem, 2) if marked else Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(place.adjusted(1, 1, -1, -1) if marked else place, 2, 2)
        text = self._texts[row][column]
        if QFontMetrics(painter.font()).horizontalAdvance(text) <= place.width() - 4:
            painter.setPen(painting.ink_on(color))
            painter.drawText(place, Qt.AlignmentFlag.AlignCenter, text)

    def _index(self, row: int, column: int) -> tuple[int, ...]:
        """The element's index in the tensor."""
        if not self._shape:
            return ()
        lead = np.unravel_index(row, self._shape[:-1]) if len(self._shape) > 1 else ()
        return (*(int(i) for i in lead), column)

    def event(self, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ToolTip or not isinstance(event, QHelpEvent):
            return super().event(event)
        for row, values in enumerate(self._tables):
            for column, value in enumerate(values):
                if self._tile(row, column).contains(event.pos()):
                    where = ", ".join(map(str, self._index(row, column)))
                    QToolTip.showText(event.globalPos(), f"[{where}] = {value}", self)
        return True


def _largest(table: np.ndarray[Any, Any]) -> float:
    return heat.largest(table) if table.dtype.kind in "fiu" else 0.0
