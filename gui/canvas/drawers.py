"""What an update did to a variable, in a drawer under its node: what it was, and the difference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from gui.canvas.arrays import ROW
from gui.canvas.cards import INSET, RADIUS
from gui.canvas.labels import Labels
from gui.change import Change, row
from gui.theme import Theme, mix
from gui.values import TensorValue

_CAPTION = "was"
_MARGIN = 6.0  # scene units that the drawer is narrower on each side than its node
_PADDING = 3.0

Lines = list[tuple[str, str]]


class DrawerPainter:
    """Draws over everything else, since a drawer has no place of its own on the canvas."""

    def __init__(self, theme: Theme, labels: Labels) -> None:
        self.theme = theme
        self._labels = labels

    def draw(
        self, painter: QPainter, node: QRectF, others: np.ndarray,
        update: tuple[TensorValue, Change], fresh: bool, size: float,
    ) -> None:  # fmt: skip
        """At `node` (scene units), where no other node stands, if possible. others: float64[n, 4],
        what nodes there are; fresh: the last step made the change; size: of the texts."""
        left = INSET + (self._labels.width(_CAPTION, self._labels.number) + 4) * size
        room = int((node.width() - left - _MARGIN - 2) / (self._labels.letter * size))
        lines, above, area = _place(node, forms(*update, room), others, ROW * size)
        self._ground(painter, area, above, fresh)
        for number, (caption, text) in enumerate(lines):
            top = area.y() + _PADDING + ROW * size * number
            tone = self.theme.muted if caption == _CAPTION else self.theme.update
            self._write(painter, node.x() + INSET, top, caption, self.theme.faint, size)
            x = node.x() + (left if caption else INSET)
            self._write(painter, x, top, text, tone, size, area.right() - x - 1)

    def _ground(self, painter: QPainter, area: QRectF, above: bool, fresh: bool) -> None:
        theme = self.theme
        surface = theme.raised if theme.is_dark else theme.panel
        painter.setBrush(mix(surface, theme.update, 0.16 if fresh else 0.06))
        painter.setPen(QPen(theme.update if fresh else mix(surface, theme.update, 0.45), 1))
        painter.drawPath(_open_rectangle(area, above))
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _write(
        self, painter: QPainter, x: float, top: float, text: str, color: QColor, size: float,
        room: float = 1e4,
    ) -> None:  # fmt: skip
        labels = self._labels
        at = QPointF(x, labels.middle(top, ROW * size, labels.number, size))
        labels.draw(painter, at, text, labels.number, color, room, size=size)


def forms(value: TensorValue, change: Change, room: int) -> list[Lines]:
    """Caption and text of each line, of `room` characters: the elements where they fit, or how
    large the change is as a whole."""
    before, delta = row(change.before, value, room), row(change.delta, value, room)
    both = [[(_CAPTION, before), ("Δ", delta)]] if before and delta else []
    return [*both, [("Δ", delta)] if delta else [("", change.short)]]


def _place(
    node: QRectF, forms: Sequence[Lines], others: np.ndarray, row: float
) -> tuple[Lines, bool, QRectF]:
    """The form that has a place, whether that is above the node, and the place."""
    width = node.width() - 2 * _MARGIN
    for lines in forms:
        height = 2 * _PADDING + row * len(lines)
        for above, top in ((False, node.bottom()), (True, node.top() - height)):
            area = QRectF(node.x() + _MARGIN, top, width, height)
            if _is_free(area, others):
                return lines, above, area
    lines = forms[-1]
    height = 2 * _PADDING + row * len(lines)
    return lines, False, QRectF(node.x() + _MARGIN, node.bottom(), width, height)


def _is_free(area: QRectF, others: np.ndarray) -> bool:
    """Whether no rectangle (float64[n, 4]) has a part of an area."""
    x, y, width, height = others.T
    apart = (x >= area.right()) | (x + width <= area.left())
    apart |= (y >= area.bottom()) | (y + height <= area.top())
    return bool(apart.all())


def _open_rectangle(area: QRectF, above: bool) -> QPainterPath:
    """A rectangle that is open where the node is, with round corners on the other side."""
    inner = area.adjusted(0.5, 0, -0.5, 0)
    near, far = (inner.bottom(), inner.top()) if above else (inner.top(), inner.bottom())
    round_off = RADIUS if above else -RADIUS
    path = QPainterPath(QPointF(inner.left(), near))
    path.lineTo(inner.left(), far + round_off)
    path.quadTo(QPointF(inner.left(), far), QPointF(inner.left() + RADIUS, far))
    path.lineTo(inner.right() - RADIUS, far)
    path.quadTo(QPointF(inner.right(), far), QPointF(inner.right(), far + round_off))
    path.lineTo(inner.right(), near)
    return path
