"""Curves of a million steps, moved by the mouse.

    python -m tests.bench.panning CURVES STEPS FRAMES

prints one JSON object: what targets.TRAINING names -> seconds of a frame. The plot is the Training
panel's own, off screen; a frame is one movement of the mouse until all is painted, in CPU time.
"""

from __future__ import annotations

import json
import sys
import time

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QApplication

from gradstep.gui.look import theme
from gradstep.gui.model.curve_points import Points
from gradstep.gui.model.earlier_trainings import EarlierTrainings
from gradstep.gui.model.training_curve import Curve
from gradstep.gui.panels.training.curve_plot import CurvePlot

_SIZE = (1100, 600)  # pixels
_WARM, _LEAST = 5, 0.001  # frames that do not count; seconds that painting takes
_LEFT, _NONE = Qt.MouseButton.LeftButton, Qt.MouseButton.NoButton


def made(curves: int, steps: int) -> list[Curve]:
    """Losses that fall, with noise."""
    random, found = np.random.default_rng(3), []
    falling = np.exp(-np.arange(steps) / steps * 3)
    for number in range(curves):
        curve = Curve(f'x["{number}:0"]', str(number))
        assert isinstance(curve.points, Points)
        curve.points.put(0, falling * (1 + number / 10) + random.standard_normal(steps) * 0.05)
        found.append(curve)
    return found


class Hand:
    """A mouse on a plot."""

    def __init__(self, plot: CurvePlot) -> None:
        self._plot, self._view = plot, plot.findChild(type(plot._box)).viewport()

    def frames(self, count: int) -> list[float]:
        """Seconds from one place to the next, to and fro."""
        self._send(QEvent.Type.MouseButtonPress, 600.0)
        found = []
        for number in range(count):
            start = time.process_time()
            self._send(QEvent.Type.MouseMove, 600.0 + 200 * np.sin(number / 7))
            QApplication.processEvents()
            found.append(time.process_time() - start)
        self._send(QEvent.Type.MouseButtonRelease, 600.0)
        return found

    def _send(self, kind: QEvent.Type, x: float) -> None:
        place = QPointF(x, 300.0)
        held = _NONE if kind == QEvent.Type.MouseButtonRelease else _LEFT
        changed = _NONE if kind == QEvent.Type.MouseMove else _LEFT
        there = QPointF(self._view.mapToGlobal(place))
        event = QMouseEvent(kind, place, there, changed, held, Qt.KeyboardModifier.NoModifier)
        QApplication.sendEvent(self._view, event)


def measure(curves: int, steps: int, frames: int) -> dict[str, list[float]]:
    pg.setConfigOption("mouseRateLimit", 0)  # else movements are left out that come too soon
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    look = theme.load("dark")
    plot = CurvePlot(lambda: look, EarlierTrainings())
    plot.resize(*_SIZE)
    plot.show()
    plot.show_curves(made(curves, steps))
    QApplication.processEvents()
    hand = Hand(plot)
    hand.frames(_WARM)
    found = hand.frames(frames)
    assert min(found) > _LEAST, "each frame has moved the plot"
    return {"pan": found}


if __name__ == "__main__":
    json.dump(measure(*map(int, sys.argv[1:])), sys.stdout)
