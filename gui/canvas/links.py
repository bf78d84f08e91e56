"""Links as lines: data whole, control inputs dashed, each with its arrow where that can be seen."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from gui.canvas import batch, routing
from gui.canvas.arrays import SceneArrays
from gui.canvas.detail import CURVE_STEP, MOST_FAR_LINKS, Detail
from gui.theme import Theme

ARROW = 8.0
DASH = 4.5  # pixels


class LinkPainter:
    """Draws many links at once, without what a run says of them."""

    def __init__(self, theme: Theme, arrays: SceneArrays) -> None:
        self._theme = theme
        self._arrays = arrays

    def draw(self, painter: QPainter, links: np.ndarray, scale: float) -> None:
        """The links (bool[m]) chosen. scale: pixels per scene unit."""
        detail = Detail.at(scale)
        step = CURVE_STEP[detail]
        points, control = self._arrays.points, self._arrays.visible.control
        if detail is Detail.DOTS:
            keep = np.flatnonzero(links)[:MOST_FAR_LINKS]
            links = np.zeros_like(links)
            links[keep] = True
        pen = QPen(self._theme.edge, 1.25 if detail is Detail.FULL else 1.0)
        pen.setCosmetic(detail < Detail.FULL)
        painter.setPen(pen)
        batch.lines(painter, routing.segments(points[links & ~control], step))
        waits = points[links & control]
        near = detail >= Detail.NAMES  # from afar nobody could tell dashes
        batch.lines(
            painter, routing.dashes(waits, DASH / scale) if near else routing.segments(waits, step)
        )
        if detail is Detail.FULL:
            self._arrows(painter, np.flatnonzero(links), self._theme.edge)

    def _arrows(self, painter: QPainter, links: np.ndarray, color: QColor) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        for x, y in self._arrays.points[links, -1].tolist():
            painter.drawConvexPolygon(arrow(x, y))


def arrow(x: float, y: float) -> QPolygonF:
    """A head that points right, its tip at (x, y)."""
    half = ARROW * 0.45
    return QPolygonF([QPointF(x, y), QPointF(x - ARROW, y - half), QPointF(x - ARROW, y + half)])
