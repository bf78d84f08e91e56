"""The way round a loop: arrows along the edge of its frame, from an iteration to the next."""

from __future__ import annotations

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QPolygonF

from gradstep.core.layout.nested_scopes import SIDE
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.scope_frames import Frame
from gradstep.gui.look.theme import Theme

WIDTH = 1.5  # pixels of the line, scene units when near
IN = 20.0  # scene units from a box's right corner to where the way leaves it
DOWN = 14.0  # from its upper edge to where the way comes in, above what comes from outside
ROUND = 6.0  # radius of the corners
HEAD = 4.5  # half of the arrow's width


class LoopPainter:
    """Draws under the boxes: what stands between the ends hides the way there."""

    def __init__(self, theme: Theme, arrays: SceneArrays) -> None:
        self._theme = theme
        self._arrays = arrays

    def draw(self, painter: QPainter, frame: Frame, scale: float) -> None:
        """The ways round the loop of one frame. scale: pixels per scene unit."""
        rounds = self._arrays.visible.loops.get(frame.loop, ())
        left, top, _, height = frame.rect
        corner = QPointF(left + SIDE / 3, top + height - SIDE / 2)
        pen = QPen(self._theme.muted, WIDTH)
        pen.setCosmetic(scale < 1)
        for source, target in rounds:
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawPath(self._way(source, target, corner))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.muted)
            painter.drawPolygon(self._head(target))

    def _way(self, source: int, target: int, corner: QPointF) -> QPainterPath:
        """Down to the frame's lower edge, along it, up its left edge and in."""
        x, y, width, height = self._arrays.rects[source].tolist()
        start, end = QPointF(x + width - IN, y + height), self._entry(target)
        path = QPainterPath(start)
        path.lineTo(start.x(), corner.y() - ROUND)
        path.quadTo(start.x(), corner.y(), start.x() - ROUND, corner.y())
        path.lineTo(corner.x() + ROUND, corner.y())
        path.quadTo(corner.x(), corner.y(), corner.x(), corner.y() - ROUND)
        path.lineTo(corner.x(), end.y() + ROUND)
        path.quadTo(corner.x(), end.y(), corner.x() + ROUND, end.y())
        path.lineTo(end.x() - HEAD, end.y())
        return path

    def _entry(self, box: int) -> QPointF:
        left, top, _, _ = self._arrays.rects[box].tolist()
        return QPointF(left, top + DOWN)

    def _head(self, box: int) -> QPolygonF:
        tip = self._entry(box)
        back = QPointF(-2 * HEAD, 0)
        return QPolygonF([tip, tip + back + QPointF(0, HEAD), tip + back - QPointF(0, HEAD)])
