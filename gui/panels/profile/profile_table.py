"""How the costs of a run look as a table: groups that fold, bars of shares, a header that sorts."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import (
    QModelIndex,
    QPoint,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
    SignalInstance,
)
from PySide6.QtGui import (
    QContextMenuEvent,
    QFontMetrics,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPolygonF,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QMenu, QStyleOptionViewItem, QTreeView

from gradstep.gui.look.theme import SMALL, mix, sans
from gradstep.gui.model.cost_tree import Cost
from gradstep.gui.panels.profile.profile_model import (
    CALLS,
    KERNEL,
    MADE,
    NAME,
    NUMBERS,
    PHASE,
    SECONDS,
    SHARE,
    TITLES,
    TYPE,
    CostModel,
)
from gradstep.gui.panels.widgets import panel_marks
from gradstep.gui.panels.widgets.flat_header import HEIGHT, MARGIN, FlatHeader
from gradstep.gui.panels.widgets.flat_table import ROW_HEIGHT, CellDelegate, paint_text
from gradstep.gui.panels.widgets.small_labels import ThemeSource
from gradstep.gui.panels.widgets.table_cells import CellRole, Index

WIDTHS = {TYPE: 104, PHASE: 80, SECONDS: 88, SHARE: 56, CALLS: 56, MADE: 96, KERNEL: 80}
BAR = 64  # more, for the bars of the measured column
LEAST_NAME = 144
YIELDING = (CALLS, TYPE, KERNEL, PHASE, MADE, SECONDS)  # without room they go in this order
STEP, ARROW = 16, 16  # pixels for each group that a row is in, and for the fold arrow
NUMBER = 64  # room of the number beside the longest bar
GAP = 12  # between a number and the edge of its column
FEW = 64  # rows up to which groups are open at first
_DOWN, _UP = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder


class CostDelegate(CellDelegate):
    """A cell of a tree: indented by its groups; in the measured column a bar before the number."""

    def __init__(self, view: CostTable, theme: ThemeSource) -> None:
        super().__init__(theme)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(WIDTHS.get(index.column(), LEAST_NAME), ROW_HEIGHT)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, cell, rect = self._theme(), index.data(CellRole), QRect(option.rect)
        painter.save()
        self._paint_ground(painter, option, cell)
        painter.setPen(theme.line)
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        room = rect.adjusted(MARGIN, 0, -GAP if cell.right else -4, 0)
        if index.column() == NAME:
            room.setLeft(self._paint_fold(painter, index, rect))
        elif index.column() == self._view.bar_column:
            self._paint_bar(painter, index, room)
        paint_text(painter, room, cell, theme)
        painter.restore()

    def _paint_fold(self, painter: QPainter, index: Index, rect: QRect) -> int:
        """The arrow of a group; returns where the text begins."""
        arrow = self._view.arrow_room(index, rect)
        if self._view.model().hasChildren(index):
            panel_marks.fold_arrow(painter, arrow, self._view.isExpanded(index), self._theme())
        return arrow.right() + 5

    def _paint_bar(self, painter: QPainter, index: Index, room: QRect) -> None:
        """As long as the share, in the colours of the phases."""
        theme, model = self._theme(), self._view.costs
        cost = model.cost_at(index)
        assert cost is not None
        longest = max(room.width() - NUMBER, 0)
        bar = QRectF(room.x(), room.y() + 4, 0, room.height() - 9)
        for part in cost.phases or (cost,):
            share = model.share(part)
            bar.setWidth(max(longest * share, 1.0) if share else 0.0)
            tone = theme.muted if model.faded else theme.phase(part.phase)
            painter.fillRect(bar, mix(theme.panel, tone, 0.34))
            bar.moveLeft(bar.right())


class SortHeader(FlatHeader):
    """Numbers stand right; an arrow points at what the table is sorted by."""

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        theme = self._theme()
        here = self.sortIndicatorSection() == section
        painter.save()
        painter.fillRect(rect, theme.panel)
        painter.setPen(theme.line)
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        text = str(self.model().headerData(section, self.orientation()) or "")
        right = section in NUMBERS
        room = rect.adjusted(self._margin, 0, -GAP if right else -4, 0)
        metrics = QFontMetrics(sans(SMALL, here))
        width = metrics.horizontalAdvance(text)
        painter.setFont(sans(SMALL, here))
        painter.setPen(theme.text if here else theme.muted)
        side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, side | Qt.AlignmentFlag.AlignVCenter, text)
        if here:
            x = room.right() - width - 10 if right else room.left() + width + 10
            self._paint_arrow(painter, QPointF(x, rect.center().y() + 0.5))
        painter.restore()

    def _paint_arrow(self, painter: QPainter, at: QPointF) -> None:
        tip = 2.0 if self.sortIndicatorOrder() is _DOWN else -2.0
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setBrush(painter.pen().color())
        painter.setPen(Qt.PenStyle.NoPen)
        corners = (QPointF(-3.5, -tip), QPointF(3.5, -tip), QPointF(0, tip))
        painter.drawPolygon(QPolygonF([at + corner for corner in corners]))


class CostTable(QTreeView):
    """chosen(Cost): the user clicked a row or went to it by key. opened(Cost): double click,
    Enter."""

    chosen = Signal(object)
    opened = Signal(object)

    def __init__(self, theme: ThemeSource, costs: CostModel) -> None:
        super().__init__()
        self.costs = costs
        self.setObjectName("profile.table")
        self.setAccessibleName(self.tr("Costs of the operations"))
        self.setModel(costs)
        self._delegate = CostDelegate(self, theme)
        self.setItemDelegate(self._delegate)
        self._folds: dict[str, bool] = {}
        self._has_kernels = False
        self._set_up_header(SortHeader(theme, Qt.Orientation.Horizontal))
        self.setRootIsDecorated(False)
        self.setIndentation(0)  # the delegate indents, so that rows are one band
        self.setUniformRowHeights(True)
        self.setFrameShape(QTreeView.Shape.NoFrame)
        self.setExpandsOnDoubleClick(False)
        self.setAllColumnsShowFocus(True)
        self.setMouseTracking(True)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.expanded.connect(lambda index: self._remember(index, True))
        self.collapsed.connect(lambda index: self._remember(index, False))

    def _set_up_header(self, header: SortHeader) -> None:
        self.setHeader(header)
        header.setStretchLastSection(False)
        header.setSectionsClickable(True)
        header.setSortIndicator(SECONDS, _DOWN)
        header.setFixedHeight(HEIGHT)
        self.setSortingEnabled(True)

    @property
    def bar_column(self) -> int:
        """The column of what shares are of."""
        return SECONDS if self.costs.by == "time" else MADE

    def show_costs(self, costs: Sequence[Cost], by: str) -> None:
        """Other costs; groups are folded as the user left them, small ones open at first."""
        chosen = self.costs.cost_at(self.currentIndex())
        before = self.bar_column
        self.costs.show(costs, by)
        if self.bar_column != before == self.header().sortIndicatorSection():
            self.sortByColumn(self.bar_column, _DOWN)
        self._has_kernels = any(cost.kernel for cost, _ in self.costs.indexes())
        self.fit_columns()
        few = sum(len(cost.children) or 1 for cost in costs) <= FEW
        for cost, index in self.costs.indexes():
            if cost.children and self._folds.get(cost.key, few and len(cost.children) <= FEW):
                self.setExpanded(index, True)
            if chosen is not None and cost.key == chosen.key:
                self.setCurrentIndex(index)

    def sort_by(self, column: int) -> None:
        """Sort by a column: numbers from the largest, words from A; again: the other way round."""
        header = self.header()
        first = _DOWN if column in NUMBERS else _UP
        again = header.sortIndicatorSection() == column
        turned = _UP if header.sortIndicatorOrder() is _DOWN else _DOWN
        self.sortByColumn(column, turned if again else first)

    def show_name(self, name: str) -> None:
        """Go to a forward operation, unless the current row is about it already."""
        here = self.costs.cost_at(self.currentIndex())
        if here is not None and here.names == (name,):
            return
        found = self.costs.find(name)
        self.setCurrentIndex(found)
        if found.isValid():
            self.scrollTo(found)

    def arrow_room(self, index: Index, rect: QRect) -> QRect:
        """Where the fold arrow of a row is, in the rectangle of its first cell."""
        left = rect.x() + MARGIN - 4 + STEP * self.costs.depth_of(index)
        return QRect(left, rect.y(), ARROW - 4, rect.height())

    def _remember(self, index: QModelIndex, open: bool) -> None:
        cost = self.costs.cost_at(index)
        if cost is not None:
            self._folds[cost.key] = open

    # -- the user ----------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        index = self.indexAt(event.position().toPoint())
        if self._is_on_arrow(index, event.position().toPoint()):
            self.setExpanded(index, not self.isExpanded(index))
            return
        super().mousePressEvent(event)
        if index.isValid():
            self._announce(self.chosen)

    def _is_on_arrow(self, index: QModelIndex, at: QPoint) -> bool:
        if not index.isValid() or index.column() != NAME or not self.costs.hasChildren(index):
            return False
        return at.x() <= self.arrow_room(index, self.visualRect(index)).right() + 2

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.indexAt(event.position().toPoint()).isValid():
            self._announce(self.opened)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._announce(self.opened)
            return
        before = self.currentIndex()
        super().keyPressEvent(event)
        if self.currentIndex() != before:
            self._announce(self.chosen)

    def _announce(self, signal: SignalInstance) -> None:
        cost = self.costs.cost_at(self.currentIndex())
        if cost is not None:
            signal.emit(cost)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """What a click on the header does, without a mouse."""
        self.sort_menu().popup(event.globalPos())

    def sort_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for column, title in enumerate(TITLES):
            action = menu.addAction(self.tr("Sort by {}").format(title))
            action.triggered.connect(lambda _=False, column=column: self.sort_by(column))
        return menu

    # -- columns -------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit_columns()

    def fit_columns(self) -> None:
        """The names take what the other columns leave; where that is too little, columns go, and
        then the bars."""
        room, bar = self.viewport().width() - LEAST_NAME, self.bar_column
        widths = {**WIDTHS, bar: WIDTHS[bar] + BAR, KERNEL: WIDTHS[KERNEL] * self._has_kernels}
        for column in YIELDING:
            if sum(widths.values()) > room and column != bar:
                widths[column] = 0
        if sum(widths.values()) > room:
            widths[bar] = WIDTHS[bar]
        for column, width in widths.items():
            self.setColumnHidden(column, not width)
            self.setColumnWidth(column, width)
        self.setColumnWidth(NAME, LEAST_NAME + max(0, room - sum(widths.values())))
