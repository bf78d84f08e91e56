"""What the mouse does with the canvas: one class per gesture, from press to release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QPen
from PySide6.QtWidgets import QGraphicsRectItem

from gradstep.core.layout.box_diagram import GRID
from gradstep.gui.canvas.scene.scene_arrays import Movement
from gradstep.gui.look.theme import faded

if TYPE_CHECKING:
    from gradstep.gui.canvas.view import GraphView

SLACK = 4  # pixels that the mouse may tremble before a press becomes a drag


class Gesture(Protocol):
    """Begun by a press; then any number of moves; then a release or a cancel."""

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None: ...

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None: ...

    def cancel(self) -> None: ...


class Pan:
    """Moves the view with the hand."""

    def __init__(self, view: GraphView, pixel: QPoint) -> None:
        self._view = view
        self._last = pixel
        view.viewport().setCursor(Qt.CursorShape.ClosedHandCursor)

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        self._view.camera.pan(pixel - self._last)
        self._last = pixel

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        self.cancel()

    def cancel(self) -> None:
        self._view.viewport().unsetCursor()


class RubberBand:
    """Selects the boxes that a rectangle touches; Shift adds them, a click on nothing clears."""

    def __init__(self, view: GraphView, pixel: QPoint) -> None:
        self._view = view
        self._pixel = pixel
        self._before = view.workspace.selection
        theme = view.workspace.theme
        self._item = QGraphicsRectItem()
        self._item.setPen(QPen(theme.selection, 0))
        self._item.setBrush(faded(theme.selection, 0.12))
        view.scene().addItem(self._item)

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        band = self._band(pixel)
        self._item.setRect(band)
        arrays = self._view.arrays
        inside = arrays.boxes_in(band.left(), band.top(), band.right(), band.bottom())
        names = self._view.stage.members(inside)
        kept = self._before if modifiers & Qt.KeyboardModifier.ShiftModifier else ()
        self._view.workspace.select([*kept, *names])

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        still = (pixel - self._pixel).manhattanLength() < SLACK
        if still and not modifiers & Qt.KeyboardModifier.ShiftModifier:
            self._view.workspace.select([])
        self._view.scene().removeItem(self._item)

    def cancel(self) -> None:
        self._view.workspace.select(self._before)
        self._view.scene().removeItem(self._item)

    def _band(self, pixel: QPoint) -> QRectF:
        first, second = self._view.mapToScene(self._pixel), self._view.mapToScene(pixel)
        return QRectF(first, second).normalized()


class MoveBoxes:
    """Drags the selected boxes over the grid; Alt moves freely. One undoable edit at the end."""

    def __init__(self, view: GraphView, pixel: QPoint, box: int) -> None:
        self._view = view
        self._pixel = pixel
        self._start = view.arrays
        self._chosen = np.zeros(len(view.arrays), dtype=bool)
        self._chosen[list(view.stage.facts.selected | {box})] = True
        self._corner = view.arrays.rects[box, :2]
        self._offset = QPointF()
        self._moving: Movement | None = None

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        if self._moving is None:
            if (pixel - self._pixel).manhattanLength() < SLACK:
                return
            self._moving = Movement(self._start, self._chosen)
            self._view.lift(self._chosen)
        free = bool(modifiers & Qt.KeyboardModifier.AltModifier)
        self._offset = self._snapped(pixel, free)
        dx, dy = self._offset.toTuple()
        self._view.stage.show(self._moving.by(dx, dy))

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        if self._moving is None:
            return
        self._view.lift(None)
        if self._offset.isNull():
            self._view.stage.show(self._start)
            return
        chosen = self._view.arrays.from_below(self._chosen).tolist()
        self._view.stage.raise_boxes(chosen)
        self._view.stage.move(chosen, *self._offset.toTuple())

    def cancel(self) -> None:
        if self._moving is not None:
            self._view.lift(None)
            self._view.stage.show(self._start)

    def _snapped(self, pixel: QPoint, free: bool) -> QPointF:
        """How far the boxes go: the pressed one's corner stays on the grid."""
        way = self._view.mapToScene(pixel) - self._view.mapToScene(self._pixel)
        if free:
            return way
        x, y = self._corner
        return QPointF(
            round((x + way.x()) / GRID) * GRID - x, round((y + way.y()) / GRID) * GRID - y
        )


class PickLink:
    """A click on a link selects it."""

    def __init__(self, view: GraphView, link: int) -> None:
        wires = view.arrays.visible.links[link].wires
        if wires:
            view.workspace.select([], wires[0])

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        pass

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        pass

    def cancel(self) -> None:
        pass


def press_box(view: GraphView, box: int, modifiers: Qt.KeyboardModifier) -> None:
    """Select as a press on a box means: alone, added with Shift, toggled with Ctrl."""
    members = view.arrays.visible.boxes[box].members
    chosen = view.workspace.selection
    if modifiers & Qt.KeyboardModifier.ControlModifier:
        inside = set(members) <= set(chosen)
        rest = [n for n in chosen if n not in members]
        view.workspace.select(rest if inside else [*chosen, *members])
    elif modifiers & Qt.KeyboardModifier.ShiftModifier:
        view.workspace.select([*chosen, *members])
    elif box not in view.stage.facts.selected:
        view.workspace.select(members)
