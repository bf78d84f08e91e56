"""The bars of the timeline: one a run, a cell a step, coloured by phase, with the cursor."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gradstep.core.protocol.messages import BranchInfo
from gradstep.gui.look.branch_colors import branch_colors
from gradstep.gui.look.count_text import count_of
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import SMALL, mix, sans
from gradstep.gui.panels.timeline.timeline_rows import Rows
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_LEFT, _RIGHT = 64, 16
_TOP, _BAR, _PITCH = 8, 14, 24
MOST = 3  # bars shown at a time at most; the wheel brings the others
_CAPTION = 20
_NARROW = 5.0  # pixels; cells narrower than that are drawn as one


class RunBars(QWidget):
    """asked(run, step): the user clicked or dragged to a place. moved(delta): arrow keys."""

    asked = Signal(int, int)
    moved = Signal(int)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("timeline.bars")
        self.setAccessibleName(self.tr("Runs and their steps"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self._batch = ""
        self._say()
        self._theme = theme
        self._rows: Rows | None = None
        self._captions: dict[str, str] = {}
        self._run = self._step = self._first = self._earliest = 0
        self._most = MOST  # bars
        self._reached: list[int] = [0]  # for each run, the steps recorded
        self._dragged: tuple[int, int] | None = None
        self._thread = ""
        self._branches: Sequence[BranchInfo] = ()

    def show_rows(self, rows: Rows, captions: dict[str, str]) -> None:
        """The cells of every run, and a caption for the stretches of each phase, with {} for the
        number of their operations."""
        self._rows, self._captions = rows, captions
        self.update()

    def show_position(
        self, run: int, step: int, reached: Sequence[int], batch: str = "", earliest: int = 0
    ) -> None:
        """Where the cursor is, how many steps of each run are recorded, and what this one is fed
        of data. earliest: the first run that can be gone to: none before it is drawn."""
        self._run, self._step, self._reached = run, step, list(reached)
        self._earliest = earliest
        self._scroll_to(min(max(self._first, run - self._most + 1), run))
        said = f", {batch}" if batch else ""
        self.setAccessibleDescription(f"run {run + 1}{said}, {step} of {self.steps} steps done")
        if batch != self._batch:
            self._batch = batch
            self._say()
        self.updateGeometry()
        self.update()

    def give_room(self, height: int) -> None:
        """Show as many bars as there is room for in so many pixels, but one at least."""
        most = max(1, min((height - _TOP - _CAPTION) // _PITCH, MOST))
        if most != self._most:
            self._most = most
            self._scroll_to(min(max(self._first, self._run - most + 1), self._run))
            self.updateGeometry()
            self.update()

    def _scroll_to(self, first: int) -> None:
        """Show the bars from run `first` on, or from as near to it as there are some."""
        self._first = max(min(first, len(self._reached) - self._most), self._earliest)

    def _say(self) -> None:
        how = self.tr("Click or drag to go to a step; the wheel shows other runs")
        fed = (
            self.tr("Run {} is fed {}. ").format(self._run + 1, self._batch) if self._batch else ""
        )
        self.setToolTip(plain(fed + how))

    def show_branches(self, branches: Sequence[BranchInfo], thread: str = "") -> None:
        """Those that there are: the runs of the one that is shown are marked in its colour from
        where it leaves another, and those before in the other's. thread: whose runs they are; it
        leaves there where that one stood then."""
        if (branches, thread) != (self._branches, self._thread):
            self._branches, self._thread = branches, thread
            self.update()

    @property
    def _forks(self) -> list[BranchInfo]:
        """The branch that is shown, and those that it comes from; the first that leaves comes
        first."""
        by_name = {branch.name: branch for branch in self._branches}
        now = next((branch for branch in self._branches if branch.current), None)
        found: list[BranchInfo] = []
        while now is not None:
            found.insert(0, now)
            now = by_name.get(now.parent)
        return found

    @property
    def steps(self) -> int:
        """Number of plan steps of a run."""
        return self._rows.stop if self._rows else 0

    @property
    def stretches(self) -> Sequence[tuple[str, int, int]]:
        """Phase, first step and the step after the last of what has a caption."""
        return self._rows.phases if self._rows else []

    def caption(self, phase: str, start: int, stop: int) -> tuple[str, str]:
        """What stands below a stretch of steps, and what where there is less room."""
        count = count_of(stop - start, "op")
        return self._captions.get(phase, phase).format(count), phase

    @property
    def _shown(self) -> range:
        return range(self._first, min(self._first + self._most, len(self._reached)))

    def sizeHint(self) -> QSize:
        return QSize(320, _TOP + len(self._shown) * _PITCH + _CAPTION)

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())

    # -- geometry ----------------------------------------------------------------------------

    def x_of(self, step: int) -> float:
        """Where the boundary before plan step `step` is drawn; each row is equally wide."""
        if not self._rows:
            return float(_LEFT)
        starts = self._rows.starts
        width = (self.width() - _LEFT - _RIGHT) / len(starts)
        number = bisect_right(starts, step) - 1
        start = starts[number]
        stop = starts[number + 1] if number + 1 < len(starts) else self._rows.stop
        inside = min((step - start) / (stop - start), 1.0)
        return _LEFT + width * (number + inside)

    def place_at(self, point: QPoint) -> tuple[int, int]:
        """The run and the step under a point; clamped to what there is."""
        line = (point.y() - _TOP) // _PITCH
        run = self._shown[max(0, min(line, len(self._shown) - 1))]
        if not self._rows:
            return run, 0
        width = (self.width() - _LEFT - _RIGHT) / len(self._rows)
        number = round((point.x() - _LEFT) / width)
        if number >= len(self._rows):
            return run, self.steps
        return run, self._rows[max(number, 0)].start

    # -- painting ----------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(sans(SMALL))
        for line, run in enumerate(self._shown):
            self._paint_run(painter, run, _TOP + line * _PITCH)
        self._paint_captions(painter, _TOP + len(self._shown) * _PITCH)
        if self.hasFocus():
            painter.fillRect(QRect(0, _TOP, 2, self.height() - _TOP), self._theme().selection)

    def _paint_run(self, painter: QPainter, run: int, top: int) -> None:
        theme, here = self._theme(), run == self._run
        painter.setPen(theme.text if here else theme.muted)
        label = QRect(12, top, _LEFT - 12, _BAR)
        painter.drawText(label, Qt.AlignmentFlag.AlignVCenter, self.tr("run {}").format(run + 1))
        cursor = self._step if here else self.steps if run < self._run else 0
        for start, stop, phase in self._cells():
            color = self._shade(phase, stop <= cursor, stop <= self._reached[run])
            left, right = self.x_of(start), self.x_of(stop)
            painter.fillRect(QRectF(left, top, right - left - 1, _BAR), color)
            if start < cursor < stop:
                done = self._shade(phase, True, True)
                painter.fillRect(QRectF(left, top, self.x_of(cursor) - left, _BAR), done)
        if self._branches:
            self._paint_branches(painter, run, top)
        if here:
            self._paint_cursor(painter, top)

    def _paint_branches(self, painter: QPainter, run: int, top: int) -> None:
        """A line below the run in the colours of the branches that it is of, and a mark where one
        leaves."""
        colors = branch_colors(self._theme(), self._branches)
        painter.setPen(Qt.PenStyle.NoPen)
        for branch in self._forks:
            leaves_in, step = branch.left_in(self._thread)
            if leaves_in > run:
                continue
            left = self.x_of(step) if leaves_in == run else float(_LEFT)
            painter.setBrush(colors[branch.name])
            painter.drawRect(QRectF(left, top + _BAR + 1, self.x_of(self.steps) - left - 1, 2))
            if branch.parent and leaves_in == run:
                painter.drawEllipse(QPointF(left, top + _BAR + 2), 3.5, 3.5)

    def _cells(self) -> list[tuple[int, int, str]]:
        """(start, stop, phase) of what is drawn as one piece: a row, or a phase when narrow."""
        if not self._rows:
            return []
        if (self.width() - _LEFT - _RIGHT) / len(self._rows) >= _NARROW:
            return [(row.start, row.stop, row.phase) for row in self._rows]
        return [(start, stop, phase) for phase, start, stop in self._rows.phases]

    def _shade(self, phase: str, done: bool, recorded: bool) -> QColor:
        theme = self._theme()
        amount = 0.1 if done else 0.5 if recorded else 0.75
        return mix(theme.phase(phase), theme.panel, amount)

    def _paint_cursor(self, painter: QPainter, top: int) -> None:
        theme, x = self._theme(), self.x_of(self._step)
        painter.setPen(QPen(theme.current, 2))
        painter.drawLine(QPointF(x, top - 2), QPointF(x, top + _BAR + 6))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.current)
        painter.drawEllipse(QRectF(x - 4, top + _BAR + 2, 8, 8))

    def _paint_captions(self, painter: QPainter, top: int) -> None:
        theme = self._theme()
        painter.setPen(theme.muted)
        for phase, start, stop in self.stretches:
            left, right = self.x_of(start), self.x_of(stop)
            room = QRectF(left, top, max(right - left - 4, 0), _CAPTION)
            for text in self.caption(phase, start, stop):
                if painter.fontMetrics().horizontalAdvance(text) <= room.width():
                    painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
                    break

    # -- the user ----------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self._rows:
            self._ask(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if event.buttons() & Qt.MouseButton.LeftButton and self._rows:
            self._ask(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged = None

    def _ask(self, event: QMouseEvent) -> None:
        place = self.place_at(event.position().toPoint())
        if place != self._dragged:
            self._dragged = place
            self.asked.emit(*place)

    def wheelEvent(self, event: QWheelEvent) -> None:
        delta = -1 if event.angleDelta().y() > 0 else 1
        self._scroll_to(self._first + delta)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        delta = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()))
        if delta is not None:
            self.moved.emit(delta)
        elif event.key() == Qt.Key.Key_Home:
            self.asked.emit(self._run, 0)
        elif event.key() == Qt.Key.Key_End:
            self.asked.emit(self._run, self.steps)
        else:
            super().keyPressEvent(event)
