"""One number of a tensor over the runs, as pyqtgraph draws it; imported for the first one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyqtgraph
from PySide6.QtCore import QPointF, Qt, Signal
from PySide6.QtGui import QColor

from gradstep.core.protocol.messages import History
from gradstep.gui.look.theme import Tone
from gradstep.gui.model import number_text
from gradstep.gui.panels.tensor.plot_views import Array, Plot
from gradstep.gui.panels.widgets.small_labels import ThemeSource

_DOTTED = 128  # points up to which each has a dot


class RunAxis(pyqtgraph.AxisItem):  # type: ignore[misc]
    """Runs are counted: none has a number between two."""

    def tickSpacing(self, low: float, high: float, size: float) -> list[tuple[float, float]]:
        levels = super().tickSpacing(low, high, size)
        return [(gap, first) for gap, first in levels if gap >= 1] or [(1.0, 0.0)]


class HistoryPlot(Plot):
    """clicked(run, step): a point was; the debugger is to go there."""

    clicked = Signal(int, int)

    def __init__(self, theme: ThemeSource, name: str) -> None:
        super().__init__(theme, name, {"bottom": RunAxis("bottom")})
        self._history = History()
        self._x = np.empty(0)
        self.scene().sigMouseClicked.connect(self._click)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def show_history(self, history: History, here: tuple[int, int], tone: Tone) -> None:
        """here: the run and step at which the debugger stands."""
        self.clear()
        self._history = history
        self._x = np.array([*map(self._place, history.runs, history.steps)], np.float64)
        y = np.array([np.nan if v is None else v for v in history.values], np.float64)
        theme = self._theme()
        color = theme.tone(tone)
        self.plotItem.addLine(x=self._place(*here), pen=theme.tone("current"))
        finite = np.isfinite(y)
        if finite.any():
            self.plot(self._x, y, pen=pyqtgraph.mkPen(color, width=1), connect="finite")
        if len(y) <= _DOTTED:
            self._add_signs(self._x[finite], y[finite], "o", color)
        self._add_signs(self._x[~finite], np.zeros(int((~finite).sum())), "x", theme.problem)
        ends = (self._x.min(), self._x.max()) if len(y) else (0.0, 1.0)
        room = 0.5 if ends[0] == ends[1] else 0.0
        self.plotItem.setXRange(ends[0] - room, ends[1] + room, padding=0.02)
        self.plotItem.enableAutoRange(axis="y")

    def _add_signs(self, x: Array, y: Array, symbol: str, color: QColor) -> None:
        """Dots, and crosses on the axis where there is no number."""
        if len(x):
            self.plot(
                x,
                y,
                pen=None,
                symbol=symbol,
                symbolSize=5 if symbol == "o" else 9,
                symbolBrush=color,
                symbolPen=None if symbol == "o" else color,
            )

    def _place(self, run: int, step: int) -> float:
        """Of a moment on the axis, where 1 is the begin of the first run."""
        return run + 1 + step / max(self._history.length, 1)

    def nearest(self, point: QPointF) -> int:
        """The moment that is nearest to a point of the scene, by its number; -1 where none is."""
        if not len(self._x):
            return -1
        return int(np.abs(self._x - self.at(point)[0]).argmin())

    def said_at(self, point: QPointF) -> str:
        at = self.nearest(point)
        if at < 0:
            return ""
        value = self._history.values[at]
        number = "no finite number" if value is None else number_text.scalar(value)
        return f"run {self._history.runs[at] + 1}, step {self._history.steps[at]}: {number}"

    def _click(self, event: Any) -> None:
        """event: pyqtgraph's, whose class is not to be named: its module is hidden by a class."""
        at = self.nearest(event.scenePos())
        if at >= 0 and event.button() == Qt.MouseButton.LeftButton:
            self.clicked.emit(self._history.runs[at], self._history.steps[at])
