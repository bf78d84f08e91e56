"""Badges on links over which a value goes to another device: how many bytes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen

from gradstep.gui.canvas.paint.text_cache import Labels
from gradstep.gui.canvas.scene.device_crossings import Crossing
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.look.theme import Theme

_HIGH = 14.0  # scene units
_ROOM = 5.0  # beside the text


class CrossingPainter:
    """Draws them half-way, over what else is drawn along links."""

    def __init__(self, theme: Theme, labels: Labels) -> None:
        self.theme, self._labels = theme, labels

    def draw(
        self,
        painter: QPainter,
        arrays: SceneArrays,
        crossings: Mapping[int, Crossing],
        links: np.ndarray,
    ) -> None:
        """Those (by the numbers of their links) of the links (bool[m]) chosen; a stub has nothing
        half-way."""
        numbers = np.fromiter(crossings, np.int64, len(crossings))
        whole = links[numbers] & ~arrays.visible.hubs.stubs[numbers]
        for number in numbers[whole].tolist():
            at = QPointF(*arrays.routes.middle(number).tolist())
            self._badge(painter, at, crossings[number].badge)

    def _badge(self, painter: QPainter, at: QPointF, text: str) -> None:
        labels, theme = self._labels, self.theme
        width = labels.width(text, labels.caption)
        area = QRectF(0, 0, width + 2 * _ROOM, _HIGH)
        area.moveCenter(at)
        painter.setPen(QPen(theme.edge, 1))
        painter.setBrush(theme.panel)
        painter.drawRoundedRect(area, _HIGH / 2, _HIGH / 2)
        top = labels.middle(area.top(), _HIGH, labels.caption)
        start = QPointF(area.left() + _ROOM, top)
        labels.draw(painter, start, text, labels.caption, theme.text, width + 1)
