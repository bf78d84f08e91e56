"""Signs of cells that are no number, or zero: shapes, so that nothing rests on colour alone."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from gradstep.core.host.tensors.aggregate import INF, NAN, ZERO
from gradstep.gui.look.contrast import ink_on


def draw_sign(painter: QPainter, place: QRectF, kind: int, ink: QColor) -> None:
    """A cross for NaN, an arrow up or down for an infinity, a dot for zero: shapes, so that nothing
    rests on colour alone."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    center, reach = place.center(), min(place.width(), place.height()) / 4
    painter.setPen(QPen(ink, 1.2))
    painter.setBrush(ink)
    if kind == NAN:
        for side in (-1, 1):
            corner = QPointF(reach, side * reach)
            painter.drawLine(center - corner, center + corner)
    elif kind == ZERO:
        painter.setOpacity(0.5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(center, 1.2, 1.2)
    else:
        up = -1 if kind == INF else 1
        points = [QPointF(-reach, -up * reach), QPointF(reach, -up * reach), QPointF(0, up * reach)]
        painter.drawPolygon(QPolygonF([center + point for point in points]))
    painter.restore()


def draw_swatch(painter: QPainter, place: QRectF, kind: int, ground: QColor) -> None:
    """The same on its colour, for the legend."""
    painter.fillRect(place, ground)
    draw_sign(painter, place, kind, ink_on(ground))
