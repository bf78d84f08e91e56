"""Links as lines: data whole, control inputs dashed, each with its arrow where that can be seen."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSizeF, Qt
from PySide6.QtGui import QColor, QPaintEngine, QPainter, QPainterPath, QPen, QPolygonF

from gradstep.gui.canvas.paint import batch_drawing
from gradstep.gui.canvas.paint.dashes import dashes
from gradstep.gui.canvas.scene.coincident_links import distinct
from gradstep.gui.canvas.scene.level_of_detail import Detail
from gradstep.gui.canvas.scene.link_routing import EVERYWHERE, LANE, Sides
from gradstep.gui.canvas.scene.rect_sides import sides_of
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.look.theme import Theme

ARROW = 8.0
DASH = 4.5  # pixels
OFF, OFF_ANYWHERE = 0.45, 0.05  # pixels that a line may be off its curve: of a device, of a file
WIDTH = 1.25  # of a near line
MARGIN = 16.0  # scene units around what is shown that lines and arrows may reach over


class LinkPainter:
    """Draws many links at once, without what a run says of them."""

    def __init__(self, theme: Theme, arrays: SceneArrays, most_far: int) -> None:
        """most_far: of more links so many are drawn in a far view, from all over the graph."""
        self._theme = theme
        self._most_far = most_far
        self._routes = arrays.routes
        self._control = arrays.visible.control

    def draw(self, painter: QPainter, links: np.ndarray, scale: float) -> None:
        """The links (bool[m]) chosen. scale: pixels per scene unit."""
        detail = Detail.at(scale)
        numbers = np.flatnonzero(links)
        if detail is Detail.DOTS:  # the same ones in every part of the picture
            every = np.ceil(len(links) / self._most_far)
            numbers = numbers[numbers % every == 0] if every > 1 else numbers
        pen = QPen(self._theme.edge, WIDTH if detail is Detail.FULL else 1.0)
        pen.setCosmetic(detail < Detail.FULL)
        painter.setPen(pen)
        if is_vector(painter):
            self._draw_paths(painter, numbers, pen)
        else:
            self._draw_lines(painter, numbers, detail, scale)
        if detail is Detail.FULL:
            self._arrows(painter, numbers, self._theme.edge)

    def _draw_lines(
        self, painter: QPainter, numbers: np.ndarray, detail: Detail, scale: float
    ) -> None:
        routes, sides, off = self._routes, shown(painter), tolerance(painter)
        if detail < Detail.NAMES:  # from there nobody could tell dashes
            batch_drawing.lines(
                painter, routes.flat(*routes.pieces(numbers, sides), off).segments()
            )
            return
        control = self._control[numbers]
        links, pieces = routes.pieces(numbers[~control], sides)
        some = distinct(routes.curves[links, pieces], pieces == LANE, np.zeros(len(links)))
        batch_drawing.lines(
            painter, within(routes.flat(links[some], pieces[some], off).segments(), sides)
        )
        if control.any():
            links, pieces = routes.pieces(numbers[control], sides)
            curves, after = routes.curves[links, pieces], routes.beyond(links, pieces)
            some = distinct(curves, pieces == LANE, np.round(after + curves[:, 3, 0], 3))
            lines = routes.flat(links[some], pieces[some], off)
            batch_drawing.lines(painter, dashes(lines, after[some], DASH / scale, sides))

    def _draw_paths(self, painter: QPainter, numbers: np.ndarray, pen: QPen) -> None:
        """As curves, for pictures that are drawn anew at any size."""
        painter.setBrush(Qt.BrushStyle.NoBrush)
        dashed = QPen(pen)
        dashed.setCapStyle(Qt.PenCapStyle.FlatCap)
        dashed.setDashPattern([DASH / pen.widthF()] * 2)
        for number in numbers.tolist():
            painter.setPen(dashed if self._control[number] else pen)
            painter.drawPath(path(self._routes.curves[number, : self._routes.counts[number]]))

    def _arrows(self, painter: QPainter, numbers: np.ndarray, color: QColor) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(color)
        tips = np.tile(self._routes.ports[numbers, 1], 2)  # as lines of no length
        for x, y in np.unique(within(tips, shown(painter))[:, :2], axis=0).tolist():
            painter.drawConvexPolygon(arrow(x, y))


def tolerance(painter: QPainter) -> float:
    """How far a line may be off its curve, in the painter's own coordinates."""
    off = OFF_ANYWHERE if is_vector(painter) else OFF
    return off / painter.combinedTransform().m11()


def is_vector(painter: QPainter) -> bool:
    """Whether what is painted will be drawn anew at any size."""
    return painter.paintEngine().type() is QPaintEngine.Type.SVG


def shown(painter: QPainter) -> Sides:
    """What of its own coordinates a painter can show, or a little more."""
    if is_vector(painter):
        return EVERYWHERE
    size = QSizeF(painter.viewport().size()) * painter.device().devicePixelRatio()
    area = painter.combinedTransform().inverted()[0].mapRect(QRectF(QPointF(), size))
    if painter.hasClipping():
        area &= painter.clipBoundingRect()
    return sides_of(area.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN))


def within(lines: np.ndarray, sides: Sides) -> np.ndarray:
    """Those lines (float64[k, 4]) that may come into a rectangle."""
    x1, y1, x2, y2 = lines.T
    inside = (np.minimum(x1, x2) <= sides[2]) & (np.maximum(x1, x2) >= sides[0])
    inside &= (np.minimum(y1, y2) <= sides[3]) & (np.maximum(y1, y2) >= sides[1])
    return np.asarray(lines[inside])


def path(curves: np.ndarray) -> QPainterPath:
    """Curves that go on one from another. float64[p, 4, 2]."""
    corners = curves.tolist()
    result = QPainterPath(QPointF(*corners[0][0]))
    for _, first, second, end in corners:
        result.cubicTo(*first, *second, *end)
    return result


def arrow(x: float, y: float) -> QPolygonF:
    """A head that points right, its tip at (x, y)."""
    half = ARROW * 0.45
    return QPolygonF([QPointF(x, y), QPointF(x - ARROW, y - half), QPointF(x - ARROW, y + half)])
