"""The curves as pyqtgraph draws them: a plot for each kind of number, all over the same steps.

Steps are counted from 0 everywhere but on the axis, where the first is 1, as people say it.
Imported when there is a first point to draw: pyqtgraph takes half a second.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from itertools import zip_longest
from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QImage, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from gradstep.core.debug.breaks.missing_number import is_not_there
from gradstep.gui.look.theme import SMALL, Theme, mix, mono
from gradstep.gui.model.curve_points import Stretch, smoothed
from gradstep.gui.model.earlier_trainings import AnyPoints, EarlierTraining, EarlierTrainings
from gradstep.gui.model.number_text import scalar
from gradstep.gui.model.training_curve import Curve
from gradstep.gui.panels.training.curve_colors import colors
from gradstep.gui.panels.training.curve_line import (
    CurveLine,
    columns,
    envelope,
    is_dense,
    pixel_size,
)
from gradstep.gui.panels.training.log_ticks import log_ticks
from gradstep.gui.panels.training.plot_caption import PlotCaption
from gradstep.gui.panels.training.plot_groups import (
    LOGARITHMIC,
    MARKS,
    SHARES,
    TITLES,
    PlotKey,
    group_curves,
    least_height,
    places,
)
from gradstep.gui.panels.training.step_axis import step_text
from gradstep.gui.panels.widgets.scroll_area import scroll_area
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_BESIDE = 0.5  # of the view, drawn on either side of it, so that it can be moved
_CALM = 0.7  # of the axis's height that is filled: no reason to change it
_NEAR = 6  # pixels from a line that is meant by a click
_FINE = 4  # bins a pixel at most: there may be eight times fewer
_LEFT = Qt.MouseButton.LeftButton
AXIS = 64  # pixels of the axis of numbers
_NONE = np.empty(0)
_TOP = 18  # pixels over a plot, for what it says
_LINES = 1.2  # of text, from one number of an axis to the next
_READ = 6  # numbers at most that a plot reads out


class CurvePlot(QWidget):
    """clicked(step): the user clicked at a step; clicked_earlier(step, training): on the line of a
    training before. hovered(step): the pointer is there; -1: away."""

    clicked = Signal(int)
    clicked_earlier = Signal(int, object)
    hovered = Signal(int)

    def __init__(self, theme: ThemeSource, earlier: EarlierTrainings) -> None:
        super().__init__()
        self.earlier = earlier
        self.setObjectName("training.plot")
        self.setAccessibleName(self.tr("Curves"))
        self._theme = theme
        self._log, self._smoothing, self._split = False, 0, False
        self._curves: Sequence[Curve] = ()
        self._current = self._cursor = -1
        self._box = pg.GraphicsLayoutWidget()
        self._box.setObjectName("training.graphics")
        self._box.ci.layout.setContentsMargins(0, 4, 8, 0)
        self._box.ci.layout.setSpacing(12)
        self._box.viewport().installEventFilter(self)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(scroll_area(self._box))
        self._plots: dict[PlotKey, _Plot] = {}
        self._places: list[tuple[int, int]] = []
        self._pressed = QPointF()

    def show_curves(self, curves: Sequence[Curve]) -> None:
        """Draw these from now on."""
        if [*curves] == [*self._curves]:
            self.refresh()
            return
        self._curves = [*curves]
        grouped = group_curves(self._curves, self._split)
        if [*grouped] != [*self._plots]:
            self._arrange([*grouped])
        for key, plot in self._plots.items():
            plot.show_curves(grouped[key])
        self.refresh()

    def set_look(self, log: bool, smoothing: int) -> None:
        """log: the numbers' axes; smoothing: over how many steps, 0 for not at all."""
        self._log, self._smoothing = log, smoothing
        self.refresh()

    def set_split(self, split: bool) -> None:
        """Whether each scope has plots of its own: small multiples."""
        if split != self._split:
            self._split = split
            self._renew()

    def show_current(self, step: int) -> None:
        """The debugger stands at that step; -1: at none of these."""
        self._current = step
        for plot in self._plots.values():
            plot.show_current(step)

    def show_cursor(self, step: int) -> None:
        """The pointer is at that step, in whatever plot; -1: nowhere."""
        self._cursor = step
        for plot in self._plots.values():
            plot.show_cursor(step)

    def fit(self) -> None:
        """All steps."""
        for plot in self._plots.values():
            plot.follow()
        self.refresh()

    def refresh(self) -> None:
        """Draw what there is."""
        for plot in self._plots.values():
            plot.refresh(self._log, self._smoothing)
            plot.show_current(self._current)
            plot.show_cursor(self._cursor)

    def restyle(self) -> None:
        """The theme changed."""
        self._renew()

    def follow_range(self, moved: _Plot, *_: object) -> None:
        """All plots show the same steps."""
        if not moved.by_hand:
            return
        low, high = moved.item.vb.viewRange()[0]
        for plot in self._plots.values():
            if plot is not moved and plot.item.vb.viewRange()[0] != [low, high]:
                plot.show_range(low, high)
        moved.slide(self._log, self._smoothing)

    @property
    def extent(self) -> tuple[int, int]:
        """The first and the last step that any curve is known in."""
        sets = [points for curve in self._curves for points in self.all_points(curve)]
        sets = [points for points in sets if len(points)]
        return min((p.first for p in sets), default=0), max((p.stop - 1 for p in sets), default=0)

    def all_points(self, curve: Curve) -> list[AnyPoints]:
        """Of this training, and of those before it that are shown."""
        return [curve.points, *self.earlier.points_beside(curve)]

    def fit_heights(self, group: str) -> None:
        """Small multiples of one kind have one axis of numbers."""
        same = [plot for key, plot in self._plots.items() if key.group == group]
        bounds = [plot.bounds for plot in same if plot.bounds is not None]
        if bounds:
            low, high = min(low for low, _ in bounds), max(high for _, high in bounds)
            for plot in same:
                plot.fit_height(low, high)

    def picture(self) -> QImage:
        """As they are on the screen, at its resolution, with what is scrolled away."""
        image: QImage = self._box.grab().toImage()
        return image

    # -- inside --------------------------------------------------------------------------------

    def _arrange(self, keys: Sequence[PlotKey]) -> None:
        """The plots, above each other where there is room for that."""
        theme = self._theme()
        self._box.setBackground(theme.panel)
        self._box.clear()
        for plot in self._plots.values():
            plot.item.ctrlMenu.deleteLater()
            plot.item.deleteLater()
        self._plots, self._places = {}, places(keys, self.width(), self.height())
        self._box.setMinimumHeight(least_height(self._places))
        for key, place in zip(keys, self._places, strict=True):
            plot = _Plot(theme, key, self)
            self._box.addItem(plot.item, *place)
            plot.item.vb.sigXRangeChanged.connect(partial(self.follow_range, plot))
            self._plots[key] = plot
        self._fit_layout()

    def _fit_layout(self) -> None:
        """As high as the view: Qt leaves it as high as more plots than these had needed."""
        self._box.ci.layout.activate()
        self._box.ci.setGeometry(self._box.range)

    def _renew(self) -> None:
        curves, self._curves = self._curves, ()
        self._arrange([*group_curves(curves, self._split)])
        self.show_curves(curves)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if self._plots and places([*self._plots], self.width(), self.height()) != self._places:
            self._renew()

    def eventFilter(self, watched: Any, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Leave:
            self.hovered.emit(-1)
        elif isinstance(event, QMouseEvent):
            return self._note_mouse(event)
        return False

    def _note_mouse(self, event: QMouseEvent) -> bool:
        """Whether it is not for pyqtgraph, which pans and zooms."""
        kind, here = event.type(), event.position()
        if kind is QEvent.Type.MouseButtonDblClick:
            self.fit()
            return True
        if kind is QEvent.Type.MouseMove and not event.buttons():
            self.hovered.emit(self._step_at(here))
        elif kind is QEvent.Type.MouseButtonPress:
            self._pressed = here
        elif kind is QEvent.Type.MouseButtonRelease and event.button() is _LEFT:
            moved = (here - self._pressed).manhattanLength()
            step = self._step_at(here)
            if step >= 0 and moved < QApplication.startDragDistance():
                self._click(step, here)
        return False

    def _click(self, step: int, point: QPointF) -> None:
        earlier = self._earlier_at(step, point)
        if earlier is None:
            self.clicked.emit(step)
        else:
            self.clicked_earlier.emit(step, earlier)

    def _earlier_at(self, step: int, point: QPointF) -> EarlierTraining | None:
        """The training before whose line is there, and none of this training."""
        plot, there = self._plot_at(point)
        return None if plot is None else plot.earlier_at(step, there.y())

    def _step_at(self, point: QPointF) -> int:
        """The step under a point; -1 where there is none."""
        plot, there = self._plot_at(point)
        return -1 if plot is None else plot.nearest(there.x())

    def _plot_at(self, point: QPointF) -> tuple[_Plot | None, QPointF]:
        """The plot under a point of the view, and where that is on its axes."""
        scene = self._box.mapToScene(point.toPoint())
        for plot in self._plots.values():
            if plot.item.vb.sceneBoundingRect().contains(scene):
                return plot, plot.item.vb.mapSceneToView(scene)
        return None, scene


class _Plot:
    """One plot, of curves of one kind. bounds: between which numbers they lie."""

    def __init__(self, theme: Theme, key: PlotKey, owner: CurvePlot) -> None:
        self._theme, self._owner, self._key = theme, owner, key
        self.bounds: tuple[float, float] | None = None
        axes = {side: _Axis(theme, side) for side in ("left", "bottom")}
        self.item = pg.PlotItem(axisItems=axes, enableMenu=False)
        # PyQtGraph makes a menu of sixty widgets all the same, which nobody else takes away.
        self.item.ctrlMenu.setParent(owner, Qt.WindowType.Popup)
        self.item.hideButtons()
        self.item.layout.setContentsMargins(0, _TOP, 0, 0)
        self._caption = PlotCaption(self.item, theme, AXIS)
        self.item.vb.setMouseEnabled(x=True, y=False)
        self.item.vb.enableAutoRange(x=False, y=False)
        self.item.vb.sigRangeChangedManually.connect(self._hold)
        axes["left"].setGrid(140)
        self._curves: Sequence[Curve] = ()
        self._lines: list[tuple[list[CurveLine], CurveLine, CurveLine]] = []
        self._here = pg.InfiniteLine(angle=90, pen=pg.mkPen(theme.current, width=1.5))
        self._cursor = pg.InfiniteLine(angle=90, pen=pg.mkPen(theme.faint, width=1))
        self._dot = pg.ScatterPlotItem(size=9, pen=None, brush=theme.current)
        for mark in (self._here, self._cursor, self._dot):
            mark.setZValue(10)
            mark.hide()
            self.item.addItem(mark, ignoreBounds=True)
        self._log = False
        self._mark = self._draw_mark()
        self.by_hand = False
        self._covered = (math.inf, -math.inf, 0.0)  # from which step to which, for a view so wide

    def show_curves(self, curves: Sequence[Curve]) -> None:
        for old, *two in self._lines:
            for line in (*old, *two):
                self.item.removeItem(line)
        self._curves, self._lines = curves, []
        self._caption.say(self._title)
        for curve, color in zip(curves, colors(self._theme, curves), strict=True):
            before: list[CurveLine] = []  # made when there is something to draw
            raw = self._line(curve, color, 1.5)
            smooth = self._line(curve, color, 2)
            self._lines.append((before, raw, smooth))

    def _line(self, curve: Curve, color: QColor, width: float) -> CurveLine:
        line = CurveLine(color, width, dashed=bool(curve.validates))
        self.item.addItem(line, ignoreBounds=True)
        return line

    # -- what is seen of them --------------------------------------------------------------------

    def _hold(self, *_: object) -> None:
        """The user has chosen what to see; of what is chosen by hand the range tells before."""
        if not self.by_hand:
            self.by_hand = True
            self._owner.follow_range(self)

    def follow(self) -> None:
        """Show all steps again, those to come as well."""
        self.by_hand = False

    def show_range(self, low: float, high: float) -> None:
        self.by_hand = True
        self.item.vb.setXRange(low, high, padding=0)

    @property
    def _extent(self) -> tuple[int, int]:
        return self._owner.extent

    def nearest(self, x: float) -> int:
        low, high = self._extent
        step = round(x - 1)
        return step if low <= step <= high else -1

    def earlier_at(self, step: int, height: float) -> EarlierTraining | None:
        """The training before whose line passes that point, where none of this training is as
        near."""
        pixel = pixel_size(self.item.vb)
        near = (f for c in self._curves for f in self._far(c.points, step, height, pixel))
        own = min(near, default=math.inf)
        every = [
            (far, training)
            for curve in self._curves
            for training, points in self._owner.earlier.beside(curve)
            for far in self._far(points, step, height, pixel)
        ]
        far, found = min(every, key=lambda each: each[0], default=(math.inf, None))
        return found if far <= _NEAR and far < own else None

    def _far(
        self, points: AnyPoints, step: int, height: float, pixel: tuple[float, float]
    ) -> list[float]:
        """How many pixels a line is over or under a point; none where it is not there."""
        if not points.first <= step < points.stop:
            return []
        stretch = points.stretch(step - pixel[0] / 2, step + pixel[0] / 2, self._bins)
        _, ends = self._shown((np.tile(stretch.steps, 2), np.append(stretch.low, stretch.high)))
        known = ends[np.isfinite(ends)]
        if not len(known):
            return []
        return [max(known.min() - height, height - known.max(), 0) / pixel[1]]

    def refresh(self, log: bool, smoothing: int) -> None:
        """Draw the stretch in view and what is beside it, and fit the numbers' axis to it."""
        group = self._key.group
        log = (log or group in LOGARITHMIC) and group not in SHARES
        if log != self._log or self.item.getAxis("left").logMode != log:
            self._log = log
            self.item.getAxis("left").setLogMode(log)
        if not self.by_hand:
            low, high = self._extent
            self.item.vb.setXRange(low + 1, max(high + 1, low + 2), padding=0.01)
        start, stop = (x - 1 for x in self.item.vb.viewRange()[0])
        beside = _BESIDE * (stop - start)
        for pair in self._pairs:
            self._draw(*pair, start - beside, stop + beside, smoothing)
        self._covered = start - beside, stop + beside, stop - start
        self._fit()

    def slide(self, log: bool, smoothing: int) -> None:
        """The view has moved: what is drawn may be enough."""
        start, stop = (x - 1 for x in self.item.vb.viewRange()[0])
        first, last, width = self._covered
        if first <= start and stop <= last and math.isclose(stop - start, width, rel_tol=1e-6):
            self._fit()
        else:
            self.refresh(log, smoothing)

    def _fit(self) -> None:
        """Fit the numbers' axis to what is in view."""
        start, stop = self.item.vb.viewRange()[0]
        lines = [line for old, *two in self._lines for line in (*old, *two)]
        found = [b for line in lines if (b := line.between(start, stop)) is not None]
        self.bounds = (min(b[0] for b in found), max(b[1] for b in found)) if found else None
        self._owner.fit_heights(self._key.group)

    def fit_height(self, low: float, high: float) -> None:
        """Let the axis of numbers reach from one to the other, and leave it where that is so by and
        large: it is not to tremble, and costs more than the curves."""
        bottom, top = self.item.vb.viewRange()[1]
        if not (bottom <= low and high <= top and high - low > _CALM * (top - bottom)):
            margin = 0.06 * (high - low) or 0.25 * abs(high) or 0.5
            self.item.vb.setYRange(low - margin, high + margin, padding=0)

    @property
    def _pairs(self) -> list[tuple[Curve, tuple[list[CurveLine], CurveLine, CurveLine], QColor]]:
        shades = colors(self._theme, self._curves)
        return [*zip(self._curves, self._lines, shades, strict=True)]

    def _draw(
        self,
        curve: Curve,
        lines: tuple[list[CurveLine], CurveLine, CurveLine],
        color: QColor,
        start: float,
        stop: float,
        smoothing: int,
    ) -> None:
        """One curve."""
        before, raw, smooth = lines
        self._draw_earlier(curve, before, color, start, stop)
        stretch = curve.points.stretch(start - smoothing, stop, self._bins)
        self._draw_raw(raw, stretch, color, bool(smoothing))
        every = slice(None, None, max(_FINE * len(stretch.steps) // self._bins, 1))
        mean = smoothed(stretch, smoothing) if smoothing else stretch.mean[:0]
        x, heights = self._shown((stretch.steps[: len(mean)][every], mean[every]))
        smooth.show_line(x, heights, pixel_size(self.item.vb))

    @property
    def _bins(self) -> int:
        """As many as are drawn at most."""
        return max(int((1 + 2 * _BESIDE) * _FINE * self.item.vb.width()), 1)

    def _draw_earlier(
        self, curve: Curve, lines: list[CurveLine], color: QColor, start: float, stop: float
    ) -> None:
        """The same in trainings before, pale."""
        earlier = self._owner.earlier.points_beside(curve)
        while len(lines) < len(earlier):
            pale = mix(color, self._theme.panel, 0.6 + 0.05 * len(lines))
            lines.append(self._line(curve, pale, 1))
        for line, points in zip_longest(lines, earlier):
            known = None if points is None else points.stretch(start, stop, self._bins)
            x, heights = self._shown(_middle(known)) if known else (_NONE, _NONE)
            line.show_line(x, heights, pixel_size(self.item.vb))

    def _draw_raw(self, line: CurveLine, stretch: Stretch, color: QColor, pale: bool) -> None:
        """A curve as it is, with all its spikes."""
        scale, pixel = self._owner.devicePixelRatioF(), pixel_size(self.item.vb)
        color = mix(color, self._theme.panel, 0.65) if pale else color
        strokes = columns(stretch, pixel[0] / scale)
        if strokes is not None:
            (x, low), (_, high) = (self._shown((strokes[0], y)) for y in strokes[1:])
            if len(low) == len(high) and is_dense(np.stack([low, high], 1).reshape(-1)):
                line.set_look(color, 1, hard=True)
                line.show_columns(x, low, high, pixel)
                return
        x, heights = self._shown(envelope(stretch))
        dense = is_dense(heights)
        line.set_look(color, 1 if dense else scale if pale else 1.5 * scale, hard=dense)
        line.show_line(x, heights, pixel)

    def _shown(self, line: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray]:
        """On the axis: its logarithm, where that is asked for."""
        x, y = np.asarray(line[0], float) + 1, np.asarray(line[1], float)
        known = ~is_not_there(y)
        x, y = x[known], y[known]
        if self._log:
            y = np.log10(y, out=np.full(len(y), np.nan), where=y > 0)
        return x, np.where(np.isfinite(y), y, np.nan)

    # -- marks ---------------------------------------------------------------------------------

    def show_current(self, step: int) -> None:
        """Where the debugger stands, with a dot on each curve."""
        there = self._extent[0] <= step <= self._extent[1] and step >= 0
        self._here.setVisible(there)
        spots = []
        if there:
            self._here.setValue(step + 1)
            known = [curve.points.at(step) for curve in self._curves if not curve.tag]
            _, heights = self._shown(([step] * len(known), known))
            spots = [{"pos": (step + 1, y)} for y in heights if np.isfinite(y)]
        self._dot.setData(spots)
        self._dot.setVisible(bool(spots))

    def show_cursor(self, step: int) -> None:
        self._cursor.setVisible(step >= 0)
        if step >= 0:
            self._cursor.setValue(step + 1)
        self._caption.read_out(self._words_at(step) if step >= 0 else "")

    def _words_at(self, step: int) -> str:
        """What the curves are at a step."""
        known = [(curve, curve.points.at(step)) for curve in self._curves]
        there = [(c.title, scalar(x)) for c, x in known if not is_not_there(np.array([x]))[0]]
        alone = len(self._curves) == 1
        numbers = [number if alone else f"{title} {number}" for title, number in there[:_READ]]
        more = [f"and {len(there) - _READ} more"] if len(there) > _READ else []
        return " · ".join([f"step {step + 1:,}", *numbers, *more])

    @property
    def _title(self) -> str:
        """What is said over it."""
        title = TITLES.get(self._key.group, "")
        if not title:
            return " · ".join(curve.title for curve in self._curves)
        if self._key.group in MARKS:
            title += f" (dotted: {MARKS[self._key.group]:g})"
        return f"{self._key.scope} · {title}" if self._key.scope else title

    def _draw_mark(self) -> pg.InfiniteLine | None:
        """A dotted line across at a number that is worth knowing."""
        number = MARKS.get(self._key.group)
        if number is None:
            return None
        pen = pg.mkPen(self._theme.muted, width=1, style=Qt.PenStyle.DotLine)
        line = pg.InfiniteLine(math.log10(number), angle=0, pen=pen)
        self.item.addItem(line, ignoreBounds=True)
        return line


class _Axis(pg.AxisItem):  # type: ignore[misc]
    """Of numbers as people write them: 20k, 0.001."""

    def __init__(self, theme: Theme, side: str) -> None:
        super().__init__(side)
        self.setPen(pg.mkPen(theme.line))
        self.setTextPen(pg.mkPen(theme.muted))
        self.setTickFont(mono(SMALL))
        self.setStyle(tickLength=0, hideOverlappingLabels=True)
        self.enableAutoSIPrefix(False)
        if side == "left":
            self.setWidth(AXIS)
            self.setCacheMode(self.CacheMode.DeviceCoordinateCache)

    def tickValues(self, low: float, high: float, size: float) -> list[tuple[float, list[float]]]:
        if self.orientation == "left" and self.logMode:
            most = int(size / (_LINES * QFontMetricsF(mono(SMALL)).height()))
            return [(1.0, log_ticks(min(low, high), max(low, high), most))]
        return super().tickValues(low, high, size)  # type: ignore[no-any-return]

    def tickStrings(self, values: Sequence[float], scale: float, spacing: float) -> list[str]:
        if self.orientation == "bottom":
            return [step_text(value) for value in values]
        if self.logMode:
            return [f"{10**value:.3g}" for value in values]
        return [
            f"{value:.{_digits(spacing)}f}" if _is_plain(value) else f"{value:.3g}"
            for value in values
        ]


def _digits(spacing: float) -> int:
    return max(0, -math.floor(math.log10(spacing))) if spacing > 0 else 0


def _is_plain(value: float) -> bool:
    return value == 0 or 1e-3 <= abs(value) < 1e5


def _middle(stretch: Stretch) -> tuple[np.ndarray, np.ndarray]:
    return stretch.steps, stretch.mean
