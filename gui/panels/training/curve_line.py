"""One line of a plot, drawn so that it costs little, however many steps it has.

A stroke for each column of pixels where it goes up and down in all of them; else from point to
point.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPen

from gradstep.gui.model.curve_points import Stretch

_RESTLESS = 8  # times its height
_WIDEST = 2  # pixels that a line has on either side of its points


class CurveLine(pg.PlotCurveItem):  # type: ignore[misc]
    """Shows what `show` was told last. PyQtGraph's own asks for its bounds, number by number, some
    ten times in each frame. dashed: as far as it is a line, and no strokes side by side."""

    def __init__(self, color: QColor, width: float, dashed: bool = False) -> None:
        self._dashed = dashed
        super().__init__(pen=self._pen(color, width), connect="finite", antialias=True)
        self._box = QRectF()
        self._look: tuple[object, ...] = ()

    def show_line(self, x: np.ndarray, y: np.ndarray, pixel: tuple[float, float]) -> None:
        """From point to point, with gaps where y is NaN. pixel: its size on the axes."""
        self._put(x, y, pixel, "finite")

    def show_columns(
        self, x: np.ndarray, low: np.ndarray, high: np.ndarray, pixel: tuple[float, float]
    ) -> None:
        """A stroke from low to high at each x."""
        heights = np.stack([low, high], axis=1).reshape(-1)
        self._put(np.repeat(x, 2), heights, pixel, "pairs")

    def _put(self, x: np.ndarray, y: np.ndarray, pixel: tuple[float, float], how: str) -> None:
        if not len(x) and self.xData is None:
            return
        self._box = _bounds(x, y, pixel)
        self.opts["connect"] = how
        self.opts["segmentedLineMode"] = "on" if how == "pairs" else "auto"
        self.setData(x, y)

    def boundingRect(self) -> QRectF:
        return self._box

    def between(self, start: float, stop: float) -> tuple[float, float] | None:
        """The least and the greatest number from one x to the other, and of the points before and
        behind, to which lines lead; None where there is none."""
        if self.xData is None:
            return None
        first = int(np.searchsorted(self.xData, start))
        last = int(np.searchsorted(self.xData, stop, "right"))
        known = self.yData[max(first - 1, 0) : last + 1]
        known = known[np.isfinite(known)]
        return (float(known.min()), float(known.max())) if len(known) else None

    def set_look(self, color: QColor, width: float, hard: bool) -> None:
        """hard: with hard edges, which takes a tenth of the time."""
        look = color.rgba(), width, hard
        if look != self._look:
            self._look = look
            self.opts["antialias"] = not hard
            self.setPen(self._pen(color, width, hard))

    def _pen(self, color: QColor, width: float, hard: bool = False) -> QPen:
        style = Qt.PenStyle.DashLine if self._dashed and not hard else Qt.PenStyle.SolidLine
        pen: QPen = pg.mkPen(color, width=width, style=style)
        return pen


def _bounds(x: np.ndarray, y: np.ndarray, pixel: tuple[float, float]) -> QRectF:
    known = y[np.isfinite(y)]
    if not len(known):
        return QRectF()
    beside, over = (_WIDEST * size for size in pixel)
    low, high = float(known.min()), float(known.max())
    rest = QRectF(float(x[0]), low, float(x[-1] - x[0]), high - low)
    return rest.adjusted(-beside, -over, beside, over)


def pixel_size(view: Any) -> tuple[float, float]:
    """Of a view box: a pixel's width and height on its axes."""
    (left, right), (bottom, top) = view.viewRange()
    wide, high = max(view.width(), 1), max(view.height(), 1)
    return (right - left) / wide, (top - bottom) / high


def is_dense(heights: np.ndarray) -> bool:
    """Whether a line goes up and down so much that it covers what it passes."""
    known = heights[np.isfinite(heights)]
    return len(known) > 1 and float(np.abs(np.diff(known)).sum()) > _RESTLESS * float(np.ptp(known))


def envelope(stretch: Stretch) -> tuple[np.ndarray, np.ndarray]:
    """Each bin from its least number to its greatest, so that no spike is lost; the other way round
    where the curve falls, so that it makes no steps."""
    if stretch.size == 1 or not len(stretch.steps):
        return stretch.steps, stretch.mean
    falls = np.diff(stretch.mean, append=stretch.mean[-1:]) < 0
    heights = np.empty(2 * len(stretch.steps))
    heights[::2] = np.where(falls, stretch.high, stretch.low)
    heights[1::2] = np.where(falls, stretch.low, stretch.high)
    steps = np.repeat(stretch.steps, 2)
    steps[1::2] += stretch.size - 1
    return steps, heights


Columns = tuple[np.ndarray, np.ndarray, np.ndarray]


def columns(stretch: Stretch, pixel: float) -> Columns | None:
    """Steps, and the least and the greatest number in each column of pixels, of so many steps; each
    as far as its neighbours, so that there is no gap. None where bins are wider, or a column has no
    number, so that lines have to lead over it. A column has the same steps wherever the view is:
    else the picture would flicker."""
    if stretch.size > pixel or not len(stretch.steps) or not np.isfinite(stretch.mean).all():
        return None
    number = np.floor(stretch.steps / pixel)
    first = np.flatnonzero(np.diff(number, prepend=number[0] - 1))
    if len(first) <= number[-1] - number[0]:
        return None
    low, high = np.fmin.reduceat(stretch.low, first), np.fmax.reduceat(stretch.high, first)
    low[1:], high[1:] = np.fmin(low[1:], high[:-1]), np.fmax(high[1:], low[:-1])
    return (number[first] + 0.5) * pixel, low, high
