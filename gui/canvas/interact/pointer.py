"""Where the mouse is on the canvas, and what of the graph lies there."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QWidget

from gradstep.core.graph.model import Edge
from gradstep.core.layout.box_diagram import GRID
from gradstep.gui.canvas.scene import hit_test
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.hit_test import Hit
from gradstep.gui.canvas.scene.scene_arrays import Point
from gradstep.gui.canvas.scene.scene_model import SceneModel


class Pointer:
    """Pixels are those of the viewport, `port`."""

    def __init__(self, stage: SceneModel, camera: Camera, port: QWidget) -> None:
        self._stage = stage
        self._camera = camera
        self._port = port
        self._last: QPoint | None = None

    def move_to(self, pixel: QPoint) -> None:
        self._last = pixel

    @property
    def is_over(self) -> bool:
        """Whether the mouse is over the canvas."""
        return self._port.underMouse()

    @property
    def is_known(self) -> bool:
        """Whether it is over the canvas, and moved there."""
        return self._last is not None and self.is_over

    @property
    def pixel(self) -> QPoint:
        """Where the mouse was last; the middle before it ever came."""
        return self._camera.middle if self._last is None else self._last

    @property
    def wire(self) -> Edge | None:
        """The wire under the mouse."""
        link = None if self._last is None else self.hit(self._last).link
        wires = () if link is None else self._stage.arrays.visible.links[link].wires
        return wires[0] if wires else None

    def hit(self, pixel: QPoint) -> Hit:
        """What lies under a pixel."""
        point = self._camera.to_scene(pixel)
        return hit_test.at(self._stage.arrays, point.toTuple(), self._camera.scale)

    def on_grid(self, pixel: QPoint) -> Point:
        """The place of the grid next to a pixel, scene units."""
        point = self._camera.to_scene(pixel)
        return round(point.x() / GRID) * GRID, round(point.y() / GRID) * GRID
