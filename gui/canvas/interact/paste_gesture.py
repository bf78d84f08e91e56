"""Copies that hang on the pointer until a click puts them down, or Escape takes them away."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPoint, QPointF, Qt

from gradstep.core.layout.box_diagram import GRID
from gradstep.gui import commands
from gradstep.gui.canvas.interact import viewport
from gradstep.gui.canvas.scene.scene_arrays import Movement

if TYPE_CHECKING:
    from gradstep.gui.canvas.view import GraphView

NUDGE = QPointF(3 * GRID, 3 * GRID)  # how far copies are from what they are copies of, at first


def duplicate(view: GraphView, hang: bool) -> None:
    """Copy the selected nodes. hang: on the pointer; else they go to a free place beside."""
    before = view.workspace.selection
    copies = commands.duplicate_selection(view.workspace, view.stage.places(), apart=not hang)
    _hold(view, copies or (), hang, before)


def paste(view: GraphView, hang: bool) -> None:
    """Add the nodes on the clipboard, as `duplicate` does."""
    before = view.workspace.selection
    _hold(view, commands.paste(view.workspace) or (), hang, before)


def _hold(view: GraphView, names: Sequence[str], hang: bool, before: Sequence[str]) -> None:
    boxes = {view.arrays.visible.box_of[name] for name in names}
    members = [view.arrays.visible.boxes[box].members for box in boxes]
    whole = {*names}.issuperset(chain.from_iterable(members))  # not a part of a closed scope
    if boxes and whole and hang:
        view.setFocus()
        view.gesture = Carry(view, sorted(boxes), before)
        view.workspace.message.emit("info", "Click to put it down, press Escape to take it away")
    elif boxes:
        viewport.show_selected(view)


class Carry:
    """A gesture without a button: moves follow the pointer, the next release puts down. The copies
    are the document's already; where they are put down belongs to the edit that made them."""

    def __init__(self, view: GraphView, boxes: Sequence[int], before: Sequence[str]) -> None:
        """before: what was selected, and is again if they are taken away."""
        self._view, self._before = view, before
        self._start = view.arrays
        self._chosen = np.zeros(len(view.arrays), dtype=bool)
        self._chosen[[*boxes]] = True
        self._moving = Movement(self._start, self._chosen)
        self._offset = QPointF()
        self._grip = self._gripped(view.mapToScene(view.pointer))
        view.lift(self._chosen)
        view.viewport().setCursor(Qt.CursorShape.SizeAllCursor)
        view.workspace.document_changed.connect(self._give_way)
        self.move(view.pointer, Qt.KeyboardModifier.NoModifier)

    def move(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        way = self._view.mapToScene(pixel) - self._grip
        if not modifiers & Qt.KeyboardModifier.AltModifier:
            way = QPointF(round(way.x() / GRID) * GRID, round(way.y() / GRID) * GRID)
        self._offset = way
        self._view.stage.show(self._moving.by(*way.toTuple()))

    def release(self, pixel: QPoint, modifiers: Qt.KeyboardModifier) -> None:
        self.move(pixel, modifiers)
        self.put_down()

    def put_down(self) -> None:
        """Leave the copies where they are now."""
        self._let_go()
        chosen = self._start.from_below(self._chosen).tolist()
        self._view.stage.raise_boxes(chosen)
        places = self._view.stage.moved(chosen, *self._offset.toTuple())
        commands.put_down(self._view.workspace, places)

    def cancel(self) -> None:
        self._let_go()
        self._view.stage.show(self._start)
        self._view.workspace.retract()
        self._view.workspace.select(self._before)

    def _gripped(self, pointer: QPointF) -> QPointF:
        """The point of the scene that is held: where the pointer is on them, else their middle."""
        room = viewport.around(self._start, np.flatnonzero(self._chosen).tolist())
        on_them = self._start.boxes_in(*pointer.toTuple(), *pointer.toTuple()) & self._chosen
        return pointer - NUDGE if on_them.any() else room.center()

    def _give_way(self) -> None:
        """Something else changed the document: what hangs has its place, or is gone."""
        self._let_go()

    def _let_go(self) -> None:
        self._view.workspace.document_changed.disconnect(self._give_way)
        self._view.viewport().unsetCursor()
        self._view.workspace.message.emit("info", "")
        self._view.gesture = None
        self._view.lift(None)
