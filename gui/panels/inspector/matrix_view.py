"""A matrix as coloured cells: with numbers where they fit, as a picture where it is large."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QHelpEvent, QImage, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradstep.core.protocol.vocabulary import VERDICTS
from gradstep.gui.look import heat_colours
from gradstep.gui.look.plain_text import show_tip
from gradstep.gui.look.theme import SMALL, Theme, mono
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_WRONG = VERDICTS.index("wrong")
_CELL = QSize(52, 22)  # pixels of a cell at most
_TALLEST = 280
_WRITTEN = 34  # pixels that a number needs
_FRAMED = 5  # pixels of a cell from which on an entry that is wrong is framed, and not filled
_GAP = 1


class MatrixView(QWidget):
    """Of a JacobianBlock. What is wrong is framed; the tip says of an entry what it is of, and what
    was measured."""

    def __init__(self, theme: ThemeSource, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self._theme = theme
        self._rule = np.zeros((0, 0))
        self._numeric: np.ndarray | None = None
        self._wrong = np.zeros((0, 0), dtype=bool)
        self._names = "", ""
        self._shapes: tuple[tuple[int, ...], tuple[int, ...]] = (), ()
        self._image: tuple[Theme, bool, QImage] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def show_matrix(
        self,
        parts: dict[str, np.ndarray],
        names: tuple[str, str],
        shapes: tuple[tuple[int, ...], tuple[int, ...]],
    ) -> None:
        """names, shapes: of what the rows are elements of, and the columns."""
        self._rule, self._numeric = parts["rule"], parts.get("numeric")
        verdicts = parts.get("verdicts")
        none = np.zeros(self._rule.shape, dtype=bool)
        self._wrong = none if verdicts is None else verdicts == _WRONG
        self._names, self._shapes, self._image = names, shapes, None
        self.setAccessibleDescription(self._spoken())
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        rows, columns = self._rule.shape
        wide, tall = columns * _CELL.width(), min(rows * _CELL.height(), _TALLEST)
        return QSize(min(wide, 400), max(tall, _CELL.height() // 2))

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def cell_at(self, at: QPoint) -> tuple[int, int] | None:
        """Row and column of the entry at a pixel."""
        area = self._area()
        if not self._rule.size or not area.contains(at):
            return None
        rows, columns = self._rule.shape
        i = int((at.y() - area.y()) / area.height() * rows)
        j = int((at.x() - area.x()) / area.width() * columns)
        return min(i, rows - 1), min(j, columns - 1)

    def words(self, row: int, column: int) -> str:
        """`∂y[0]/∂x[1] = 0.5, measured 0: the rule is wrong here`."""
        pairs = zip(self._names, (row, column), self._shapes, strict=True)
        over, under = (f"{name}{_index(at, shape)}" for name, at, shape in pairs)
        text = f"∂{over}/∂{under} = {self._rule[row, column] + 0.0:.6g}"
        if self._numeric is not None:
            text += self.tr(", measured {:.6g}").format(self._numeric[row, column] + 0.0)
        return text + (self.tr(": the rule is wrong here") if self._wrong[row, column] else "")

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            cell = self.cell_at(event.pos())
            show_tip(event.globalPos(), "" if cell is None else self.words(*cell), self)
            return True
        return super().event(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._rule.size:
            return
        painter, area, theme = QPainter(self), self._area(), self._theme()
        rows, columns = self._rule.shape
        wide, tall = area.width() / columns, area.height() / rows
        painter.drawImage(area, self._picture(theme, min(wide, tall) < _FRAMED))
        if min(wide, tall) < _FRAMED:
            return
        self._gaps(painter, area, theme)
        if wide >= _WRITTEN and tall >= _CELL.height() - 4:
            self._numbers(painter, area, theme)
        for i, j in np.argwhere(self._wrong).tolist():
            cell = QRectF(area.x() + j * wide, area.y() + i * tall, wide, tall)
            painter.setPen(QPen(theme.problem, 2))
            painter.drawRect(cell.adjusted(1, 1, -2, -2))
            painter.setPen(QPen(theme.panel, 1))  # by which it stands out from any colour inside
            painter.drawRect(cell.adjusted(2.5, 2.5, -3.5, -3.5))

    def _gaps(self, painter: QPainter, area: QRectF, theme: Theme) -> None:
        """Gaps between the cells, in the panel's colour."""
        rows, columns = self._rule.shape
        painter.setPen(QPen(theme.panel, _GAP))
        for j in range(1, columns):
            x = round(area.x() + j * area.width() / columns)
            painter.drawLine(x, round(area.top()), x, round(area.bottom()))
        for i in range(1, rows):
            y = round(area.y() + i * area.height() / rows)
            painter.drawLine(round(area.left()), y, round(area.right()), y)

    def _numbers(self, painter: QPainter, area: QRectF, theme: Theme) -> None:
        rows, columns = self._rule.shape
        wide, tall = area.width() / columns, area.height() / rows
        painter.setFont(mono(SMALL))
        top = heat_colours.largest(self._rule)
        for i in range(rows):
            for j in range(columns):
                value = float(self._rule[i, j])
                strong = top > 0 and abs(value) > 0.6 * top
                painter.setPen(theme.on_accent if strong else theme.text)
                cell = QRectF(area.x() + j * wide, area.y() + i * tall, wide, tall)
                painter.drawText(cell, Qt.AlignmentFlag.AlignCenter, _short(value))

    def _area(self) -> QRectF:
        """Where the matrix is drawn: no cell is larger than it has to be."""
        rows, columns = self._rule.shape
        wide = min(self.width(), columns * _CELL.width())
        return QRectF(0, 0, max(wide, 1), max(min(rows * _CELL.height(), self.height()), 1))

    def _picture(self, theme: Theme, filled: bool) -> QImage:
        """A pixel for each entry. filled: those that are wrong in the colour of problems."""
        if self._image is None or self._image[:2] != (theme, filled):
            self._image = theme, filled, self._colours(theme, filled)
        return self._image[2]

    def _colours(self, theme: Theme, filled: bool) -> QImage:
        rule, top = self._rule, heat_colours.largest(self._rule)
        share = np.clip(rule / top, -1, 1) if top > 0 else np.zeros(rule.shape)
        share = np.nan_to_num(share)[..., None]
        ends = (_rgb(theme.hover), _rgb(theme.backward), _rgb(theme.forward))
        end = np.where(share > 0, ends[1], ends[2])
        colours = ends[0] + np.abs(share) * (end - ends[0])
        bad = ~np.isfinite(rule) | (self._wrong & filled)
        colours[bad] = _rgb(theme.problem)
        pixels = colours.round().astype(np.uint8)
        height, width = rule.shape
        kind = QImage.Format.Format_RGB888
        return QImage(pixels.tobytes(), width, height, 3 * width, kind).copy()

    def _spoken(self) -> str:
        rows, columns = self._rule.shape
        wrong = int(self._wrong.sum())
        size = self.tr("{} by {} entries").format(rows, columns)
        return f"{size}, {wrong} {self.tr('wrong')}" if wrong else size


def _rgb(color: QColor) -> np.ndarray:
    return np.array([color.red(), color.green(), color.blue()], np.float64)


def _index(at: int, shape: tuple[int, ...]) -> str:
    where = np.unravel_index(at, shape) if shape else ()
    return f"[{', '.join(str(int(x)) for x in where)}]" if shape else ""


def _short(value: float) -> str:
    text = f"{value + 0.0:.3g}"  # 0 without a sign
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text
