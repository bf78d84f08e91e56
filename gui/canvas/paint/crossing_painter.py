"""Badges on links over which a value goes to another device: how many bytes."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPen

from gradstep.gui.canvas.paint.text_cache import Labels
from gradstep.gui.canvas.scene.level_of_detail import Detail
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.look.theme import Theme

_HIGH = 14.0  # scene units
_ROOM = 5.0  # beside the text


class CrossingPainter:
    """Draws them half-way, where they can be read."""

    def __init__(self, theme: Theme, labels: Labels, arrays: SceneArrays) -> None:
        self._theme, self._labels, self._arrays = theme, labels, arrays

    def draw(self, painter: QPainter, links: np.ndarray, scale: float) -> None:
        """Those of the links (bool[m]) chosen. scale: pixels per scene unit."""
        crossings = self._arrays.visible.crossings
        if not crossings or Detail.at(scale) < Detail.FULL:
            return
        numbers = np.fromiter(crossings, np.int64, len(crossings))
        for number in numbers[links[numbers]].tolist():
            at = QPointF(*self._arrays.routes.middle(number).tolist())
            self._badge(painter, at, crossings[number].badge)

    def _badge(self, painter: QPainter, at: QPointF, text: str) -> None:
        labels, theme = self._labels, self._theme
        width = labels.width(text, labels.caption)
        area = QRectF(0, 0, width + 2 * _ROOM, _HIGH)
        area.moveCenter(at)
        painter.setPen(QPen(theme.edge, 1))
        painter.setBrush(theme.panel)
        painter.drawRoundedRect(area, _HIGH / 2, _HIGH / 2)
        top = labels.middle(area.top(), _HIGH, labels.caption)
        start = QPointF(area.left() + _ROOM, top)
        labels.draw(painter, start, text, labels.caption, theme.text, width + 1)
