"""The problems panel: what is wrong, where, and what to do; a click goes there.

Of NaN and infinity it lists the first of the run, and of gradients those that are zero; says why,
and leads to where that began. Of what a lint has found it has the edit that mends it, and an
example.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QRect, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QFont, QFontMetrics, QMouseEvent, QPainter
from PySide6.QtWidgets import QListView, QStyledItemDelegate, QStyleOptionViewItem

from gradstep.core.visible_text import visible
from gradstep.gui import commands
from gradstep.gui.look.theme import BODY, GRID, Tone, sans
from gradstep.gui.model.explanations import Explanations
from gradstep.gui.model.problem_rows import ProblemRow, current_problems
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.problems.finding_menu import finding_menu
from gradstep.gui.panels.problems.row_links import RowLink, links_of
from gradstep.gui.panels.widgets import panel_marks
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.table_cells import Index

BAD = ("nan", "inf", "zero")
_RowRole = Qt.ItemDataRole.UserRole
_LEFT, _RIGHT = 36, 12
_HAND = Qt.CursorShape.PointingHandCursor
_WRAP = int(Qt.TextFlag.TextWordWrap)


class ProblemModel(QAbstractListModel):
    """One row a problem."""

    def __init__(self, whys: Explanations) -> None:
        super().__init__()
        self.rows: list[ProblemRow] = []
        self._whys = whys

    def reason(self, row: ProblemRow) -> str:
        """What is known of why a number is as it is."""
        found = None if row.why is None else self._whys.known(*row.why)
        return found.text if found is not None and found.state in BAD else ""

    def show(self, rows: list[ProblemRow]) -> None:
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self.rows[index.row()]
        if role == _RowRole:
            return row
        spoken = Qt.ItemDataRole.AccessibleTextRole
        text = ". ".join(filter(None, (row.node, row.text, self.reason(row), row.fix)))
        return text if role in (Qt.ItemDataRole.DisplayRole, spoken) else None


class ProblemDelegate(QStyledItemDelegate):
    """Sign and node on the first line, then the text and, muted, what to do; all of it wrapped."""

    def __init__(self, panel: ProblemsPanel) -> None:
        super().__init__(panel)
        self._panel = panel

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        width = self._panel.list.viewport().width()
        heights = [rect.height() for _, _, _, rect in self._lines(index, width)]
        links = self.links(index, QRect(0, 0, width, 0))
        foot = links[-1].place.bottom() + 1 if links else GRID + sum(heights)
        return QSize(0, foot + GRID)  # a row is as wide as the list

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, row = self._panel.theme, index.data(_RowRole)
        painter.save()
        panel_marks.row_state(painter, option.rect, option.state, theme)
        painter.setPen(theme.line)
        painter.drawLine(option.rect.bottomLeft(), option.rect.bottomRight())
        sign = QRect(option.rect.x() + 12, option.rect.y() + GRID, 14, 18)
        panel_marks.problem_sign(painter, sign, theme, row.severity)
        top = option.rect.y() + GRID
        for text, font, tone, rect in self._lines(index, option.rect.width()):
            painter.setFont(font)
            painter.setPen(theme.tone(tone))
            painter.drawText(rect.translated(option.rect.x(), top), _WRAP, visible(text))
            top += rect.height()
        painter.setFont(sans())
        painter.setPen(theme.selection)
        for link in self.links(index, option.rect):
            painter.drawText(link.place, Qt.AlignmentFlag.AlignLeft, link.text)
        painter.restore()

    def links(self, index: Index, row: QRect) -> list[RowLink]:
        """What a row has besides leading to its node, where that is."""
        if not index.isValid():
            return []
        found = links_of(index.data(_RowRole), row.width() - _LEFT - _RIGHT)
        lines = self._lines(index, row.width()) if found else []
        left, top = row.x() + _LEFT, row.y() + GRID + sum(rect.height() for *_, rect in lines)
        return [replace(link, place=link.place.translated(left, top)) for link in found]

    def _lines(self, index: Index, width: int) -> list[tuple[str, QFont, Tone, QRect]]:
        """Each paragraph with its font, tone and room, whose top is 0."""
        row: ProblemRow = index.data(_RowRole)
        room = QRect(_LEFT, 0, max(width - _LEFT - _RIGHT, 40), 10_000)
        parts: tuple[tuple[str, QFont, Tone], ...] = (
            (row.node, sans(BODY, strong=True), "text"),
            (row.text, sans(), "text"),
            (self._panel.model.reason(row), sans(), "muted"),
            (row.fix, sans(), "muted"),
        )
        found = []
        for text, font, tone in parts:
            if text:
                rect = QFontMetrics(font).boundingRect(room, _WRAP, visible(text))
                found.append((text, font, tone, QRect(_LEFT, 0, room.width(), rect.height() + 1)))
        return found


class ProblemsPanel(Panel):
    """A click, or Enter, goes to the node."""

    title = "Problems"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "problems")
        self.model = ProblemModel(workspace.whys)
        self.list = QListView()
        self.list.setObjectName("problems.list")
        self.list.setAccessibleName(self.title)
        self.list.setFrameShape(QListView.Shape.NoFrame)
        self.list.setModel(self.model)
        self._delegate = ProblemDelegate(self)
        self.list.setItemDelegate(self._delegate)
        self.list.setResizeMode(QListView.ResizeMode.Adjust)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setMouseTracking(True)
        self.list.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.list.viewport().installEventFilter(self)
        self.list.installEventFilter(self)  # the menu key
        self.column.addWidget(self.list)
        self.list.clicked.connect(self._go)
        self.list.activated.connect(self._go)
        self.follow(
            self.refresh,
            workspace.document_changed,
            workspace.program_changed,
            workspace.stopped,
            workspace.table_changed,
            workspace.soundness.changed,
            workspace.values_changed,
            workspace.lints.changed,
        )
        self.follow(self._ask, workspace.whys.gave_way)
        workspace.whys.changed.connect(self.list.doItemsLayout)  # rows that say why are higher
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Collect what is wrong now."""
        rows = current_problems(self.workspace)
        if rows != self.model.rows:
            self.model.show(rows)
        self._ask()
        if rows:
            self.show_content()
        else:
            self.show_empty(
                self.tr(
                    "No problems. Shape errors, failed steps, wrong gradients and what looks like "
                    "a mistake appear here."
                )
            )

    def seen(self) -> None:
        super().seen()
        self._ask()

    def _ask(self) -> None:
        """Why the numbers are as they are, and what lints find, while somebody reads it."""
        if self.is_seen:
            self.workspace.lints.want()
        for row in self.model.rows if self.is_seen else ():
            if row.why is not None:
                self.workspace.whys.want(*row.why)

    def links(self, index: Index) -> list[RowLink]:
        """The row's links, and where they are in the list's viewport."""
        return self._delegate.links(index, self.list.visualRect(index))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The links in a row: a hand over them, and a click that does not go to the row's node."""
        if isinstance(event, QContextMenuEvent):
            return self._show_menu(self.list.currentIndex(), event)
        if isinstance(event, QMouseEvent) and watched is self.list.viewport():
            at = event.position().toPoint()
            index = self.list.indexAt(at)
            over = next((link for link in self.links(index) if link.place.contains(at)), None)
            shape = Qt.CursorShape.ArrowCursor if over is None else _HAND
            self.list.viewport().setCursor(shape)
            if over is not None and event.type() is QEvent.Type.MouseButtonRelease:
                self._follow(over, self.model.rows[index.row()])
            return over is not None and event.type() is not QEvent.Type.MouseMove
        return super().eventFilter(watched, event)

    def _show_menu(self, index: Index, event: QContextMenuEvent) -> bool:
        """Of a row that a lint has found, by mouse and by key."""
        if event.reason() is QContextMenuEvent.Reason.Mouse:
            index = self.list.indexAt(event.pos())
        finding = index.data(_RowRole).finding if index.isValid() else None
        if finding is not None:
            finding_menu(self.workspace, finding, self).popup(event.globalPos())
        return finding is not None

    def _follow(self, link: RowLink, row: ProblemRow) -> None:
        finding = row.finding
        if finding is None and link.kind == "try":
            self._try(row)
        elif finding is None:
            self._go_to_first(row)
        elif link.kind == "mend":
            commands.mend_finding(self.workspace, finding)
        elif link.kind == "try":
            commands.try_finding(self.workspace, finding)
        elif link.kind == "example":
            commands.show_example(self.workspace, finding.example)
        else:
            below = self.list.viewport().mapToGlobal(link.place.bottomLeft())
            finding_menu(self.workspace, finding, self).popup(below)

    def _try(self, row: ProblemRow) -> None:
        """What may mend the value, or the gradient, that the row is about."""
        space = self.workspace
        if row.why is not None:
            of, wrt = row.why
            space.whys.ask(
                of,
                wrt,
                lambda found: commands.try_repairs(space, found.text, found.remedies, of, wrt),
            )

    def _go_to_first(self, row: ProblemRow) -> None:
        space = self.workspace
        if row.why is not None and row.why[1]:
            space.whys.ask(*row.why, lambda found: commands.go_to_first(space, found))
        else:
            commands.go_to_first_broken(space)

    def _go(self, index: Index) -> None:
        node = self.model.rows[index.row()].node
        if node:
            commands.reveal(self.workspace, node)
