"""The canvas's layers, from the back: dots, graph, what the run says, and what is being moved."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPoint, QRect, QRectF
from PySide6.QtGui import QPainter

from gradstep.gui.canvas.interact.camera import Camera
from gradstep.gui.canvas.paint import paint_order
from gradstep.gui.canvas.paint.front_buffer import FrontBuffer
from gradstep.gui.canvas.paint.graph_painter import GraphPainter
from gradstep.gui.canvas.paint.runtime_painter import RuntimePainter
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.look.theme import Theme


class Layers:
    """Two kept pictures: the graph's structure, which edits change, and over it what a step
    changes. Boxes that are being dragged are painted each time, over one picture of both."""

    def __init__(self, stage: SceneModel, camera: Camera, theme: Theme) -> None:
        self._stage = stage
        self._camera = camera
        self.painter = GraphPainter(theme)
        self.runtime = RuntimePainter(theme, self.painter.labels)
        self._structure = FrontBuffer(self._paint_structure)
        self._facts = FrontBuffer(self._paint_facts, transparent=True)
        self._rest = FrontBuffer(self._paint_rest)  # of what is being dragged

    def set_theme(self, theme: Theme) -> None:
        self.painter.theme = self.runtime.theme = theme
        self.refresh()

    def lift(self, boxes: np.ndarray | None) -> None:
        """Take boxes (bool[n]) and their links out of the pictures, or put them back."""
        self.painter.lifted = boxes
        self.refresh()

    def refresh(self) -> None:
        """The graph changed."""
        self._structure.invalidate()
        self.refresh_facts()

    def refresh_facts(self) -> None:
        """Only what is said of the graph changed."""
        self._facts.invalidate()
        self._rest.invalidate()

    def draw(self, painter: QPainter, ratio: float) -> None:
        """Everything, on a painter in viewport pixels. ratio: device pixels per pixel."""
        self.painter.arrays = self._stage.arrays
        camera = self._camera
        if camera.zooming:  # seen around the scaled picture of a large graph
            painter.fillRect(QRect(QPoint(), camera.pixels.size()), self.painter.theme.background)
        lifting = self.painter.lifted is not None
        for buffer in (self._rest,) if lifting else (self._structure, self._facts):
            buffer.show(painter, camera.pixels, camera.scale, ratio, camera.zooming)
        if lifting:
            self._draw_lifted(painter)

    def _draw_lifted(self, painter: QPainter) -> None:
        arrays, scale, lifted = self._stage.arrays, self._camera.scale, self.painter.lifted
        assert lifted is not None  # asked before
        painter.save()
        painter.translate(-self._camera.pixels.topLeft())
        painter.scale(scale, scale)
        self._paint_both(painter, lifted, arrays.links_of(lifted), scale)
        painter.restore()

    def _paint_structure(self, painter: QPainter, rect: QRectF, scale: float) -> None:
        self.painter.background(painter, rect, scale)
        self.painter.paint(painter, rect, scale)

    def _paint_facts(self, painter: QPainter, rect: QRectF, scale: float) -> None:
        boxes, links = self.painter.standing(rect)
        arrays, facts = self._stage.arrays, self._stage.facts
        paint_order.paint_facts(painter, arrays, self.runtime, facts, boxes, links, scale)

    def _paint_rest(self, painter: QPainter, rect: QRectF, scale: float) -> None:
        self.painter.background(painter, rect, scale)
        self.painter.paint_frames(painter, rect, scale)
        self._paint_both(painter, *self.painter.standing(rect), scale)

    def _paint_both(
        self, painter: QPainter, boxes: np.ndarray, links: np.ndarray, scale: float
    ) -> None:
        facts = self._stage.facts
        paint_order.paint_both(painter, self.painter, self.runtime, facts, boxes, links, scale)
