"""Presses of the mouse on the canvas: which gesture each begins, and what a double click opens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, Qt

from gradstep.core.graph.model import Edge
from gradstep.gui.canvas.interact.gestures import (
    Gesture,
    Lift,
    MoveBoxes,
    Pan,
    PickLink,
    RubberBand,
    press_box,
)
from gradstep.gui.canvas.interact.node_adding import NodeAdding
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.canvas.interact.paste_gesture import Carry
from gradstep.gui.canvas.interact.pointer import Pointer
from gradstep.gui.canvas.interact.rename_field import Renaming
from gradstep.gui.canvas.interact.scope_opening import ScopeOpening
from gradstep.gui.canvas.interact.search_menu import Search
from gradstep.gui.canvas.interact.wire_gesture import DrawWire
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.hit_test import Port
from gradstep.gui.canvas.scene.scene_arrays import TITLE
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.canvas.scene.scope_frames import Frame
from gradstep.gui.model.workspace import Workspace


class Presses:
    """Begins gestures, and hands each what it works on."""

    def __init__(
        self,
        workspace: Workspace,
        stage: SceneModel,
        camera: Camera,
        overlay: Overlay,
        pointer: Pointer,
        search: Search,
        lift: Lift,
    ) -> None:
        self._workspace = workspace
        self._stage = stage
        self._camera = camera
        self._overlay = overlay
        self._pointer = pointer
        self._search = search
        self._lift = lift

    def pan(self, pixel: QPoint) -> Pan:
        return Pan(self._camera, self._overlay, pixel)

    def carry(
        self, boxes: Sequence[int], before: Sequence[str], ended: Callable[[], None]
    ) -> Carry:
        """Hang boxes on the pointer."""
        workspace, stage, camera = self._workspace, self._stage, self._camera
        pixel = self._pointer.pixel
        return Carry(
            workspace, stage, camera, self._overlay, self._lift, boxes, before, pixel, ended
        )

    def begin(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> Gesture:
        """The gesture for a press of the left button, by what lies under it."""
        workspace, stage = self._workspace, self._stage
        found = self._pointer.hit(pixel)
        if found.port is not None:
            return self._from_port(found.port)
        if found.box is not None:
            press_box(workspace, stage, found.box, modifiers)
            return self._move(pixel, found.box)
        if found.link is not None:
            return PickLink(workspace, stage, found.link)
        if found.frame is not None:
            return self._by_title(pixel, found.frame, modifiers)
        return RubberBand(workspace, stage, self._camera, self._overlay, pixel)

    def _move(self, pixel: QPoint, box: int) -> MoveBoxes:
        return MoveBoxes(self._stage, self._camera, self._lift, pixel, box)

    def _by_title(self, pixel: QPoint, frame: Frame, modifiers: Qt.KeyboardModifier) -> MoveBoxes:
        """A press on a frame's title means all that is in it."""
        names = self._stage.members(frame.boxes)
        kept = self._workspace.selection if modifiers & Qt.KeyboardModifier.ShiftModifier else ()
        self._workspace.select([*kept, *names])
        return self._move(pixel, int(frame.boxes.argmax()))

    def _from_port(self, port: Port) -> DrawWire:
        """From an output, or an open input, a new wire; from a wired input the end of its wire."""
        if port.is_output:
            return self._wire(port)
        edge = self._stage.wire(port)
        inputs = self._workspace.shown[edge.op].inputs
        source = inputs[edge.index] if edge.index < len(inputs) else None
        if source is None:
            return self._wire(port)
        number = self._stage.arrays.visible.number.get(source.op)
        if number is None:  # inside a collapsed scope
            return self._wire(port)
        return self._wire(Port(number, source.index, is_output=True), taken=edge)

    def _wire(self, start: Port, taken: Edge | None = None) -> DrawWire:
        workspace, stage, camera = self._workspace, self._stage, self._camera
        return DrawWire(workspace, stage, camera, self._overlay, self._search, start, taken)


class DoubleClicks:
    """Opens what was clicked twice."""

    def __init__(
        self,
        workspace: Workspace,
        stage: SceneModel,
        camera: Camera,
        pointer: Pointer,
        scopes: ScopeOpening,
        renaming: Renaming,
        adding: NodeAdding,
        inspect: Callable[[], None],
    ) -> None:
        self._workspace = workspace
        self._stage = stage
        self._camera = camera
        self._pointer = pointer
        self._scopes = scopes
        self._renaming = renaming
        self._adding = adding
        self._inspect = inspect

    def open_at(self, pixel: QPoint) -> None:
        """A scope opens, or by the title of its frame is one box again, a node's name is edited, or
        by its rows the node is inspected, an empty place offers what could be added there."""
        found = self._pointer.hit(pixel)
        if not found:
            self._adding.offer(pixel)
        elif found.box is not None and self._stage.arrays.visible.boxes[found.box].is_scope:
            self._scopes.open_box(found.box)
        elif found.box is not None:
            self._open_node(found.box, pixel)
        elif found.frame is not None and found.frame.scope:
            self._scopes.collapse(found.frame.scope)

    def _open_node(self, box: int, pixel: QPoint) -> None:
        press_box(self._workspace, self._stage, box, Qt.KeyboardModifier.NoModifier)
        in_title = self._camera.to_scene(pixel).y() < self._stage.box_rect(box).top() + TITLE
        self._renaming.begin() if in_title else self._inspect()
