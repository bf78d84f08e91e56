"""Presses of the mouse on the canvas: which gesture each begins, and what a double click opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QMouseEvent

from gradstep.gui.canvas.interact import rename_field, search_entries, viewport
from gradstep.gui.canvas.interact.gestures import (
    Gesture,
    MoveBoxes,
    Pan,
    PickLink,
    RubberBand,
    press_box,
)
from gradstep.gui.canvas.interact.wire_gesture import DrawWire
from gradstep.gui.canvas.scene import hit_test, scope_folding
from gradstep.gui.canvas.scene.hit_test import Port
from gradstep.gui.canvas.scene.scene_arrays import TITLE
from gradstep.gui.canvas.scene.scope_frames import Frame

if TYPE_CHECKING:
    from gradstep.gui.canvas.view import GraphView


def begin(view: GraphView, event: QMouseEvent) -> Gesture | None:
    """The gesture for a press, by what lies under it."""
    pixel, button = event.position().toPoint(), event.button()
    panning = button is Qt.MouseButton.MiddleButton or view.space_held
    if panning:
        return Pan(view, pixel)
    if button is not Qt.MouseButton.LeftButton:
        return None
    found = view.hit(view.mapToScene(pixel))
    if found.port is not None:
        return _from_port(view, found.port)
    if found.box is not None:
        press_box(view, found.box, event.modifiers())
        return MoveBoxes(view, pixel, found.box)
    if found.link is not None:
        return PickLink(view, found.link)
    if found.frame is not None:
        return _by_title(view, pixel, found.frame, event.modifiers())
    return RubberBand(view, pixel)


def open_at(view: GraphView, pixel: QPoint) -> None:
    """What lies under a double click: a scope opens, or by the title of its frame is one box again,
    a node's name is edited, or by its rows the node is inspected, an empty place offers what could
    be added there."""
    found = view.hit(view.mapToScene(pixel))
    if not found:
        at = view.snapped(view.mapToScene(pixel))
        view.open_menu(
            search_entries.operations(view.workspace, at), view.viewport().mapToGlobal(pixel)
        )
    elif found.box is not None and view.arrays.visible.boxes[found.box].is_scope:
        box = view.arrays.visible.boxes[found.box]
        scope_folding.open_box(view.workspace, box)
        viewport.look_into(view, {box.id.rstrip("/")})
    elif found.box is not None:
        press_box(view, found.box, Qt.KeyboardModifier.NoModifier)
        in_title = view.mapToScene(pixel).y() < view.box_rect(found.box).top() + TITLE
        rename_field.begin(view) if in_title else view.inspect()
    elif found.frame is not None and found.frame.scope:
        scope_folding.collapse(view.workspace, found.frame.scope)


def _by_title(
    view: GraphView, pixel: QPoint, frame: Frame, modifiers: Qt.KeyboardModifier
) -> MoveBoxes:
    """A press on a frame's title means all that is in it."""
    names = view.stage.members(frame.boxes)
    kept = view.workspace.selection if modifiers & Qt.KeyboardModifier.ShiftModifier else ()
    view.workspace.select([*kept, *names])
    return MoveBoxes(view, pixel, int(frame.boxes.argmax()))


def _from_port(view: GraphView, port: Port) -> DrawWire:
    """From an output, or an open input, a new wire; from a wired input the end of its wire."""
    if port.is_output:
        return DrawWire(view, port)
    edge = view.stage.wire(port)
    inputs = view.workspace.shown[edge.op].inputs
    source = inputs[edge.index] if edge.index < len(inputs) else None
    if source is None:
        return DrawWire(view, port)
    number = view.arrays.visible.number.get(source.op)
    if number is None:  # inside a collapsed scope
        return DrawWire(view, port)
    return DrawWire(view, hit_test.Port(number, source.index, is_output=True), taken=edge)
