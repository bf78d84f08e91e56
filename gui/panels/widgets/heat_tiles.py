"""Heat tiles: the elements of a small tensor, coloured by sign and size, with the number inside."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradstep.core.graph.number_kinds import kind_of
from gradstep.gui.look import heat_colours
from gradstep.gui.look.contrast import ink_on
from gradstep.gui.look.plain_text import show_tip
from gradstep.gui.look.theme import SMALL, mono
from gradstep.gui.model import number_text
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_HEIGHT = 24
_GAP = 2
_MARGIN = 4  # pixels between a tile's sides and its number, both together
_NARROWEST = 34
_MOST_ROWS, _MOST_COLUMNS = 8, 8

Texts = list[list[str]]


@dataclass(frozen=True)
class Fit:
    """Texts of the tiles, and how many columns of how many pixels are shown of them."""

    texts: Texts
    columns: int
    width: int


class HeatTiles(QWidget):
    """Up to 8 by 8 elements, row-major, as many as can be read in the room there is; what is left
    out is said by an ellipsis."""

    def __init__(self, theme: ThemeSource, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._theme = theme
        self._table: np.ndarray[Any, Any] = np.empty((0, 0))
        self._forms: list[Texts] = []  # the same numbers, with fewer and fewer decimals
        self._widths: list[int] = []  # pixels of a tile, by form, as far as they were asked for
        self._scale = 0.0
        self._marked: Collection[tuple[int, ...]] = ()
        self._shape: tuple[int, ...] = ()
        self._total = prod(self._shape)
        self._said: tuple[Any, ...] = ()  # what was to be shown last
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_head(
        self,
        head: np.ndarray[Any, Any],
        shape: tuple[int, ...],
        marked: Collection[tuple[int, ...]] = (),
        texts: Sequence[str] = (),
    ) -> None:
        """`head`: the first elements, flat, of a tensor of `shape`; `marked`: indexes to frame;
        texts: how the elements are written, if not in the usual way. The very same again is
        nothing to paint."""
        said = head, shape, marked, texts
        if len(self._said) == len(said) and head is self._said[0] and said[1:] == self._said[1:]:
            return
        self._said = said
        self._shape, self._marked, self._total = shape, marked, prod(shape)
        columns = min(shape[-1] if shape else 1, head.size)
        rows = head.size // columns if columns else 0
        table = head[: rows * columns].reshape(rows, columns) if columns else np.empty((0, 0))
        self._table = table[:_MOST_ROWS, :_MOST_COLUMNS]
        own = np.array(texts, object)[: rows * columns].reshape(rows, columns) if texts else None
        shown = None if own is None else own[:_MOST_ROWS, :_MOST_COLUMNS].tolist()
        self._forms = _forms(self._table) if shown is None else [shown]
        self._widths = []
        self._scale = _largest(self._table)
        spoken = ", ".join(" ".join(row) for row in self._forms[0])
        self.setAccessibleDescription(f"{spoken} {self._more(self._table.size)}".strip())
        self.updateGeometry()
        self.update()

    def fit(self, room: int) -> Fit:
        """With the most decimals with which all columns can be read side by side in so many pixels;
        if there are none, the columns that can be read with the fewest."""
        columns = self._table.shape[1]
        fit = Fit([], 0, _NARROWEST)
        for form, texts in enumerate(self._forms):
            width = self._width(form)
            fit = Fit(texts, max(min(columns, (room + _GAP) // (width + _GAP)), 1), width)
            if fit.columns >= columns:
                break
        return fit

    def sizeHint(self) -> QSize:
        rows, columns = self._table.shape
        lines = rows + (rows * columns < self._total)
        width = self._width(0) if self._forms else _NARROWEST
        return QSize(columns * (width + _GAP), lines * (_HEIGHT + _GAP))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height() + (_HEIGHT if self._left_out() else 0))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.updateGeometry()  # a line says what is left out, where something is

    def _width(self, form: int) -> int:
        self._widths += map(_tile_width, self._forms[len(self._widths) : form + 1])
        return self._widths[form]

    def _more(self, shown: int) -> str:
        return "" if shown == self._total else f"… {self._total} elements"

    def _left_out(self) -> bool:
        """Whether columns are left out for want of room, of a tensor that has no more."""
        columns: int = self._table.shape[1]
        return self._table.size == self._total and self.fit(self.width()).columns < columns

    def _tile(self, row: int, column: int, width: int) -> QRect:
        return QRect(column * (width + _GAP), row * (_HEIGHT + _GAP), width, _HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(mono(SMALL))
        fit = self.fit(self.width())
        for row, values in enumerate(self._table[:, : fit.columns]):
            for column, value in enumerate(values):
                self._paint_tile(painter, row, column, value, fit)
        more = self._more(len(self._table) * fit.columns)
        if more:
            painter.setPen(self._theme().muted)
            place = QRect(0, len(self._table) * (_HEIGHT + _GAP), self.width(), _HEIGHT)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, more)

    def _paint_tile(self, painter: QPainter, row: int, column: int, value: Any, fit: Fit) -> None:
        theme, place = self._theme(), self._tile(row, column, fit.width)
        number = float(value.real) if np.issubdtype(self._table.dtype, np.number) else 0.0
        color = heat_colours.color(theme, number, self._scale)
        marked = self._index(row, column) in self._marked
        painter.setPen(QPen(theme.problem, 2) if marked else Qt.PenStyle.NoPen)
        painter.setBrush(color)
        painter.drawRoundedRect(place.adjusted(1, 1, -1, -1) if marked else place, 2, 2)
        painter.setPen(ink_on(color))
        painter.drawText(place, Qt.AlignmentFlag.AlignCenter, fit.texts[row][column])

    def _index(self, row: int, column: int) -> tuple[int, ...]:
        """The element's index in the tensor."""
        if not self._shape:
            return ()
        lead = np.unravel_index(row, self._shape[:-1]) if len(self._shape) > 1 else ()
        return (*(int(i) for i in lead), column)

    def event(self, event: QEvent) -> bool:
        if event.type() != QEvent.Type.ToolTip or not isinstance(event, QHelpEvent):
            return super().event(event)
        fit = self.fit(self.width())
        for row, values in enumerate(self._table[:, : fit.columns]):
            for column, value in enumerate(values):
                if self._tile(row, column, fit.width).contains(event.pos()):
                    where = ", ".join(map(str, self._index(row, column)))
                    show_tip(event.globalPos(), f"[{where}] = {value}", self)
        return True


def _forms(table: np.ndarray[Any, Any]) -> list[Texts]:
    """The elements with fewer and fewer decimals, as long as the largest has two digits."""
    largest = _largest(table)
    least = max(1, 1 - number_text.exponent(largest)) if largest >= number_text.SMALLEST else 1
    decimals = range(max(least, number_text.DECIMALS), least - 1, -1)
    return [_written(table, d) for d in decimals]


def _written(table: np.ndarray[Any, Any], decimals: int) -> Texts:
    """All elements alike: in the same style, with the same decimals."""
    texts = [text.strip() for text in number_text.elements(table.reshape(-1), decimals)]
    columns = table.shape[1]
    return [texts[i : i + columns] for i in range(0, len(texts), columns)] if columns else []


def _tile_width(texts: Texts) -> int:
    metrics = QFontMetrics(mono(SMALL))
    widest = max((metrics.horizontalAdvance(text) for row in texts for text in row), default=0)
    return max(_NARROWEST, widest + _MARGIN)


def _largest(table: np.ndarray[Any, Any]) -> float:
    return heat_colours.largest(table) if kind_of(table.dtype) in "fiu" else 0.0
