"""Copies that hang on the pointer until a click puts them down, or Escape takes them away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt

from gradstep.core.layout.box_diagram import GRID
from gradstep.gui import commands
from gradstep.gui.canvas.interact.gestures import Lift
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.canvas.interact.viewport import Framing, around
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.scene_arrays import Movement
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.model.workspace import Workspace

NUDGE = QPointF(3 * GRID, 3 * GRID)  # how far copies are from what they are copies of, at first


class Copies:
    """Makes copies of nodes, and has them put down.

    carry: hangs boxes on the pointer; the second is what was selected before they came.
    """

    def __init__(
        self,
        workspace: Workspace,
        stage: SceneModel,
        framing: Framing,
        carry: Callable[[Sequence[int], Sequence[str]], None],
    ) -> None:
        self._workspace = workspace
        self._stage = stage
        self._framing = framing
        self._carry = carry

    def duplicate(self, hang: bool) -> None:
        """Copy the selected nodes. hang: on the pointer; else they go to a free place beside."""
        before = self._workspace.selection
        places = self._stage.places()
        copies = commands.duplicate_selection(self._workspace, places, apart=not hang)
        self._hold(copies or (), hang, before)

    def paste(self, hang: bool) -> None:
        """Add the nodes on the clipboard, as `duplicate` does."""
        before = self._workspace.selection
        self._hold(commands.paste(self._workspace) or (), hang, before)

    def _hold(self, names: Sequence[str], hang: bool, before: Sequence[str]) -> None:
        visible = self._stage.arrays.visible
        boxes = {visible.box_of[name] for name in names}
        members = [visible.boxes[box].members for box in boxes]
        whole = {*names}.issuperset(chain.from_iterable(members))  # not a part of a closed scope
        if boxes and whole and hang:
            self._carry(sorted(boxes), before)
            told = "Click to put it down, press Escape to take it away"
            self._workspace.message.emit("info", told)
        elif boxes:
            self._framing.show_selected()


class Carry:
    """A gesture without a button: moves follow the pointer, the next release puts down. The copies
    are the document's already; where they are put down belongs to the edit that made them."""

    is_over = False  # it gives way by itself

    def __init__(
        self,
        workspace: Workspace,
        stage: SceneModel,
        camera: Camera,
        overlay: Overlay,
        lift: Lift,
        boxes: Sequence[int],
        before: Sequence[str],
        pixel: QPoint,
        ended: Callable[[], None],
    ) -> None:
        """before: what was selected, and is again if they are taken away. pixel: where the pointer
        is. ended: called when they are put down, taken away, or no more its own."""
        self._workspace = workspace
        self._stage = stage
        self._camera = camera
        self._overlay = overlay
        self._lift = lift
        self._before = before
        self._ended = ended
        self._start = stage.arrays
        self._chosen = np.zeros(len(self._start), dtype=bool)
        self._chosen[[*boxes]] = True
        self._moving = Movement(self._start, self._chosen)
        self._offset = QPointF()
        self._grip = self._gripped(camera.to_scene(pixel))
        lift(self._chosen)
        overlay.set_cursor(Qt.CursorShape.SizeAllCursor)
        workspace.document_changed.connect(self._give_way)
        self.move(pixel, Qt.KeyboardModifier.NoModifier)

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        way = self._camera.to_scene(pixel) - self._grip
        if not modifiers & Qt.KeyboardModifier.AltModifier:
            way = QPointF(round(way.x() / GRID) * GRID, round(way.y() / GRID) * GRID)
        self._offset = way
        self._stage.show(self._moving.by(*way.toTuple()))

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        self.move(pixel, modifiers)
        self.put_down()

    def put_down(self) -> None:
        """Leave the copies where they are now."""
        self._let_go()
        chosen = self._start.from_below(self._chosen).tolist()
        self._stage.raise_boxes(chosen)
        places = self._stage.moved(chosen, *self._offset.toTuple())
        commands.put_down(self._workspace, places)

    def cancel(self) -> None:
        self._let_go()
        self._stage.show(self._start)
        self._workspace.retract()
        self._workspace.select(self._before)

    def _gripped(self, pointer: QPointF) -> QPointF:
        """The point of the scene that is held: where the pointer is on them, else their middle."""
        room = around(self._start, np.flatnonzero(self._chosen).tolist())
        on_them = self._start.boxes_in(*pointer.toTuple(), *pointer.toTuple()) & self._chosen
        return pointer - NUDGE if on_them.any() else room.center()

    def _give_way(self) -> None:
        """Something else changed the document: what hangs has its place, or is gone."""
        self._let_go()

    def _let_go(self) -> None:
        self._workspace.document_changed.disconnect(self._give_way)
        self._overlay.unset_cursor()
        self._workspace.message.emit("info", "")
        self._ended()
        self._lift(None)
