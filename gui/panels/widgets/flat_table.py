"""The flat table of all panels: one-pixel lines, elided cells, colours of the theme."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QAbstractItemModel, QEvent, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QFont,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTableView,
)

from gradstep.core.visible_text import visible
from gradstep.gui.look.theme import BODY, Theme, mono, sans
from gradstep.gui.panels.widgets import panel_marks
from gradstep.gui.panels.widgets.flat_header import MARGIN, FlatHeader
from gradstep.gui.panels.widgets.small_labels import ThemeSource
from gradstep.gui.panels.widgets.sparkline import paint_sparkline
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel, CellRole, Index

ROW_HEIGHT = 24
_BOX = 24  # width of a check box and the gap after it


class CellDelegate(QStyledItemDelegate):
    """Paints a `Cell`; a click or Space on one with a box toggles it.

    painted: row and column -> what was painted there last."""

    def __init__(self, theme: ThemeSource, margin: int = MARGIN) -> None:
        super().__init__()
        self._theme, self._margin = theme, margin
        self.painted: dict[tuple[int, int], Cell] = {}

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        cell: Cell = index.data(CellRole)
        width = QFontMetrics(cell_font(cell)).horizontalAdvance(cell.text) + 2 * self._margin
        return QSize(width + (_BOX if cell.checked is not None else 0), ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, cell, rect = self._theme(), index.data(CellRole), QRect(option.rect)
        self.painted[index.row(), index.column()] = cell
        painter.save()
        self._paint_ground(painter, option, cell)
        painter.setPen(theme.line)
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        room = rect.adjusted(self._margin, 0, -4, 0)
        if cell.checked is not None:
            panel_marks.check_box(painter, room, cell.checked, theme)
            room.setLeft(room.left() + _BOX)
        if cell.sign:
            place = QRect(room.x(), room.y(), 14, room.height())
            panel_marks.problem_sign(painter, place, theme, cell.sign)
        elif cell.numbers:
            paint_sparkline(painter, room, cell.numbers, theme)
        else:
            paint_text(painter, room, cell, self._theme())
        painter.restore()

    def _paint_ground(self, painter: QPainter, option: QStyleOptionViewItem, cell: Cell) -> None:
        theme = self._theme()
        if cell.fill == "hatched":
            view = option.widget
            assert isinstance(view, QAbstractItemView)
            first = view.visualRect(view.model().index(0, 0))
            panel_marks.hatch(painter, option.rect, theme, first.topLeft())
        elif cell.fill:
            painter.fillRect(option.rect, theme.tone(cell.fill))
        panel_marks.row_state(painter, option.rect, option.state, theme, focus=False)

    def editorEvent(
        self,
        event: QEvent,
        model: QAbstractItemModel,
        option: QStyleOptionViewItem,
        index: Index,
    ) -> bool:
        cell: Cell | None = index.data(CellRole)
        if cell is None or cell.checked is None or not _toggles(event):
            return super().editorEvent(event, model, option, index)
        return model.setData(index, not cell.checked, Qt.ItemDataRole.CheckStateRole)


class FlatTable(QTableView):
    """A table without a grid. `widths`: one a column; the column `stretch` takes what is left.

    chosen(row): the user clicked a row or went to it by key. opened(row): double click, Enter."""

    chosen = Signal(int)
    opened = Signal(int)
    _stale = Signal()

    def __init__(
        self,
        theme: ThemeSource,
        model: QAbstractItemModel,
        name: str,
        widths: Sequence[int],
        stretch: int = -1,
        margin: int = MARGIN,
    ) -> None:
        super().__init__()
        self.setObjectName(name)
        self._theme = theme
        panel_marks.own_ground(self)
        self._is_stale = False  # what is in view may be something else now
        self._sharing: tuple[Sequence[int], int] = (), 0  # the columns that share, and the least
        self._stale.connect(self._look_again, Qt.ConnectionType.QueuedConnection)
        self._delegate = CellDelegate(theme, margin)
        self.setModel(model)
        self.setItemDelegate(self._delegate)
        self._set_headers(theme, margin)
        self.setShowGrid(False)
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setWordWrap(False)
        self.setMouseTracking(True)
        self.setTabKeyNavigation(False)
        self.setCornerButtonEnabled(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerItem)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.set_widths(widths, stretch)
        self.clicked.connect(lambda index: self.chosen.emit(index.row()))
        self.doubleClicked.connect(lambda index: self.opened.emit(index.row()))

    def _set_headers(self, theme: ThemeSource, margin: int) -> None:
        rows = FlatHeader(theme, Qt.Orientation.Vertical, margin)
        rows.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        rows.setDefaultSectionSize(ROW_HEIGHT)
        rows.hide()
        self.setVerticalHeader(rows)
        self.column_header = FlatHeader(theme, Qt.Orientation.Horizontal, margin)
        self.setHorizontalHeader(self.column_header)

    def set_widths(self, widths: Sequence[int], stretch: int = -1) -> None:
        columns = self.horizontalHeader()
        for column, width in enumerate(widths):
            self.setColumnWidth(column, width)
        if stretch >= 0:
            columns.setSectionResizeMode(stretch, QHeaderView.ResizeMode.Stretch)

    def fit_columns(self, widths: Mapping[int, int]) -> None:
        """Give columns other widths, before the table is painted: Qt paints it as it was, and what
        follows from the widths after that, all of it once more."""
        if all(self.columnWidth(column) == width for column, width in widths.items()):
            return
        header = self.column_header
        before = header.blockSignals(True)
        for column, width in widths.items():
            self.setColumnWidth(column, width)
        header.resizeSections()  # the one that takes what is left
        header.blockSignals(before)
        self.updateGeometries()
        self.viewport().update()
        header.viewport().update()

    def share_rest(self, columns: Sequence[int], least: int) -> None:
        """Have these columns share what the others leave, each at least `least` pixels wide."""
        self._sharing = columns, least
        self._fit_shares()

    def _fit_shares(self) -> None:
        columns, least = self._sharing
        others = (c for c in range(self.model().columnCount()) if c not in columns)
        rest = self.viewport().width() - sum(map(self.columnWidth, others))
        for column in columns:
            self.setColumnWidth(column, max(least, rest // len(columns)))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit_shares()

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] | None = None) -> None:
        """Of what is in view paint again what says something else. Qt would paint all of it. One
        look is enough for all changes that come together."""
        if not self._is_stale:
            self._is_stale = True
            self._stale.emit()

    def paintEvent(self, event: QPaintEvent) -> None:
        panel_marks.fill_ground(self, event, self._theme())
        super().paintEvent(event)

    def reset(self) -> None:
        self._delegate.painted = {}
        super().reset()

    def _look_again(self) -> None:
        if not self._is_stale:
            return
        self._is_stale = False
        if not self.isVisible():  # all is painted when it is shown
            return
        seen = range(self.rowAt(0), self._last_seen + 1)
        painted = {at: cell for at, cell in self._delegate.painted.items() if at[0] in seen}
        self._delegate.painted = painted
        model = self.model()
        for (row, column), cell in painted.items():
            if isinstance(model, CellModel) and row < model.count():
                now = model.cell(row, column)  # by way of Qt it takes as long again
            else:
                now = model.index(row, column).data(CellRole)
            if now != cell:
                index = model.index(row, column)
                super().dataChanged(index, index)

    @property
    def _last_seen(self) -> int:
        """The last row in view."""
        row = self.rowAt(self.viewport().height() - 1)
        return self.model().rowCount() - 1 if row < 0 else row

    def keyPressEvent(self, event: QKeyEvent) -> None:
        entered = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if entered and self.state() is not QAbstractItemView.State.EditingState:
            if self.currentIndex().isValid():
                self.opened.emit(self.currentIndex().row())
            return
        before = self.currentIndex()
        super().keyPressEvent(event)
        if self.currentIndex() != before and self.currentIndex().isValid():
            self.chosen.emit(self.currentIndex().row())


def paint_text(painter: QPainter, room: QRect, cell: Cell, theme: Theme) -> None:
    """The cell's text, elided to `room`."""
    font = cell_font(cell)
    painter.setFont(font)
    painter.setPen(theme.tone(cell.tone))
    text = elided(cell, QFontMetrics(font), room.width())
    side = Qt.AlignmentFlag.AlignRight if cell.right else Qt.AlignmentFlag.AlignLeft
    painter.drawText(room, side | Qt.AlignmentFlag.AlignVCenter, text)


def elided(cell: Cell, metrics: QFontMetrics, width: int) -> str:
    """The cell's text in so many pixels."""
    elide = Qt.TextElideMode.ElideMiddle if cell.name else Qt.TextElideMode.ElideRight
    text, ending = visible(cell.text), visible(cell.ending)
    if not ending:
        return metrics.elidedText(text, elide, width)
    if metrics.horizontalAdvance(text) <= width:
        return text
    left = width - metrics.horizontalAdvance(ending)
    start = metrics.elidedText(text.removesuffix(ending), Qt.TextElideMode.ElideRight, left)
    return f"{start}{ending}" if start else metrics.elidedText(text, elide, width)


def cell_font(cell: Cell) -> QFont:
    return mono(12, cell.strong) if cell.code else sans(BODY, cell.strong)


def _toggles(event: QEvent) -> bool:
    if isinstance(event, QMouseEvent):
        left = event.button() is Qt.MouseButton.LeftButton
        return left and event.type() is QEvent.Type.MouseButtonRelease
    return isinstance(event, QKeyEvent) and event.key() == Qt.Key.Key_Space
