"""A gradient on its link: beside the data, against its direction, as wide as it is large."""

from __future__ import annotations

import math

import numpy as np
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from gradstep.gui.canvas.scene import polyline
from gradstep.gui.canvas.scene.overlay_state import Flow
from gradstep.gui.look.theme import Theme, fade

NARROWEST, WIDEST = 1.5, 8.0
HEAD = 6.0  # length of the arrow head beyond the line's width
BAR = 8.0  # half the length of a stopped edge's bar
CLEAR = 10.0  # scene units at both ports that are not dashed


def width(norm: float) -> float:
    """Scene units: 4.5 for a norm of 1, 1.5 more for ten times as much, within limits."""
    if norm <= 0:
        return NARROWEST
    return min(WIDEST, max(NARROWEST, 4.5 + 1.5 * math.log10(norm)))


def draw_flow(painter: QPainter, points: np.ndarray, flow: Flow, theme: Theme) -> None:
    """points: the link's polyline, float64[p, 2], from its source to its target."""
    breadth = width(flow.norm)
    color = theme.problem if flow.wrong else theme.backward
    line = polyline.beside(points, 3.0 + breadth / 2)[::-1]
    shaft, tip = polyline.part(line, 0.0, HEAD + breadth), line[-1]
    pen = QPen(color, breadth)
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    if flow.norm == 0 and not flow.wrong:
        pen.setDashPattern([2, 3])
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(_polygon(shaft))
    _draw_head(painter, shaft[-1], tip, breadth, color)


def draw_dead(painter: QPainter, points: np.ndarray, theme: Theme) -> None:
    """A way that no gradient takes: dashed, in the background's colour over the link itself."""
    pen = QPen(theme.background, 3)
    pen.setDashPattern([2, 2])
    pen.setCapStyle(Qt.PenCapStyle.FlatCap)
    painter.setPen(pen)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawPolyline(_polygon(polyline.part(points, CLEAR, CLEAR)))


def draw_bar(painter: QPainter, points: np.ndarray, theme: Theme) -> None:
    """The bar across a link whose gradient is stopped."""
    at, along = polyline.at(points, 0.5)
    across = np.array([-along[1], along[0]]) * BAR
    ends = QPointF(*(at - across)), QPointF(*(at + across))
    for color, breadth in ((theme.background, 7.0), (theme.backward, 3.5)):
        pen = QPen(color, breadth)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.drawLine(*ends)


def draw_selected(painter: QPainter, points: np.ndarray, theme: Theme) -> None:
    painter.setBrush(Qt.BrushStyle.NoBrush)
    for color, breadth in ((fade(theme.selection, 0.3), 7.0), (theme.selection, 2.0)):
        painter.setPen(QPen(color, breadth))
        painter.drawPolyline(_polygon(points))


def _draw_head(
    painter: QPainter, start: np.ndarray, tip: np.ndarray, breadth: float, color: QColor
) -> None:
    along = tip - start
    across = np.array([-along[1], along[0]]) / max(float(np.hypot(*along)), 1e-9)
    side = across * (breadth / 2 + 3.0)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawConvexPolygon(_polygon(np.stack([tip, start + side, start - side])))


def _polygon(points: np.ndarray) -> QPolygonF:
    return QPolygonF([QPointF(x, y) for x, y in points.tolist()])
