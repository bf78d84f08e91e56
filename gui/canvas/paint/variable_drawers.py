"""What an update did to a variable, in a drawer under its node: what it was, and the difference."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPainterPath, QPen

from gradstep.gui.canvas.paint.node_cards import INSET, RADIUS
from gradstep.gui.canvas.paint.text_cache import Labels
from gradstep.gui.canvas.scene.scene_arrays import ROW
from gradstep.gui.look.theme import Theme, mix
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.variable_change import Change, row

_CAPTION = "was"
_MARGIN = 6.0  # scene units that the drawer is narrower on each side than its node
_PADDING = 3.0
_TIGHT = 1.0  # padding where there is no room for more
_LEAST = 0.8  # of the size of the texts: what they shrink to rather than cover another node
_CLOSED = 6.0  # height of a drawer without a text

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
        """At `node` (scene units), where nothing else stands, if possible. others: float64[n, 4],
        what nodes there are, and titles of frames; fresh: the last step made the change; size: of
        the texts, if there is room for that. Where there is none for any text, the drawer stays
        closed."""
        left = INSET + (self._labels.width(_CAPTION, self._labels.number) + 4) * size
        room = int((node.width() - left - _MARGIN - 2) / (self._labels.letter * size))
        lines, above, area = _place(node, forms(*update, room), others, ROW * size)
        self._ground(painter, area, above, fresh)
        size = min(size, (area.height() - 2 * _TIGHT) / (ROW * max(1, len(lines))))
        padding = (area.height() - ROW * size * len(lines)) / 2
        for number, (caption, text) in enumerate(lines):
            top = area.y() + padding + ROW * size * number
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
    """The form that has a place, whether that is above the node, and the place. row: height of a
    line, which may shrink to `_LEAST` of that in the last form; no lines where not even they fit.
    """
    heights = [(lines, 2 * _PADDING + row * len(lines)) for lines in forms]
    for lines, height in [*heights, (forms[-1], 2 * _TIGHT + row * _LEAST * len(forms[-1]))]:
        for above in (False, True):
            area = _beside(node, height, above)
            if is_free(area, others):
                return lines, above, _grown(area, node, heights[-1][1], above, others)
    return [], False, _beside(node, _CLOSED, False)


def _grown(area: QRectF, node: QRectF, height: float, above: bool, others: np.ndarray) -> QRectF:
    """A free area beside a node as high as other nodes let it be, `height` at most."""
    while area.height() < height:
        more = _beside(node, min(height, area.height() + 1), above)
        if not is_free(more, others):
            break
        area = more
    return area


def _beside(node: QRectF, height: float, above: bool) -> QRectF:
    """The area of a drawer."""
    top = node.top() - height if above else node.bottom()
    return QRectF(node.x() + _MARGIN, top, node.width() - 2 * _MARGIN, height)


def is_free(area: QRectF, others: np.ndarray) -> bool:
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
