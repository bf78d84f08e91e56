"""The branches of a session as a tree: each in its colour, below the one that it leaves."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradstep.core.protocol.branch_queries import StandInfo, current_branch, in_tree, standing_text
from gradstep.core.protocol.messages import BranchInfo
from gradstep.core.visible_text import visible
from gradstep.gui.look.branch_colors import branch_colors
from gradstep.gui.look.plain_text import show_tip
from gradstep.gui.look.theme import SMALL, sans
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_PITCH, _TOP, _INDENT, _DOT = 22, 6, 16, 4
_WIDTH = 248  # pixels


class BranchTree(QWidget):
    """asked(name): it was clicked, or Enter pressed on it. menu_asked(name, place): its menu."""

    asked = Signal(str)
    menu_asked = Signal(str, QPoint)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("timeline.branches")
        self.setAccessibleName(self.tr("Branches"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self._theme = theme
        self._branches: Sequence[BranchInfo] = ()
        self._rows: list[tuple[BranchInfo, int]] = []
        self._first = self._row = 0  # the row on top, and the one that keys are about
        self.hide()

    def show_branches(self, branches: Sequence[BranchInfo]) -> None:
        """All that there are; of one alone nothing is said."""
        self._branches, self._rows = branches, [*in_tree(branches)]
        names = [branch.name for branch, _ in self._rows]
        current = current_branch(branches)
        self._go(names.index(current) if current else 0)
        self.setVisible(len(branches) > 1)

    def row_at(self, point: QPoint) -> int | None:
        """The number of the row under a point."""
        row = (point.y() - _TOP) // _PITCH + self._first
        return row if 0 <= row < len(self._rows) else None

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH, 3 * _PITCH)

    def minimumSizeHint(self) -> QSize:
        return QSize(140, 2 * _PITCH)

    # -- painting ------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.fillRect(QRect(0, 0, 1, self.height()), theme.line)
        colors = branch_colors(theme, self._branches)
        for number, (branch, _) in enumerate(self._rows):
            if branch.current:
                painter.fillRect(self._room(number).adjusted(0, 1, 0, -1), theme.selected_row)
        self._paint_lines(painter, colors)
        for number, (branch, depth) in enumerate(self._rows):
            room = self._room(number)
            if number == self._row and self.hasFocus():
                painter.setPen(theme.selection)
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(room.adjusted(0, 1, -1, -2))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colors[branch.name])
            painter.drawEllipse(self._dot(number, depth), _DOT, _DOT)
            self._paint_words(painter, branch, room.adjusted(self._indent(depth) + 12, 0, -8, 0))

    def _paint_lines(self, painter: QPainter, colors: dict[str, QColor]) -> None:
        """From each to the one that it leaves."""
        places = {branch.name: (i, depth) for i, (branch, depth) in enumerate(self._rows)}
        for branch, _ in self._rows:
            if branch.parent in places:
                start, end = self._dot(*places[branch.parent]), self._dot(*places[branch.name])
                painter.setPen(QPen(colors[branch.name], 1.5))
                painter.drawLine(start, QPointF(start.x(), end.y()))
                painter.drawLine(QPointF(start.x(), end.y()), end)

    def _paint_words(self, painter: QPainter, branch: BranchInfo, room: QRect) -> None:
        """Its name, and behind it what was given there."""
        theme, font = self._theme(), sans(SMALL + 1, branch.current)
        metrics, elide = QFontMetrics(font), Qt.TextElideMode.ElideRight
        name = metrics.elidedText(visible(branch.name), elide, room.width())
        painter.setFont(font)
        painter.setPen(theme.text)
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, name)
        left = room.adjusted(metrics.horizontalAdvance(name) + 10, 0, 0, 0)
        font = sans(SMALL)
        painter.setFont(font)
        painter.setPen(theme.muted)
        text = QFontMetrics(font).elidedText(visible(branch.text), elide, max(left.width(), 0))
        painter.drawText(left, Qt.AlignmentFlag.AlignVCenter, text)

    def _room(self, number: int) -> QRect:
        return QRect(1, _TOP + (number - self._first) * _PITCH, self.width(), _PITCH)

    def _indent(self, depth: int) -> int:
        return 16 + depth * _INDENT

    def _dot(self, number: int, depth: int) -> QPointF:
        return QPointF(self._indent(depth), self._room(number).center().y() + 0.5)

    # -- the user ------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        row = self.row_at(event.position().toPoint())
        if row is not None and event.button() is Qt.MouseButton.LeftButton:
            self._go(row)
            self.asked.emit(self._rows[row][0].name)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        row = self._row if event.reason() is QContextMenuEvent.Reason.Keyboard else None
        row = self.row_at(event.pos()) if row is None else row
        if row is not None:
            self._go(row)
            self.menu_asked.emit(self._rows[row][0].name, event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()))
        if step is not None:
            self._go(self._row + step)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space) and self._rows:
            self.asked.emit(self._rows[self._row][0].name)
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        step = -1 if event.angleDelta().y() > 0 else 1
        self._first = max(0, min(self._first + step, len(self._rows) - self._fitting))
        self.update()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            row = self.row_at(event.pos())
            show_tip(event.globalPos(), "" if row is None else tip_of(self._rows[row][0]), self)
            return True
        return super().event(event)

    @property
    def _fitting(self) -> int:
        """How many rows are in view."""
        return max(1, (self.height() - _TOP) // _PITCH)

    def _go(self, row: int) -> None:
        """Let keys be about another row, in view."""
        self._row = max(0, min(row, len(self._rows) - 1))
        last = max(len(self._rows) - self._fitting, 0)
        self._first = max(min(self._first, self._row, last), self._row - self._fitting + 1)
        if self._rows:
            branch = self._rows[self._row][0]
            self.setAccessibleDescription(f"{branch.name}: {tip_of(branch)}")
        self.update()


def tip_of(branch: BranchInfo) -> str:
    """Where it leaves which, what was given there, and where it stands; of several threads, in
    which, and where the others do."""
    place = _place(branch.at_run, branch.at_step, branch.stands)
    if not branch.parent:
        return f"what the document runs; stands {place}"
    leaves = f"leaves {branch.parent} {_place(branch.run, branch.step, branch.left)}"
    given = f", with {branch.text}" if branch.text else ""
    return f"{leaves}{given}; stands {place}"


def _place(run: int, step: int, stands: Sequence[StandInfo]) -> str:
    return f"in {standing_text(stands, place_words)}" if stands else f"at {place_words(run, step)}"


def place_words(run: int, step: int) -> str:
    """As everywhere, runs are counted from 1, and so is the step that comes next."""
    return f"run {run + 1}, step {step + 1}"
