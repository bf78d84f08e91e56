"""What the mouse does with the canvas: one class per gesture, from press to release."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QGraphicsRectItem

from gradstep.core.layout.box_diagram import GRID
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.rect_sides import sides_of
from gradstep.gui.canvas.scene.scene_arrays import Movement
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.look.theme import fade
from gradstep.gui.model.workspace import Workspace

SLACK = 4  # pixels that the mouse may tremble before a press becomes a drag
Lift = Callable[[np.ndarray | None], None]  # boxes (bool[n]) that are dragged; None: put down


class Gesture(Protocol):
    """Begun by a press; then any number of moves; then a release or a cancel.

    is_over: whether another scene is shown than it works on: something was undone by key.
    """

    @property
    def is_over(self) -> bool: ...

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None: ...

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None: ...

    def cancel(self) -> None: ...


class Pan:
    """Moves the view with the hand."""

    is_over = False

    def __init__(self, camera: Camera, overlay: Overlay, pixel: QPoint) -> None:
        self._camera = camera
        self._overlay = overlay
        self._last = pixel
        overlay.set_cursor(Qt.CursorShape.ClosedHandCursor)

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        self._camera.pan(pixel - self._last)
        self._last = pixel

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        self.cancel()

    def cancel(self) -> None:
        self._overlay.unset_cursor()


class RubberBand:
    """Selects the boxes that a rectangle touches; Shift adds them, a click on nothing clears."""

    is_over = False

    def __init__(
        self,
        workspace: Workspace,
        stage: SceneModel,
        camera: Camera,
        overlay: Overlay,
        pixel: QPoint,
    ) -> None:
        self._workspace = workspace
        self._stage = stage
        self._camera = camera
        self._overlay = overlay
        self._pixel = pixel
        self._before = workspace.selection
        theme = workspace.theme
        self._item = QGraphicsRectItem()
        self._item.setPen(QPen(theme.selection, 0))
        self._item.setBrush(fade(theme.selection, 0.12))
        overlay.add(self._item)

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        band = self._band(pixel)
        self._item.setRect(band)
        names = self._stage.members(self._stage.arrays.boxes_in(*sides_of(band)))
        kept = self._before if modifiers & Qt.KeyboardModifier.ShiftModifier else ()
        self._workspace.select([*kept, *names])

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        still = (pixel - self._pixel).manhattanLength() < SLACK
        if still and not modifiers & Qt.KeyboardModifier.ShiftModifier:
            self._workspace.select([])
        self._overlay.remove(self._item)

    def cancel(self) -> None:
        self._workspace.select(self._before)
        self._overlay.remove(self._item)

    def _band(self, pixel: QPoint) -> QRectF:
        first, second = self._camera.to_scene(self._pixel), self._camera.to_scene(pixel)
        return QRectF(first, second).normalized()


class MoveBoxes:
    """Drags the selected boxes over the grid; Alt moves freely. One undoable edit at the end."""

    def __init__(
        self, stage: SceneModel, camera: Camera, lift: Lift, pixel: QPoint, box: int
    ) -> None:
        self._stage = stage
        self._camera = camera
        self._lift = lift
        self._pixel = pixel
        self._start = stage.arrays
        self._chosen = np.zeros(len(self._start), dtype=bool)
        self._chosen[list(stage.facts.selected | {box})] = True
        self._corner = self._start.rects[box, :2]
        self._offset = QPointF()
        self._moving: Movement | None = None

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        if self._moving is None:
            if (pixel - self._pixel).manhattanLength() < SLACK:
                return
            self._moving = Movement(self._start, self._chosen)
            self._lift(self._chosen)
        free = bool(modifiers & Qt.KeyboardModifier.AltModifier)
        self._offset = self._snapped(pixel, free)
        dx, dy = self._offset.toTuple()
        self._stage.show(self._moving.by(dx, dy))

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        if self._moving is None:
            return
        self._lift(None)
        if self._offset.isNull():
            self._stage.show(self._start)
            return
        chosen = self._stage.arrays.from_below(self._chosen).tolist()
        self._stage.raise_boxes(chosen)
        self._stage.move(chosen, *self._offset.toTuple())

    def cancel(self) -> None:
        if self._moving is not None:
            self._lift(None)
            if not self.is_over:
                self._stage.show(self._start)

    @property
    def is_over(self) -> bool:
        shown = self._stage.arrays.base or self._stage.arrays
        return shown.visible is not self._start.visible or shown.rects is not self._start.rects

    def _snapped(self, pixel: QPoint, free: bool) -> QPointF:
        """How far the boxes go: the pressed one's corner stays on the grid."""
        way = self._camera.to_scene(pixel) - self._camera.to_scene(self._pixel)
        if free:
            return way
        x, y = self._corner
        return QPointF(
            round((x + way.x()) / GRID) * GRID - x, round((y + way.y()) / GRID) * GRID - y
        )


class PickLink:
    """A click on a link selects it."""

    is_over = False

    def __init__(self, workspace: Workspace, stage: SceneModel, link: int) -> None:
        wires = stage.arrays.visible.links[link].wires
        if wires:
            workspace.select([], wires[0])

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        pass

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        pass

    def cancel(self) -> None:
        pass


def press_box(
    workspace: Workspace, stage: SceneModel, box: int, modifiers: Qt.KeyboardModifier
) -> None:
    """Select as a press on a box means: alone, added with Shift, toggled with Ctrl."""
    members = stage.arrays.visible.boxes[box].members
    chosen = workspace.selection
    if modifiers & Qt.KeyboardModifier.ControlModifier:
        inside = set(members) <= set(chosen)
        rest = [n for n in chosen if n not in members]
        workspace.select(rest if inside else [*chosen, *members])
    elif modifiers & Qt.KeyboardModifier.ShiftModifier:
        workspace.select([*chosen, *members])
    elif box not in stage.facts.selected:
        workspace.select(members)
