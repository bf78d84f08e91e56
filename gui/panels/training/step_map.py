"""Steps across, something below each other: pan, zoom, a cursor, a click to stand at a step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFontMetrics,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QApplication, QWidget

from gradstep.core.visible_text import visible
from gradstep.gui.look.theme import GRID, SMALL, Tone, mono, sans
from gradstep.gui.panels.training.flow_image import SHADES, shades
from gradstep.gui.panels.training.step_axis import step_text, step_ticks
from gradstep.gui.panels.widgets.small_labels import ThemeSource

NAMES = 168  # pixels of the column of names, at most
TOP, BOTTOM = 24, 18  # pixels: what is said above, the steps below
LEAST, MOST = 14, 48  # pixels of a row
LEGEND = 120  # pixels of the colours above
_LEFT = Qt.MouseButton.LeftButton


class Row(Protocol):
    """What a row is of."""

    title: str
    op: str

    @property
    def points(self) -> Known: ...


class Known(Protocol):
    """In which steps something is known."""

    @property
    def first(self) -> int: ...

    @property
    def stop(self) -> int: ...

    def __len__(self) -> int: ...


class StepMap(QWidget):
    """clicked(step): the user clicked at a step. hovered(step): the pointer is there; -1: away.
    named(row): the user clicked at the name of a row."""

    clicked = Signal(int)
    hovered = Signal(int)
    named = Signal(object)
    least, most = LEAST, MOST  # pixels of a row

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self._theme = theme
        self._rows: Sequence[Row] = ()
        self._revision = 0  # of what is shown
        self._view: tuple[float, float] | None = None  # steps; None: all, those to come as well
        self._scroll = 0.0  # pixels of rows above
        self._current = self._cursor = -1
        self._row = -1  # under the pointer
        self._pressed: QPointF | None = None
        self._from = (0.0, 0.0, 0.0)  # what was in view when it was pressed

    def show_current(self, step: int) -> None:
        """The debugger stands at that step; -1: at none of these."""
        self._current = step
        self.update()

    def show_cursor(self, step: int) -> None:
        """The pointer is at that step, here or in a plot; -1: nowhere."""
        if step != self._cursor:
            self._cursor = step
            self.update()

    def fit(self) -> None:
        """All steps, those to come as well."""
        self._view = None
        self.update()

    @property
    def extent(self) -> tuple[int, int]:
        """The first step that is known, and the one behind the last."""
        known = [curve.points for curve in self._rows if len(curve.points)]
        return min((p.first for p in known), default=0), max((p.stop for p in known), default=1)

    @property
    def view(self) -> tuple[float, float]:
        """From which step to which."""
        if self._view is not None:
            return self._view
        first, stop = self.extent
        return float(first), float(max(stop, first + 2))

    # -- where what is -------------------------------------------------------------------------

    @property
    def body(self) -> QRect:
        """The cells."""
        names = min(NAMES, self.width() // 3)
        room = self.rect().adjusted(names, TOP, -GRID, -BOTTOM)
        height = min(room.height(), len(self._rows) * self.row_height)
        return QRect(room.x(), room.y(), max(room.width(), 1), max(height, 1))

    @property
    def row_height(self) -> int:
        """Pixels; as high as there is room for, between bounds."""
        room = self.height() - TOP - BOTTOM
        return max(min(room // max(len(self._rows), 1), self.most), self.least)

    def row_at(self, y: float) -> int:
        """-1 where there is none."""
        body = self.body
        row = int((y - body.y() + self._scroll) // self.row_height)
        inside = body.y() <= y < body.bottom() + 1
        return row if inside and 0 <= row < len(self._rows) else -1

    def step_at(self, x: float) -> int:
        """-1 where there is none."""
        body, (start, stop) = self.body, self.view
        step = math.floor(start + (x - body.x()) * (stop - start) / body.width())
        low, high = self.extent
        return step if low <= step < high and body.x() <= x <= body.right() else -1

    def _x_of(self, step: float) -> float:
        body, (start, stop) = self.body, self.view
        return body.x() + (step - start) * body.width() / (stop - start)

    # -- the picture -----------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme().panel)
        if self._rows:
            self._paint_rows(painter)
            self._paint_steps(painter)
            self._paint_line(painter, self._cursor, self._theme().muted, 1.0)
            self._paint_line(painter, self._current, self._theme().current, 2.0)
        self._paint_caption(painter)

    def _paint_steps(self, painter: QPainter) -> None:
        painter.setFont(mono(SMALL))
        painter.setPen(self._theme().muted)
        bottom = self.body.bottom() + 1
        for step in step_ticks(*self.view, self.body.width() // 80):
            box = QRectF(self._x_of(step - 0.5) - 40, bottom, 80, BOTTOM)
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, step_text(step))

    def _paint_line(self, painter: QPainter, step: int, color: QColor, width: float) -> None:
        start, stop = self.view
        if step >= 0 and start <= step < stop:
            x = self._x_of(step + 0.5)
            painter.setPen(QPen(color, width))
            painter.drawLine(QPointF(x, self.body.y()), QPointF(x, self.body.bottom()))

    def _paint_caption(self, painter: QPainter) -> None:
        """What it is; what the colours stand for; what is under the pointer."""
        theme, body = self._theme(), self.body
        painter.setFont(sans(SMALL, strong=True))
        painter.setPen(theme.text)
        title = QRect(4, 0, body.x() - 12, TOP)
        right = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(title, right, self._title)
        if not self._rows:
            return
        painter.setFont(mono(SMALL))
        painter.setPen(theme.muted)
        right_of_legend = self._paint_legend(painter, body.x())
        metrics = QFontMetrics(painter.font())
        room = QRect(right_of_legend, 0, max(body.right() - right_of_legend, 0), TOP)
        text = metrics.elidedText(self._words(), Qt.TextElideMode.ElideLeft, room.width())
        painter.setPen(theme.text)
        painter.drawText(room, right, text)

    def _paint_legend(self, painter: QPainter, x: int) -> int:
        """What the colours stand for, from `x` on; where it ends."""
        metrics, (low, high) = QFontMetrics(painter.font()), self._ends
        base = (TOP + metrics.ascent()) // 2 - 1
        painter.drawText(x, base, low)
        x += metrics.horizontalAdvance(low) + 6
        self._paint_colors(painter, x)
        x += LEGEND + 6
        painter.drawText(x, base, high)
        return x + metrics.horizontalAdvance(high) + 2 * GRID

    def _words(self) -> str:
        if self._cursor < 0:
            return ""
        step = self.tr("step {:,}").format(self._cursor + 1)
        inside = 0 <= self._row < len(self._rows)
        return visible(f"{step} · {self._said(self._row)}") if inside else step

    def _paint_colors(self, painter: QPainter, x: int) -> None:
        table = shades(self._theme(), self._tone)
        image = QImage(table.tobytes(), SHADES, 1, 3 * SHADES, QImage.Format.Format_RGB888)
        painter.drawImage(QRect(x, TOP // 2 - 5, LEGEND, 10), image)

    # -- what each has of its own ----------------------------------------------------------------

    @property
    def _title(self) -> str:
        """What it is, in a word or two."""
        raise NotImplementedError

    @property
    def _tone(self) -> Tone:
        """The colour of the legend."""
        raise NotImplementedError

    @property
    def _ends(self) -> tuple[str, str]:
        """What the ends of the colours stand for."""
        raise NotImplementedError

    def _paint_rows(self, painter: QPainter) -> None:
        """The rows that are in view."""
        raise NotImplementedError

    def _said(self, row: int) -> str:
        """What is to be said of a row at the cursor."""
        raise NotImplementedError

    # -- the user --------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is _LEFT:
            self._pressed, self._from = event.position(), (*self.view, self._scroll)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        here = event.position()
        if self._pressed is not None and event.buttons() & _LEFT:
            self._drag(here - self._pressed)
        self._row = self.row_at(here.y())
        self.update()
        self.hovered.emit(self.step_at(here.x()) if self._row >= 0 else -1)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed = self._pressed, None
        here = event.position()
        if (
            pressed is None
            or (here - pressed).manhattanLength() >= QApplication.startDragDistance()
        ):
            return
        row, step = self.row_at(here.y()), self.step_at(here.x())
        if row >= 0 and here.x() < self.body.x():
            self.named.emit(self._rows[row])
        elif row >= 0 and step >= 0:
            self.clicked.emit(step)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        turned = event.angleDelta().y() or event.angleDelta().x()
        if (
            event.modifiers() & Qt.KeyboardModifier.ShiftModifier
            or event.position().x() < self.body.x()
        ):
            self._scroll_to(self._scroll - turned / 2)
        else:
            self.zoom(0.998**turned, event.position().x())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move the cursor, plus and minus zoom, Enter stands there."""
        key, (low, high) = event.key(), self.extent
        far = max(int((self.view[1] - self.view[0]) // 200), 1)
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            here = self._cursor if self._cursor >= 0 else max(self._current, low)
            step = here + (far if key == Qt.Key.Key_Right else -far)
            self.hovered.emit(min(max(step, low), high - 1))
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._row = min(
                max(self._row + (1 if key == Qt.Key.Key_Down else -1), 0), len(self._rows) - 1
            )
            self.update()
        elif key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus):
            at = self._x_of(self._cursor) if self._cursor >= 0 else self.body.center().x()
            self.zoom(1.5 if key == Qt.Key.Key_Minus else 1 / 1.5, at)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._cursor >= 0:
            self.clicked.emit(self._cursor)
        else:
            super().keyPressEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._row = -1
        self.hovered.emit(-1)
        super().leaveEvent(event)

    def zoom(self, factor: float, x: float) -> None:
        """Show `factor` times as many steps, with the one at pixel `x` where it is."""
        (start, stop), body, (low, high) = self.view, self.body, self.extent
        share = min(max((x - body.x()) / body.width(), 0), 1)
        length = min(max((stop - start) * factor, 4.0), max(2.0 * (high - low), 4.0))
        begin = start + share * (stop - start) - share * length
        self._view = (begin, begin + length)
        self.update()

    def _drag(self, way: QPointF) -> None:
        start, stop, scroll = self._from
        far = way.x() * (stop - start) / self.body.width()
        if far or self._view is not None:
            self._view = (start - far, stop - far)
        self._scroll_to(scroll - way.y())

    def _scroll_to(self, pixels: float) -> None:
        most = len(self._rows) * self.row_height - self.body.height()
        self._scroll = float(min(max(pixels, 0.0), max(most, 0)))
        self.update()
