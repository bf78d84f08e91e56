"""What of the graph is brought into view: at first, when scopes are opened, for a new node."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import ceil, hypot

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF, QSize

from gradstep.core.protocol.messages import Stopped
from gradstep.gui.canvas.scene.box_placement import STEP, beside, free_place
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.rect_sides import sides_of
from gradstep.gui.canvas.scene.scene_arrays import WIDTH, Point, SceneArrays
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

NEAR = 6  # pixels between a strip and what it must not hide
READABLE, START = 0.12, 0.75  # a graph too large for the first scale is begun at the second


class Framing:
    """Chooses what of the scene the camera shows.

    is_seen: whether what `first_look` chose was painted, and so is somebody's by now.
    """

    def __init__(self, stage: SceneModel, camera: Camera) -> None:
        self._stage = stage
        self._camera = camera
        self.is_seen = False
        self._pushed = 0  # pixels, down, before the size follows
        self._stood: object = None

    def fit(self) -> None:
        """Show the whole graph, in a view of another size too, until somebody looks elsewhere."""
        self._camera.frame(self._stage.area)
        self._camera.rest()

    def first_look(self) -> None:
        """The whole graph, or where it begins if nothing could be made out in the whole."""
        self.is_seen = False
        arrays, camera = self._stage.arrays, self._camera
        self.fit()
        if camera.scale < READABLE and len(arrays):
            camera.zoom_to(START)
            camera.look_at(self._stage.box_rect(int(arrays.rects[:, 0].argmin())).center())
            room = camera.pixels.width() / 2 - START * WIDTH
            camera.pan(QPoint(-round(room), 0))
        camera.rest()

    def push(self, down: int) -> None:
        """A strip above the canvas has come, or gone, and moved its upper edge by so many pixels:
        what is under the pointer stays there, unless something that was seen whole would lie behind
        the strip and there is room for it further down."""
        if self.is_seen:
            self._pushed = down
            self._camera.hold(QPoint(0, down - self._hidden(down)))

    def _hidden(self, down: int) -> int:
        """By how many pixels what is seen whole is to be moved down, so that nothing of it is
        hidden when the upper edge comes down by so many."""
        seen, scale = self._camera.visible, self._camera.scale
        x, y, width, height = self._stage.arrays.occupied.T
        whole = (x >= seen.left()) & (x + width <= seen.right())
        whole &= (y >= seen.top()) & (y + height <= seen.bottom())
        if down <= 0 or not whole.any():
            return 0
        cut = down + NEAR - (float(y[whole].min()) - seen.top()) * scale
        spare = (seen.bottom() - float((y + height)[whole].max())) * scale - NEAR
        return ceil(max(0.0, min(cut, spare, down)))

    def follow_size(self, before: QSize, size: QSize) -> None:
        """The view has another size: look anew if nobody chose what is seen. That a strip pushed it
        is no reason."""
        pushed, self._pushed = self._pushed, 0
        by_strip = pushed and size - before == QSize(0, -pushed)
        if self._camera.untouched and not by_strip:
            self.first_look()

    def follow_stop(self, stop: Stopped | None) -> bool:
        """Keep the debugger's node in view if it moved: not at an edit. Whether it did."""
        before, self._stood = self._stood, _place_of(stop)
        if self._stood == before:
            return False
        self.show_current()
        return True

    def follow_edit(self, before: SceneArrays) -> None:
        """Follow what was seen when most of it went somewhere else at once: a graph seen whole is
        fitted again, and who could read it sees something that can be read; else the node that was
        nearest to the middle stays where it was on the screen, or what shows it now."""
        arrays, seen = self._stage.arrays, self._camera.visible
        inside = np.flatnonzero(before.boxes_in(*sides_of(seen)))
        shown, kept = _shown_still(before.visible, arrays.visible, inside.tolist())
        is_there = shown >= 0
        old, new, is_own = inside[is_there], shown[is_there], kept[is_there]
        stood = _middles(before, old)
        way = _middles(arrays, new) - stood
        moved = np.abs(way).max(axis=1, initial=0.0) > 1
        judged = moved[is_own] if is_own.any() else moved
        if np.count_nonzero(judged) <= len(judged) / 2:
            return
        left, top, right, bottom = before.extent
        if seen.contains(QRectF(left, top, right - left, bottom - top)):
            self.first_look() if self._camera.scale >= READABLE else self.fit()
        else:
            nearest = int(np.hypot(*(stood - seen.center().toTuple()).T).argmin())
            self._camera.look_at(seen.center() + QPointF(*way[nearest].tolist()))

    def fit_selection(self) -> None:
        chosen = sorted(self._stage.facts.selected)
        if chosen:
            self._camera.frame(around(self._stage.arrays, chosen))
        else:
            self.fit()

    def show_selected(self) -> None:
        """Bring the selected nodes into view."""
        chosen = sorted(self._stage.facts.selected)
        if chosen:
            self._camera.show(around(self._stage.arrays, chosen))

    def show_current(self) -> None:
        """Bring the node of the current step into view."""
        if self._stage.facts.current is not None:
            self._camera.reveal(self._stage.box_rect(self._stage.facts.current))

    def show_scopes(self, scopes: Collection[str]) -> None:
        """Bring all that is shown of some scopes into view."""
        inside = [
            number
            for number, box in enumerate(self._stage.arrays.visible.boxes)
            if any(box.id.startswith(f"{scope}/") for scope in scopes)
        ]
        if inside:
            self._camera.show(around(self._stage.arrays, inside))

    def place_for_new(self, wanted: Point, pointed: bool) -> Point:
        """Where a node goes: at the point `wanted` if the user pointed there and nothing stands
        there, else right of what is selected, which it may read, else at a free place near
        `wanted`."""
        rects = self._stage.arrays.rects
        free = free_place(wanted, rects)
        if pointed and hypot(free[0] - wanted[0], free[1] - wanted[1]) < STEP:
            return wanted
        selected = sorted(self._stage.facts.selected)
        x, y = free_place(beside(rects[selected]), rects) if selected else free
        self._camera.reveal(QRectF(x - WIDTH / 2, y - WIDTH / 4, WIDTH, WIDTH / 2))
        return x, y


def around(arrays: SceneArrays, boxes: list[int]) -> QRectF:
    """The least rectangle that holds some boxes."""
    rects = arrays.rects[boxes]
    low, high = rects[:, :2].min(axis=0), (rects[:, :2] + rects[:, 2:]).max(axis=0)
    return QRectF(QPointF(*low), QPointF(*high))


def _shown_still(
    before: VisibleGraph, now: VisibleGraph, boxes: Sequence[int]
) -> tuple[np.ndarray, np.ndarray]:
    """int64[n]: what shows each of these boxes of before now, or else the first of what is in it,
    -1 for nothing; bool[n]: whether that is a box of the same id."""
    shown = np.array([now.number.get(before.boxes[i].id, -1) for i in boxes], np.int64)
    is_own = shown >= 0
    for place in np.flatnonzero(~is_own).tolist():
        shown[place] = now.box_of.get(before.boxes[boxes[place]].members[0], -1)
    return shown, is_own


def _middles(arrays: SceneArrays, boxes: np.ndarray) -> np.ndarray:
    """float64[k, 2]: the centres of boxes (their numbers)."""
    rects = arrays.rects[boxes]
    return np.asarray(rects[:, :2] + rects[:, 2:] / 2)


def _place_of(stop: Stopped | None) -> object:
    """Where the debugger stands; the same for two stops there."""
    return None if stop is None else (stop.run, stop.step, stop.op, str(stop.inside))
