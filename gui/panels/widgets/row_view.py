"""How a tree of rows looks and behaves: label left, detail right, groups that fold."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import (
    QItemSelection,
    QItemSelectionModel,
    QModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFont, QFontMetrics, QKeyEvent, QMouseEvent, QPainter
from PySide6.QtWidgets import (
    QAbstractItemView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
)

from gradstep.core.visible_text import visible
from gradstep.gui.look.theme import Theme, mono, sans
from gradstep.gui.panels.widgets import panel_marks
from gradstep.gui.panels.widgets.row_list import Row
from gradstep.gui.panels.widgets.row_tree import Index, RowRole, RowTreeModel
from gradstep.gui.panels.widgets.small_labels import ThemeSource

ROW_HEIGHT = 24
_MARGIN = 12
_GAP = 8
_READABLE = 24  # pixels; of less nothing could be read
READ = 400  # rows that are opened at once
_MARK = 16  # room for the fold arrow or the problem sign


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
        theme = self._view.theme
        painter.save()
        line = QRect(0, option.rect.y(), self._view.viewport().width(), option.rect.height())
        panel_marks.row_state(painter, line, option.state, theme)
        room = QRect(option.rect)
        room.setLeft(room.left() + _MARGIN)
        room.setRight(line.right() - _MARGIN)
        self._paint_mark(painter, row, index, room)
        self._paint_detail(painter, row, room)
        font = sans(strong=row.heading)
        painter.setFont(font)
        strong = (row.heading and row.open) or option.state & QStyle.StateFlag.State_Selected
        painter.setPen(theme.text if strong else theme.muted)
        label = _elided(row.label, font, Qt.TextElideMode.ElideMiddle, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, label)
        painter.restore()

    def _paint_mark(self, painter: QPainter, row: Row, index: Index, room: QRect) -> None:
        """The fold arrow of a group, or the sign of a problem, at the right end."""
        theme = self._view.theme
        place = QRect(room.right() - 11, room.y(), 12, room.height())
        if row.children and not (row.heading and row.open and self._view.isExpanded(index)):
            panel_marks.fold_arrow(painter, place, self._view.isExpanded(index), theme)
            room.setRight(room.right() - _MARK)
        elif row.problem:
            panel_marks.problem_sign(painter, place, theme)
            room.setRight(room.right() - _MARK)

    def _paint_detail(self, painter: QPainter, row: Row, room: QRect) -> None:
        if not row.detail:
            return
        theme = self._view.theme
        font = mono(12)
        label = _advance(row.label, sans(strong=row.heading))
        least = 0 if row.yields else room.width() // 3
        width = max(room.width() - label - _GAP - 2, least)  # 2: glyphs that stand out
        if width < _READABLE:
            return
        text = _elided(row.detail, font, Qt.TextElideMode.ElideRight, width)
        painter.setFont(font)
        painter.setPen(theme.tone(row.tone))
        right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(room, right, text)
        room.setRight(room.right() - _advance(text, font) - _GAP)


_fitted: dict[tuple[str, str, Qt.TextElideMode, int], str] = {}  # texts in their room
_advances: dict[tuple[str, str], int] = {}  # pixels, of texts in fonts


def _elided(text: str, font: QFont, elide: Qt.TextElideMode, width: int) -> str:
    """As much of a text as there is room for. Rows are painted again and again, with every move."""
    key = text, font.key(), elide, width
    if (found := _fitted.get(key)) is None:
        if len(_fitted) >= READ:
            _fitted.clear()
        found = _fitted[key] = QFontMetrics(font).elidedText(visible(text), elide, width)
    return found


def _advance(text: str, font: QFont) -> int:
    """How wide a text is, in pixels."""
    key = text, font.key()
    if (found := _advances.get(key)) is None:
        if len(_advances) >= READ:
            _advances.clear()
        found = _advances[key] = QFontMetrics(font).horizontalAdvance(text)
    return found


class RowTree(QTreeView):
    """A tree of rows that keeps its folds and selection when the rows are replaced.

    chosen(names): the user selected these rows. activated_row(row): double click or Enter."""

    chosen = Signal(object)
    activated_row = Signal(object)

    def __init__(self, theme: ThemeSource, mime_type: str = "") -> None:
        super().__init__()
        self._theme = theme
        self.rows = RowTreeModel(mime_type)
        self.setModel(self.rows)
        self.setItemDelegate(RowDelegate(self))
        self._folds: dict[str, bool] = {}
        self._forced_open = False
        self._quiet = False
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
