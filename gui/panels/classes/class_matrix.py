"""The confusion matrix: what rows are, down; what they were taken for, across."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QWidget

from gradstep.core.protocol.messages import Classified
from gradstep.core.visible_text import visible
from gradstep.gui.look.contrast import ink_on
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.theme import SMALL, mix, mono, sans
from gradstep.gui.panels.widgets.small_labels import ThemeSource

LEAST, MOST = 6, 40  # pixels of a cell
READABLE = 15  # pixels of a cell from which on its number stands in it
NAMES = 88  # pixels of the names on the left, at most
TOP = 18  # pixels of the names above
Place = tuple[int, int]


class ClassMatrix(QWidget):
    """hovered(text): what the cell under the pointer says; "" for none. chosen(cell): the user
    wants the rows of that class that were taken for the other one; None: all rows."""

    hovered = Signal(str)
    chosen = Signal(object)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("classes.matrix")
        self.setAccessibleName(self.tr("Confusion matrix: classes down, what they were taken for"))
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme = theme
        self._names: list[str] = []
        self._classes: list[int] = []
        self._counts = np.zeros((0, 0), np.int64)
        self._chosen: Place | None = None  # by the numbers of the classes
        self._here: Place | None = None  # under the pointer or the keys, by places in the matrix

    def show_counts(self, seen: Classified | None, chosen: Place | None) -> None:
        """Another matrix; None for none. chosen: the cell whose rows are listed."""
        self._classes = [] if seen is None else seen.classes
        count = len(self._classes)
        self._names = [] if seen is None else [class_name(seen, c) for c in seen.classes]
        self._counts = np.array([] if seen is None else seen.matrix).reshape(count, count)
        self._chosen = chosen
        if self._here is not None and max(self._here) >= count:
            self._here = None
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(NAMES + TOP + 10 * READABLE, TOP + 10 * READABLE)

    # -- where what is ---------------------------------------------------------------------------

    @property
    def side(self) -> int:
        """Pixels of a cell."""
        count = max(len(self._classes), 1)
        room = min(self.height() - TOP - 2, self.width() - self._left - 2)
        return max(min(room // count, MOST), LEAST)

    @property
    def _left(self) -> int:
        metrics = QFontMetrics(mono(SMALL))
        widest = max((metrics.horizontalAdvance(name) for name in self._names), default=0)
        return min(widest + 14, NAMES)

    def cell_rect(self, row: int, column: int) -> QRect:
        """Where a cell is painted."""
        side = self.side
        return QRect(self._left + column * side, TOP + row * side, side - 1, side - 1)

    def place_at(self, at: QPoint) -> Place | None:
        """The cell under a point; None for none."""
        column, row = (at.x() - self._left) // self.side, (at.y() - TOP) // self.side
        inside = 0 <= row < len(self._classes) and 0 <= column < len(self._classes)
        return (row, column) if inside else None

    # -- the picture -----------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme().panel)
        if not self._classes:
            return
        self._paint_names(painter)
        totals = np.maximum(self._counts.sum(axis=1), 1)
        for row in range(len(self._classes)):
            for column in range(len(self._classes)):
                share = self._counts[row, column] / totals[row]
                self._paint_cell(painter, row, column, float(share))
        self._paint_axes(painter)
        self._paint_frame(painter, self._framed(), 2)
        if self.hasFocus() or self.underMouse():
            self._paint_frame(painter, self._here, 1)

    def _paint_cell(self, painter: QPainter, row: int, column: int, share: float) -> None:
        """Shaded by the share of the class: right ones as values are, mistakes as problems are."""
        theme, count, rect = self._theme(), int(self._counts[row, column]), None
        rect = self.cell_rect(row, column)
        tone = theme.forward if row == column else theme.problem
        color = mix(theme.hover, tone, 0.15 + 0.85 * share) if count else theme.hover
        painter.fillRect(rect, color)
        if count and self.side >= READABLE:
            painter.setFont(mono(SMALL))
            text = str(count)
            if QFontMetrics(painter.font()).horizontalAdvance(text) < self.side:
                painter.setPen(ink_on(color))
                painter.drawText(rect, Qt.AlignmentFlag.AlignCenter, text)

    def _paint_names(self, painter: QPainter) -> None:
        painter.setFont(mono(SMALL))
        metrics, side = QFontMetrics(painter.font()), self.side
        every = max(-(-metrics.height() // side), 1)
        middle = Qt.AlignmentFlag.AlignVCenter
        for place in range(0, len(self._names), every):
            first, beside = self.cell_rect(place, 0), self.cell_rect(0, place)
            here = self._here or (-1, -1)
            for way, box in enumerate(
                (
                    QRect(0, first.y(), self._left - 6, side),
                    QRect(beside.x(), 0, every * side - 1, TOP),
                )
            ):
                name = metrics.elidedText(
                    visible(self._names[place]), Qt.TextElideMode.ElideRight, box.width()
                )
                painter.setPen(self._theme().text if here[way] == place else self._theme().muted)
                across = Qt.AlignmentFlag.AlignHCenter if way else Qt.AlignmentFlag.AlignRight
                painter.drawText(box, middle | across, name)

    def _paint_axes(self, painter: QPainter) -> None:
        """What is down and what across, beside the matrix where there is room."""
        painter.setFont(sans(SMALL))
        painter.setPen(self._theme().muted)
        lines = (self.tr("↓ what rows are"), self.tr("→ taken for"))
        left = self.cell_rect(0, len(self._classes)).x() + 12
        for number, text in enumerate(lines):
            if QFontMetrics(painter.font()).horizontalAdvance(text) <= self.width() - left:
                box = QRect(left, TOP + number * 16, self.width() - left, 16)
                painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, text)

    def _framed(self) -> Place | None:
        """The chosen cell, by its place."""
        known = self._chosen is not None and {*self._chosen} <= {*self._classes}
        if not known or self._chosen is None:
            return None
        actual, taken = self._chosen
        return self._classes.index(actual), self._classes.index(taken)

    def _paint_frame(self, painter: QPainter, place: Place | None, width: int) -> None:
        if place is not None:
            painter.setPen(QPen(self._theme().selection, width))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRect(self.cell_rect(*place).adjusted(0, 0, -1, -1))

    # -- the user --------------------------------------------------------------------------------

    def words(self, place: Place | None) -> str:
        """ "4 of 34 rows of 8 were taken for 9"."""
        if place is None:
            return ""
        row, column = place
        count, total = int(self._counts[row, column]), int(self._counts[row].sum())
        rows = count_of(total, self.tr("row"))
        said = self.tr("{:,} of {} of class {} taken for {}")
        return said.format(count, rows, self._names[row], self._names[column])

    def _point(self, place: Place | None) -> None:
        if place != self._here:
            self._here = place
            self.setAccessibleDescription(self.words(place))
            self.hovered.emit(self.words(place))
            self.update()

    def _choose(self, place: Place | None) -> None:
        """That cell, or all where it is chosen already."""
        if place is None or place == self._framed():
            self.chosen.emit(None)
        else:
            self.chosen.emit((self._classes[place[0]], self._classes[place[1]]))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(self.place_at(event.position().toPoint()))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._choose(self.place_at(event.position().toPoint()))

    def leaveEvent(self, event: QEvent) -> None:
        self._point(None)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move; Enter chooses, Escape chooses all."""
        key, last = event.key(), len(self._classes) - 1
        moves = {
            Qt.Key.Key_Up: (-1, 0),
            Qt.Key.Key_Down: (1, 0),
            Qt.Key.Key_Left: (0, -1),
            Qt.Key.Key_Right: (0, 1),
        }
        if last >= 0 and key in moves:
            row, column = self._here or (0, 0)
            down, across = moves[Qt.Key(key)] if self._here else (0, 0)
            self._point((min(max(row + down, 0), last), min(max(column + across, 0), last)))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._here is not None:
            self._choose(self._here)
        elif key == Qt.Key.Key_Escape and self._chosen is not None:
            self._choose(None)
        else:
            super().keyPressEvent(event)


def class_name(seen: Classified, number: int) -> str:
    """What the data calls a class, or its number; "?" for an output that is not finite."""
    if number < 0:
        return "?"
    return seen.names[number] if number < len(seen.names) else str(number)
