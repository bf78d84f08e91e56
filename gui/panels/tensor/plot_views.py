"""A tensor as lines, and as a histogram: pyqtgraph's plots in the window's colours."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QColor

from gradstep.core.host.tensors.aggregate import NAN
from gradstep.gui.look.theme import SMALL, Theme, Tone, fade, mix, mono
from gradstep.gui.model import number_text
from gradstep.gui.panels.widgets.small_labels import ThemeSource

Array = np.ndarray[Any, Any]
_FAINTEST = 0.7  # of the last of several lines


class Plot(pyqtgraph.PlotWidget):  # type: ignore[misc]
    """Nothing in it moves by itself or by the mouse. pointed(text): what is under the pointer."""

    pointed = Signal(str)

    def __init__(
        self, theme: ThemeSource, name: str, axes: dict[str, pyqtgraph.AxisItem] | None = None
    ) -> None:
        """axes: in place of the usual ones, by side."""
        super().__init__(axisItems=axes)
        self.setObjectName(name)
        self.setFrameShape(self.Shape.NoFrame)
        self._theme = theme
        self.plotItem.setMenuEnabled(False)
        self.plotItem.hideButtons()
        self.plotItem.setMouseEnabled(False, False)
        self.scene().sigMouseMoved.connect(lambda at: self.pointed.emit(self.said_at(at)))
        self.restyle()

    def restyle(self) -> None:
        """The theme's colours on ground and axes."""
        theme = self._theme()
        self.setBackground(theme.panel)
        for side in ("left", "bottom"):
            axis = self.plotItem.getAxis(side)
            axis.setPen(theme.line)
            axis.setTextPen(theme.muted)
            axis.setStyle(tickFont=mono(SMALL), tickLength=-4)
            axis.enableAutoSIPrefix(False)

    def at(self, point: QPointF) -> tuple[float, float]:
        """A point of the scene in the plot's numbers."""
        found = self.plotItem.vb.mapSceneToView(point)
        return found.x(), found.y()

    def said_at(self, point: QPointF) -> str:
        return ""


class LinePlot(Plot):
    """Up to some lines of a table, or a vector, over the index; of many elements in one pixel the
    least and the largest are joined, so that nothing that sticks out is lost."""

    def __init__(self, theme: ThemeSource, name: str) -> None:
        super().__init__(theme, name)
        self._least = self._most = np.empty((0, 0))
        self._block = 1

    def show_lines(self, least: Array, most: Array, kinds: Array, block: int, tone: Tone) -> None:
        """As TensorLines has them: float64[lines, points], uint8[lines, points]."""
        self.clear()
        self._least, self._most, self._block = least, most, block
        theme = self._theme()
        self.plotItem.addLine(y=0, pen=theme.line)
        x = np.arange(least.shape[1], dtype=np.float64) * block
        for number in range(len(least)):
            share = _FAINTEST * number / max(len(least) - 1, 1)
            color = mix(theme.tone(tone), theme.panel, share)
            self._add(x, least[number], most[number], color)
            self._add_wrong(x, kinds[number], theme)
        single = not len(least) or least.shape[1] < 2
        self.plotItem.setXRange(0, 1 if single else float(x[-1]), padding=0.02)
        self.plotItem.enableAutoRange(axis="y")

    def _add(self, x: Array, least: Array, most: Array, color: QColor) -> None:
        if self._block == 1:
            dots = len(x) <= 64
            self.plot(
                x,
                least,
                pen=color,
                connect="finite",
                symbol="o" if dots else None,
                symbolSize=4,
                symbolBrush=color,
                symbolPen=None,
            )
            return
        both = np.repeat(x, 2)
        self.plot(both, np.column_stack([least, most]).ravel(), pen=color, connect="finite")

    def _add_wrong(self, x: Array, kinds: Array, theme: Theme) -> None:
        """Where a NaN or an infinity is: a line from top to bottom would hide the rest, so ticks on
        the axis; crosses for NaN, triangles for infinities."""
        for symbol, chosen in (("x", kinds == NAN), ("t1", (kinds == 2) | (kinds == 3))):
            if chosen.any():
                self.plot(
                    x[chosen],
                    np.zeros(int(chosen.sum())),
                    pen=None,
                    symbol=symbol,
                    symbolSize=9,
                    symbolBrush=theme.problem,
                    symbolPen=theme.problem,
                )

    def said_at(self, point: QPointF) -> str:
        at = round(self.at(point)[0] / self._block)
        if not len(self._least) or not 0 <= at < self._least.shape[1]:
            return ""
        texts = [
            number_text.scalar(float(a))
            if a == b
            else f"{number_text.scalar(float(a))} … {number_text.scalar(float(b))}"
            for a, b in zip(self._least[:8, at], self._most[:8, at], strict=True)
        ]
        first = at * self._block
        span = str(first) if self._block == 1 else f"{first}:{first + self._block}"
        return f"[{span}]  {'  '.join(texts)}"


class HistogramPlot(Plot):
    """How many elements lie where."""

    def __init__(self, theme: ThemeSource, name: str) -> None:
        super().__init__(theme, name)
        self._edges, self._counts = np.empty(0), np.empty(0)

    def show_counts(
        self, counts: Array, least: float, most: float, tone: Tone, log: bool = False
    ) -> None:
        """counts: int[bins] in equal parts of the range. log: bars are as high as the logarithm of
        one more than they count, so that one element is seen beside millions and none is none."""
        self.clear()
        if least == most:
            room = max(abs(least), 1.0) / 2
            least, most, counts = least - room, most + room, np.array([0, counts.sum(), 0])
        self._edges = np.linspace(least, most, len(counts) + 1)
        self._counts = counts
        color = self._theme().tone(tone)
        heights = np.log10(counts + 1.0) if log else counts
        largest = float(counts.max(initial=0))
        powers = [10**n for n in range(len(str(int(largest))))] if log else []
        ticks = [[(float(np.log10(n + 1)), f"{n:,}") for n in (0, *powers)]] if log else None
        self.plotItem.getAxis("left").setTicks(ticks)
        self.plot(
            self._edges,
            heights,
            stepMode="center",
            fillLevel=0,
            pen=color,
            brush=fade(color, 0.4),
        )
        self.plotItem.setXRange(least, most, padding=0.02)
        self.plotItem.setYRange(0, max(float(heights.max(initial=0)), 0.3), padding=0.04)

    def said_at(self, point: QPointF) -> str:
        at = int(np.searchsorted(self._edges, self.at(point)[0], "right")) - 1
        if not 0 <= at < len(self._counts):
            return ""
        low, high = (number_text.scalar(float(edge)) for edge in self._edges[at : at + 2])
        return f"{low} … {high}  {int(self._counts[at]):,} elements"
