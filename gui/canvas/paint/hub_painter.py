"""Hubs: a stub with the number of links that it stands for."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QPainter, QPen

from gradstep.gui.canvas.paint.link_painter import DASH, WIDTH
from gradstep.gui.canvas.paint.text_cache import Labels
from gradstep.gui.canvas.scene.hubs import STUB
from gradstep.gui.canvas.scene.level_of_detail import text_size
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.look.theme import Theme

APART = 4.0  # scene units between a stub and its number


class HubPainter:
    """Draws the hubs of a scene, beside their boxes."""

    def __init__(self, theme: Theme, labels: Labels, arrays: SceneArrays) -> None:
        self._theme = theme
        self._labels = labels
        self._arrays = arrays

    def draw(self, painter: QPainter, boxes: np.ndarray, scale: float) -> None:
        """Those at boxes (bool[n]). scale: pixels per scene unit."""
        labels, size = self._labels, text_size(scale)
        height = labels.height(labels.caption) * size
        for hub in self._arrays.visible.hubs.all:
            if not boxes[hub.box]:
                continue
            near = QPointF(*self._arrays.hub_point(hub))
            far = near + QPointF(STUB if hub.is_output else -STUB, 0)
            pen = QPen(self._theme.edge, WIDTH)
            if hub.is_control:
                pen.setDashPattern([DASH / WIDTH] * 2)
            painter.setPen(pen)
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawLine(QLineF(near, far))
            text = f"{len(hub.links):,}"
            width = labels.width(text, labels.caption) * size
            left = far.x() + APART if hub.is_output else far.x() - APART - width
            at = QPointF(left, labels.middle(far.y() - height / 2, height, labels.caption, size))
            labels.draw(painter, at, text, labels.caption, self._theme.muted, width + 1, size=size)
