"""A table of any number of elements: it knows of those in view, and Qt's headers of every row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from PySide6.QtCore import QEvent, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame

from gradstep.core.float_text import not_finite
from gradstep.core.graph.dtypes import DType
from gradstep.core.protocol.messages import TensorSlice
from gradstep.gui.look.plain_text import show_tip
from gradstep.gui.look.theme import SMALL, Tone, mono
from gradstep.gui.model import number_text
from gradstep.gui.model.view_choice import View
from gradstep.gui.panels.tensor.element_editor import ElementEditor
from gradstep.gui.panels.tensor.table_pages import Rectangle, TablePages
from gradstep.gui.panels.widgets.flat_table import ROW_HEIGHT, paint_text
from gradstep.gui.panels.widgets.small_labels import ThemeSource
from gradstep.gui.panels.widgets.table_cells import Cell

_MARGIN = 8
_WIDTHS = {"c": 208, "O": 240, "S": 240}  # pixels of a column, by the kind of its elements
_WIDTH = 112  # of "-1.23457e-05"
_MOST_STEPS = 2**31 - 1  # of a scroll bar
_MOVES = {
    Qt.Key.Key_Left: (0, -1),
    Qt.Key.Key_Right: (0, 1),
    Qt.Key.Key_Up: (-1, 0),
    Qt.Key.Key_Down: (1, 0),
}

Place = tuple[int, int]


class ElementGrid(QAbstractScrollArea):
    """Rows and columns with their indices. A QTableView keeps something for every row that there
    is, seen or not: gigabytes for 10^8.

    moved(row, column): the current cell is another. copied(): the selection is to be copied.
    changed(row, column, text): a cell is to hold something else, where `edits` says that it may.
    """

    moved = Signal(int, int)
    copied = Signal()
    changed = Signal(int, int, str)

    def __init__(self, theme: ThemeSource, pages: TablePages, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme, self._pages = theme, pages
        self._view: View | None = None
        self._tone: Tone = "text"
        self.marked: frozenset[tuple[int, ...]] = frozenset()
        self.current: Place = (0, 0)
        self._anchor: Place = (0, 0)
        self._column_width, self._header = _WIDTH, 56
        self.viewport().setMouseTracking(True)
        self.edits: Callable[[], bool] = lambda: False
        self._editor = ElementEditor(self.viewport(), self.setFocus)
        self._editor.entered.connect(lambda text: self.changed.emit(*self.current, text))

    # -- what it shows ---------------------------------------------------------------------------

    def show_view(self, part: TensorSlice, view: View, dtype: DType, tone: Tone) -> None:
        """The elements of a slice; the place stays, as far as there is one."""
        self._view, self._tone = view, tone
        self._pages.show(part, view.sizes, opaque=dtype is DType.RESOURCE)
        self._column_width = _WIDTHS.get(dtype.numpy.kind, _WIDTH)
        self.current = self._within(self.current)
        self._anchor = self.current
        self._measure()
        self.refresh()

    def clear(self) -> None:
        """There is nothing to show."""
        self._view = None
        self._pages.show(TensorSlice(ref=""), (0,))
        self._measure()
        self.refresh()

    def index_of(self, row: int, column: int) -> tuple[int, ...]:
        """Where a cell lies in the tensor."""
        return () if self._view is None else self._view.index_at(row, column)

    def refresh(self) -> None:
        """More was read: paint it."""
        self._describe()
        self.viewport().update()

    def go_to(self, row: int, column: int) -> None:
        """Make a cell the current one, in view."""
        self._move((row, column), extend=False)

    def cell(self, row: int, column: int) -> Cell:
        """How an element is shown, "…" while it is on its way. Zeros are faint, and what is no
        number stands out."""
        value = self._pages.value(row, column)
        if value is None:
            return Cell("…", "faint", code=True, right=True)
        marked = bool(self.marked) and self.index_of(row, column) in self.marked
        wrong = isinstance(value, float | np.floating) and bool(not_finite(value))
        zero = isinstance(value, np.number | np.bool_) and not value
        tone: Tone = "problem" if wrong or marked else "faint" if zero else self._tone
        fill: Any = "problem_fill" if wrong or marked else ""
        text = number_text.exact(value)
        return Cell(text, tone, code=True, strong=wrong or marked, right=True, fill=fill)

    @property
    def selected(self) -> Rectangle:
        """The rectangle of cells that is chosen."""
        (row, column), (first, left) = self.current, self._anchor
        top, side = min(row, first), min(column, left)
        return Rectangle(top, abs(row - first) + 1, side, abs(column - left) + 1)

    @property
    def seen(self) -> Rectangle:
        """The cells in view, even in part."""
        row, column = self.verticalScrollBar().value(), self.horizontalScrollBar().value()
        rows = min(-(-self.viewport().height() // ROW_HEIGHT), self._pages.rows - row)
        columns = min(self._across() + 1, self._pages.columns - column)
        return Rectangle(row, rows, column, columns)

    # -- painting ----------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, seen = self._theme(), self.seen
        painter = QPainter(self.viewport())
        painter.fillRect(self.viewport().rect(), theme.panel)
        self._pages.want(seen)
        for row in range(seen.row, seen.row + seen.rows):
            for column in range(seen.column, seen.column + seen.columns):
                self._paint_cell(painter, row, column)
        self._paint_headers(painter, seen)

    def _paint_cell(self, painter: QPainter, row: int, column: int) -> None:
        theme, place, cell = self._theme(), self._place(row, column), self.cell(row, column)
        if cell.fill:
            painter.fillRect(place, theme.problem_fill)
        if self.selected.holds(row, column):
            painter.fillRect(place, theme.selected_row)
        painter.setPen(theme.line)
        painter.drawLine(place.bottomLeft(), place.bottomRight())
        if (row, column) == self.current and self.hasFocus():
            painter.setPen(theme.selection)
            painter.drawRect(place.adjusted(0, 0, -1, -1))
        paint_text(painter, place.adjusted(_MARGIN, 0, -_MARGIN, 0), cell, theme)

    def _paint_headers(self, painter: QPainter, seen: Rectangle) -> None:
        theme, width = self._theme(), self._header
        painter.setFont(mono(SMALL))
        painter.fillRect(QRect(0, 0, width, self.viewport().height()), theme.panel)
        painter.fillRect(QRect(0, 0, self.viewport().width(), ROW_HEIGHT), theme.panel)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        for row in range(seen.row, seen.row + seen.rows):
            place = QRect(0, self._place(row, 0).y(), width - _MARGIN, ROW_HEIGHT)
            painter.setPen(theme.text if row == self.current[0] else theme.muted)
            painter.drawText(place, right, self._row_label(row))
        painter.fillRect(QRect(0, 0, width, ROW_HEIGHT), theme.panel)
        for column in range(seen.column, seen.column + seen.columns):
            place = self._place(seen.row, column).adjusted(_MARGIN, 0, -_MARGIN, 0)
            place.moveTop(0)
            painter.setPen(theme.text if column == self.current[1] else theme.muted)
            painter.drawText(place, right, self._column_label(column))
        painter.setPen(theme.line)
        painter.drawLine(0, ROW_HEIGHT - 1, self.viewport().width(), ROW_HEIGHT - 1)
        painter.drawLine(width - 1, 0, width - 1, self.viewport().height())

    def _row_label(self, row: int) -> str:
        return "" if self._view is None else self._view.row_label(row)

    def _column_label(self, column: int) -> str:
        return "" if self._view is None else self._view.column_label(column)

    # -- where things are --------------------------------------------------------------------------

    def _place(self, row: int, column: int) -> QRect:
        x = self._header + (column - self.horizontalScrollBar().value()) * self._column_width
        y = (row - self.verticalScrollBar().value() + 1) * ROW_HEIGHT
        return QRect(x, y, self._column_width, ROW_HEIGHT)

    def _at(self, point: QPoint) -> Place | None:
        """The cell under a point."""
        down, across = point.y() - ROW_HEIGHT, point.x() - self._header
        if down < 0 or across < 0:
            return None
        row = self.verticalScrollBar().value() + down // ROW_HEIGHT
        column = self.horizontalScrollBar().value() + across // self._column_width
        inside = row < self._pages.rows and column < self._pages.columns
        return (row, column) if inside else None

    def _down(self) -> int:
        """Rows that are wholly in view."""
        return max(1, self.viewport().height() // ROW_HEIGHT - 1)

    def _across(self) -> int:
        return max(1, (self.viewport().width() - self._header) // self._column_width)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._measure()

    def _measure(self) -> None:
        rows, columns = self._pages.rows, self._pages.columns
        metrics = QFontMetrics(mono(SMALL))
        ends = (self._row_label(row) for row in (0, max(rows - 1, 0)) if rows)
        widest = max((metrics.horizontalAdvance(text) for text in ends), default=0)
        self._header = max(40, widest + 2 * _MARGIN)
        for bar, count, page in (
            (self.verticalScrollBar(), rows, self._down()),
            (self.horizontalScrollBar(), columns, self._across()),
        ):
            bar.setRange(0, min(max(count - page, 0), _MOST_STEPS))
            bar.setPageStep(page)

    # -- moving ------------------------------------------------------------------------------------

    def _within(self, place: Place) -> Place:
        rows, columns = self._pages.rows, self._pages.columns
        row, column = min(place[0], rows - 1), min(place[1], columns - 1)
        return max(row, 0), max(column, 0)

    def _move(self, place: Place, extend: bool) -> None:
        self.current = self._within(place)
        if not extend:
            self._anchor = self.current
        for bar, at, page in (
            (self.verticalScrollBar(), self.current[0], self._down()),
            (self.horizontalScrollBar(), self.current[1], self._across()),
        ):
            bar.setValue(max(min(bar.value(), at), at - page + 1))
        self.refresh()
        self.moved.emit(*self.current)

    def _describe(self) -> None:
        """What a screen reader says of the current cell."""
        if self._pages.rows:
            text = self.cell(*self.current).text
            self.setAccessibleDescription(f"{[*self.index_of(*self.current)]} = {text}")

    def select_all(self) -> None:
        self._anchor = (0, 0)
        self.current = self._within((self._pages.rows, self._pages.columns))
        self.refresh()

    def event(self, event: QEvent) -> bool:
        """F2 is for the cell here, and elsewhere for the name of the selected node."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            event.setAccepted(event.key() == Qt.Key.Key_F2)
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copied.emit()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.select_all()
        elif event.key() in (Qt.Key.Key_F2, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._edit()
        elif (place := self._target(event)) is not None:
            self._move(place, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))
        else:
            super().keyPressEvent(event)

    def _target(self, event: QKeyEvent) -> Place | None:
        """Where a key leads."""
        (row, column), rows, columns = self.current, self._pages.rows, self._pages.columns
        far = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        key = Qt.Key(event.key())
        if key in _MOVES:
            down, across = (n * (max(rows, columns) if far else 1) for n in _MOVES[key])
            return row + down, column + across
        return {
            Qt.Key.Key_PageUp: (row - self._down(), column),
            Qt.Key.Key_PageDown: (row + self._down(), column),
            Qt.Key.Key_Home: (0 if far else row, 0),
            Qt.Key.Key_End: (rows - 1 if far else row, columns - 1),
        }.get(key)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        place = self._at(event.position().toPoint())
        if place is not None and event.button() is Qt.MouseButton.LeftButton:
            self._move(place, bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._at(event.position().toPoint()) is not None:
            self._edit()

    def _edit(self) -> None:
        """Put a field over the current cell."""
        value = self._pages.value(*self.current)
        if value is not None and self.edits():
            self._editor.begin(self._place(*self.current), str(value))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        place = self._at(event.position().toPoint())
        if place is not None and event.buttons() & Qt.MouseButton.LeftButton:
            self._move(place, extend=True)

    def viewportEvent(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            place = self._at(event.pos())
            value = None if place is None else self._pages.value(*place)
            where = "" if place is None else [*self.index_of(*place)]
            show_tip(event.globalPos(), "" if value is None else f"{where} = {value}", self)
            return True
        return super().viewportEvent(event)
