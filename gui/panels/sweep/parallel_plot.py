"""Parallel coordinates: an axis for each setting and one for the loss, a line for each run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QPolygonF
from PySide6.QtWidgets import QWidget

from gradstep.core.sweep.run_list import RunSpec
from gradstep.core.sweep.sweep_records import RunRow
from gradstep.core.visible_text import visible
from gradstep.gui.look.theme import SMALL, fade, mono, sans
from gradstep.gui.model.sweep import Snapshot
from gradstep.gui.panels.sweep.plot_scale import PlotScale, tick_text
from gradstep.gui.panels.sweep.run_colors import RunColors
from gradstep.gui.panels.sweep.run_table import number_of
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_TOP, _BOTTOM, _SIDE = 28, 20, 56  # pixels around the axes
_NEAR = 8.0  # pixels from a line that count as on it
_TICKS = 5
_LABEL = 64  # pixels of a tick's text


@dataclass(frozen=True)
class _Axis:
    """place: from 0, below, to 1; NaN where a run has none. ticks: place -> text."""

    title: str
    place: Callable[[RunSpec, RunRow | None], float]
    ticks: Sequence[tuple[float, str]]


class ParallelPlot(QWidget):
    """pointed(run): the user clicked at one; wanted(run): twice."""

    pointed = Signal(int)
    wanted = Signal(int)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("sweep.parallel")
        self.setAccessibleName(self.tr("Settings and losses"))
        self.setMinimumSize(120, 100)
        self.setMouseTracking(True)
        self._theme = theme
        self._seen: Snapshot | None = None
        self._axes: list[_Axis] = []
        self._colors = RunColors([])
        self._chosen: Sequence[int] = ()
        self._under = 0  # the run under the pointer; 0 for none
        self._picture: QPixmap | None = None  # of all lines; painted again when they are others

    def show_runs(self, seen: Snapshot, chosen: Sequence[int]) -> None:
        """What is known now, and which runs stand out."""
        self._seen, self._chosen = seen, chosen
        self._axes, self._colors = _axes(seen), RunColors(seen.rows)
        self.restyle()

    def restyle(self) -> None:
        """Other colours, or another size."""
        self._picture = None
        self.update()

    def run_at(self, point: QPointF) -> int:
        """The run whose line is nearest, if it is near; 0 for none."""
        best, found = _NEAR, 0
        for row in self._rows():
            line = self._line(row)
            for a, b in pairwise(line):
                away = _distance(point, a, b)
                if away < best:
                    best, found = away, row.number
        return found

    # -- where things are ----------------------------------------------------------------------

    def _rows(self) -> Sequence[RunRow]:
        return () if self._seen is None else self._seen.rows

    def _x(self, axis: int) -> float:
        room = max(self.width() - 2 * _SIDE, 1)
        return _SIDE + room * axis / max(len(self._axes) - 1, 1)

    def _y(self, share: float) -> float:
        return self.height() - _BOTTOM - share * max(self.height() - _TOP - _BOTTOM, 1)

    def _line(self, row: RunRow) -> list[QPointF]:
        """Through the axes that it has a place on; a run that failed ends above the last."""
        spec = RunSpec(row.number, row.values, row.seed)
        places = [axis.place(spec, row) for axis in self._axes]
        points = [(self._x(n), share) for n, share in enumerate(places) if not math.isnan(share)]
        return [QPointF(x, self._y(share)) for x, share in points]

    # -- the mouse -----------------------------------------------------------------------------

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        under = self.run_at(event.position())
        if under != self._under:
            self._under = under
            self.setCursor(
                Qt.CursorShape.PointingHandCursor if under else Qt.CursorShape.ArrowCursor
            )
            self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._under = 0
        self.update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        run = self.run_at(event.position())
        if run and event.button() is Qt.MouseButton.LeftButton:
            self.pointed.emit(run)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        run = self.run_at(event.position())
        if run:
            self.wanted.emit(run)

    # -- painting ------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        scale = self.devicePixelRatioF()
        if self._picture is None or self._picture.size() != self.size() * scale:
            self._picture = QPixmap(self.size() * scale)
            self._picture.setDevicePixelRatio(scale)
            self._picture.fill(self._theme().panel)
            painter = QPainter(self._picture)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            self._paint_lines(painter)
            painter.end()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.drawPixmap(0, 0, self._picture)
        for row in self._rows():
            if row.number == self._under or row.number in self._chosen:
                self._paint_line(painter, row, 3.0 if row.number == self._under else 2.2, 1.0)
        self._paint_axes(painter)

    def _paint_lines(self, painter: QPainter) -> None:
        """The worst first, so that the best lie above; pale where some stand out."""
        strength = 0.25 if self._chosen else 0.85
        for row in sorted(self._rows(), key=lambda row: -row.shown_loss):
            self._paint_line(painter, row, 1.3, strength)

    def _paint_line(self, painter: QPainter, row: RunRow, width: float, strength: float) -> None:
        pen = QPen(fade(self._colors.of(self._theme(), row.number), strength), width)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        if row.error is not None:
            pen.setStyle(Qt.PenStyle.DashLine)
        painter.setPen(pen)
        painter.drawPolyline(QPolygonF(self._line(row)))

    def _paint_axes(self, painter: QPainter) -> None:
        theme = self._theme()
        for number, axis in enumerate(self._axes):
            x = self._x(number)
            painter.setPen(QPen(theme.line, 1))
            painter.drawLine(QPointF(x, self._y(0)), QPointF(x, self._y(1)))
            painter.setPen(theme.muted)
            painter.setFont(sans(SMALL))
            _centred(painter, QRectF(x - self._room / 2, 4, self._room, 16), axis.title)
            painter.setFont(mono(SMALL))
            for place, text in axis.ticks:
                self._paint_tick(painter, x, self._y(place), text, number)

    def _paint_tick(self, painter: QPainter, x: float, y: float, text: str, number: int) -> None:
        """Beside the axis, on a ground of its own, so that lines do not cross it."""
        metrics = painter.fontMetrics()
        text = metrics.elidedText(visible(text), Qt.TextElideMode.ElideMiddle, _LABEL)
        width = metrics.horizontalAdvance(text)
        is_last = number == len(self._axes) - 1
        left = x + 6 if is_last else x - 6 - width
        box = QRectF(left - 1, y - 7, width + 2, 14)
        painter.fillRect(box, fade(self._theme().panel, 0.8))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    @property
    def _room(self) -> float:
        """Pixels that an axis's title may take."""
        return max((self.width() - 2 * _SIDE) / max(len(self._axes) - 1, 1) - 8, 2 * _SIDE - 8)


def _centred(painter: QPainter, box: QRectF, text: str) -> None:
    words = painter.fontMetrics().elidedText(
        visible(text), Qt.TextElideMode.ElideMiddle, int(box.width())
    )
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)


def _axes(seen: Snapshot) -> list[_Axis]:
    """One for each setting that differs, one for seeds, one for the loss."""
    found = [_setting_axis(name, [run.values.get(name, "") for run in seen.record.runs])
             for name in seen.names]  # fmt: skip
    if len({run.seed for run in seen.record.runs}) > 1:
        seeds = [str(run.seed or 0) for run in seen.record.runs]
        found.append(_axis("seed", seeds, lambda spec: str(spec.seed or 0)))
    scale = PlotScale.of(row.shown_loss for row in seen.rows)
    ticks = [(scale.share(tick), tick_text(tick)) for tick in scale.ticks(_TICKS)]

    def place(spec: RunSpec, row: RunRow | None) -> float:
        return math.nan if row is None else scale.share(row.shown_loss)

    return [*found, _Axis("loss", place, ticks)]


def _setting_axis(name: str, texts: Sequence[str]) -> _Axis:
    return _axis(name, texts, lambda spec: spec.values.get(name, ""))


def _axis(title: str, texts: Sequence[str], text_of: Callable[[RunSpec], str]) -> _Axis:
    """Of numbers by their size; of words, or a mixture, one beside the other."""
    numbers = [number_of(text) for text in texts]
    known = list(dict.fromkeys(texts))
    if all(map(math.isfinite, numbers)):
        scale = PlotScale.of(numbers)
        places = {text: scale.share(number_of(text)) for text in known}
        few = len({*numbers}) <= _TICKS + 1
        shown = sorted({*numbers}) if few else scale.ticks(_TICKS)
        ticks = [(scale.share(number), tick_text(number)) for number in shown]
    else:
        places = {text: (n + 0.5) / len(known) for n, text in enumerate(known)}
        step = -(-len(known) // (2 * _TICKS))
        ticks = [(places[text], text) for text in known[::step]]
    return _Axis(title, lambda spec, row: places.get(text_of(spec), math.nan), ticks)


def _distance(point: QPointF, a: QPointF, b: QPointF) -> float:
    """From a point to the stretch between two others."""
    along = b - a
    length = QPointF.dotProduct(along, along) or 1.0
    share = min(max(QPointF.dotProduct(point - a, along) / length, 0.0), 1.0)
    gap = point - (a + along * share)
    return math.hypot(gap.x(), gap.y())
