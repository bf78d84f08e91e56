"""How a tree of rows looks and behaves: label left, detail right, groups that fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
)

from gradstep.core.visible_text import visible
from gradstep.gui.look.theme import Theme, mono, sans
from gradstep.gui.panels.widgets import panel_marks
from gradstep.gui.panels.widgets.row_list import Row
from gradstep.gui.panels.widgets.row_tree import DraggedRowTreeModel, Index, RowRole, RowTreeModel
from gradstep.gui.panels.widgets.small_labels import ThemeSource

ROW_HEIGHT = 24
_MARGIN = 12
_GAP = 8
_READABLE = 24  # pixels; of less nothing could be read
READ = 400  # rows that are opened at once
_MARK = 16  # room for the fold arrow or the problem sign
_DETAIL = 12  # pixels: the size of what stands on the right
# Or-ing them for each row is slow.
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


class RowDelegate(QStyledItemDelegate):
    """Paints one row; every text is elided to the room there is."""

    def __init__(self, view: RowTree) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(0, ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = self._view.rows.row_at(index)
        if row is None:
            return
        theme, state, rect = self._view.theme, option.state, option.rect
        top, height, end = rect.y(), rect.height(), self._view.viewport().width()
        painter.save()
        panel_marks.row_state(painter, QRect(0, top, end, height), state, theme)
        left, end = rect.x() + _MARGIN, end - _MARGIN
        if self._paint_mark(painter, row, index, QRect(end - 12, top, 12, height)):
            end -= _MARK
        words = _fitted(row.label, row.detail, row.heading, row.yields, end - left)
        if words.detail:
            painter.setFont(mono(_DETAIL))
            painter.setPen(theme.tone(row.tone))
            painter.drawText(QRect(left, top, end - left, height), _RIGHT, words.detail)
        painter.setFont(sans(strong=row.heading))
        strong = (row.heading and row.open) or panel_marks.is_selected(state)
        painter.setPen(theme.text if strong else theme.muted)
        painter.drawText(QRect(left, top, words.room, height), _LEFT, words.label)
        painter.restore()

    def _paint_mark(self, painter: QPainter, row: Row, index: Index, place: QRect) -> bool:
        """The fold arrow of a group, or the sign of a problem, if it has one: at the right end."""
        theme = self._view.theme
        if row.children and not (row.heading and row.open and self._view.isExpanded(index)):
            panel_marks.fold_arrow(painter, place, self._view.isExpanded(index), theme)
            return True
        if row.problem:
            panel_marks.problem_sign(painter, place, theme)
        return bool(row.problem)


class _Words(NamedTuple):
    """A row's texts as they fit. room: pixels for the label; detail: "" where there is no room."""

    label: str
    room: int
    detail: str


@lru_cache(READ)  # rows are painted again and again, with every move
def _fitted(label: str, detail: str, heading: bool, yields: bool, room: int) -> _Words:
    """The texts of a row, with so many pixels for both."""
    font = QFontMetrics(sans(strong=heading))
    if detail:
        small = QFontMetrics(mono(_DETAIL))
        least = 0 if yields else room // 3
        width = max(room - font.horizontalAdvance(label) - _GAP - 2, least)  # 2: glyphs stand out
        detail = _elided(detail, small, Qt.TextElideMode.ElideRight, width)
        detail = detail if width >= _READABLE else ""
        room -= small.horizontalAdvance(detail) + _GAP if detail else 0
    return _Words(_elided(label, font, Qt.TextElideMode.ElideMiddle, room), room, detail)


def _elided(text: str, font: QFontMetrics, elide: Qt.TextElideMode, width: int) -> str:
    """As much of a text as there is room for."""
    return font.elidedText(visible(text), elide, width)


class RowTree(QTreeView):
    """A tree of rows that keeps its folds and selection when the rows are replaced.

    chosen(names): the user selected these rows. activated_row(row): double click or Enter."""

    chosen = Signal(object)
    activated_row = Signal(object)

    def __init__(self, theme: ThemeSource, mime_type: str = "") -> None:
        super().__init__()
        self._theme = theme
        self.rows = DraggedRowTreeModel(mime_type) if mime_type else RowTreeModel()
        self.setModel(self.rows)
        self.setItemDelegate(RowDelegate(self))
        self._folds: dict[str, bool] = {}
        self._forced_open = False
        self._quiet = False
        panel_marks.own_ground(self)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(8)
        self.setUniformRowHeights(True)
        self.setFrameShape(QTreeView.Shape.NoFrame)
        self.setExpandsOnDoubleClick(False)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        if mime_type:
            self.setDragEnabled(True)
            self.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
            self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.selectionModel().selectionChanged.connect(self._announce)
        self.expanded.connect(lambda index: self._remember(index, True))
        self.collapsed.connect(lambda index: self._remember(index, False))
        self.doubleClicked.connect(self._activate)

    @property
    def theme(self) -> Theme:
        return self._theme()

    def set_rows(self, rows: Sequence[Row], forced_open: bool = False) -> None:
        """Show `rows`; folds are as the user left them, or all open while filtering, as far as
        anybody reads on."""
        selected = self.selected_names()
        self._quiet = True
        was_forced = self._forced_open
        if forced_open or was_forced:
            self.rows.reset(rows)
            changed = True
        else:
            changed = self.rows.set_rows(rows)
        self._forced_open = forced_open
        if forced_open or was_forced:
            self._unfold(QModelIndex(), READ if forced_open else 0)
        elif changed:
            self._open([*self.rows.groups_that_came()], 0)
        self._quiet = False
        if changed:
            self.select_names(selected)

    def _unfold(self, parent: QModelIndex, room: int) -> int:
        """Open the groups below one row that are to be open. room: for how many rows more they all
        are. Returns how many rows of that are left."""
        return self._open(self.rows.groups(parent), room)

    def _open(self, groups: Iterable[tuple[Row, QModelIndex]], room: int) -> int:
        """Those of some groups that are to be open, and what is in them; as `_unfold`."""
        quiet, self._quiet = self._quiet, True
        for row, index in groups:
            if room > 0 or self._folds.get(row.key, row.open):
                self.setExpanded(index, True)
                room = self._unfold(index, room - len(row.children))
        self._quiet = quiet
        return room

    def selected_names(self) -> list[str]:
        rows = [index.data(RowRole) for index in self.selectionModel().selectedIndexes()]
        return [row.name for row in rows if row.name]

    def select_names(self, names: Iterable[str], reveal: bool = False) -> None:
        """Select the rows of these names, without announcing it."""
        wanted = set(names)
        chosen = QItemSelection()
        first: QModelIndex | None = None
        for start, end in self.rows.ranges(wanted) if wanted else ():
            chosen.select(start, end)
            first = first or start
        self._quiet = True
        self.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if first is not None:
            self.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
            if reveal:
                self.scrollTo(first)
        self._quiet = False

    def current_row(self) -> Row | None:
        return self.rows.row_at(self.currentIndex())

    def paintEvent(self, event: QPaintEvent) -> None:
        panel_marks.fill_ground(self, event, self.theme)
        super().paintEvent(event)

    def drawBranches(self, painter: QPainter, rect: QRect, index: Index) -> None:
        """Nothing: the fold arrow is at the right end of the row."""

    # -- the user ----------------------------------------------------------------------------

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentIndex().isValid():
            self._activate(self.currentIndex())
            return
        super().keyPressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        row = self.rows.row_at(index)
        if row is not None and row.children and event.button() == Qt.MouseButton.LeftButton:
            self.setExpanded(index, not self.isExpanded(index))

    def _activate(self, index: Index) -> None:
        row = self.rows.row_at(index)
        if row is None:
            return
        if row.name:
            self.activated_row.emit(row)
        elif row.children:
            self.setExpanded(index, not self.isExpanded(index))

    def _announce(self) -> None:
        if not self._quiet:
            self.chosen.emit(self.selected_names())

    def _remember(self, index: QModelIndex, open: bool) -> None:
        row = self.rows.row_at(index)
        if row is not None and not self._quiet:
            self._folds[row.key] = open
            if open:  # what is in it was not looked into before
                self._unfold(index, 0)
