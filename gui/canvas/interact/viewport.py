"""What of the graph is brought into view: at first, when scopes are opened, for a new node."""

from __future__ import annotations

from collections.abc import Collection
from math import hypot
from typing import TYPE_CHECKING

import numpy as np
from PySide6.QtCore import QPoint, QPointF, QRectF

from gradstep.core.protocol.messages import Stopped
from gradstep.gui.canvas.scene.box_placement import STEP, beside, free_place
from gradstep.gui.canvas.scene.scene_arrays import WIDTH, Point, SceneArrays

if TYPE_CHECKING:
    from gradstep.gui.canvas.view import GraphView

READABLE, START = 0.12, 0.75  # a graph too large for the first scale is begun at the second


def around(arrays: SceneArrays, boxes: list[int]) -> QRectF:
    """The least rectangle that holds some boxes."""
    rects = arrays.rects[boxes]
    low, high = rects[:, :2].min(axis=0), (rects[:, :2] + rects[:, 2:]).max(axis=0)
    return QRectF(QPointF(*low), QPointF(*high))


def first_look(view: GraphView) -> None:
    """The whole graph, or where it begins if nothing could be made out in the whole."""
    view.fit()
    if view.camera.scale < READABLE and len(view.arrays):
        view.camera.zoom_to(START)
        view.camera.look_at(view.box_rect(int(view.arrays.rects[:, 0].argmin())).center())
        room = view.viewport().width() / 2 - START * WIDTH
        view.camera.pan(QPoint(-round(room), 0))


def keep_in_view(view: GraphView, before: SceneArrays) -> None:
    """Follow what was seen when most of it went somewhere else at once: a graph seen whole is
    fitted again, else the node that was nearest to the middle stays where it was on the screen."""
    seen = view.camera.visible
    inside = np.flatnonzero(before.boxes_in(*seen.getCoords())).tolist()
    pairs = [(i, view.arrays.visible.number.get(before.visible.boxes[i].id)) for i in inside]
    old, new = np.array([pair for pair in pairs if pair[1] is not None]).reshape(-1, 2).T
    stood = _middles(before, old)
    way = _middles(view.arrays, new) - stood
    if not len(way) or np.count_nonzero(np.abs(way).max(axis=1) > 1) <= len(way) / 2:
        return
    left, top, right, bottom = before.extent
    if seen.contains(QRectF(left, top, right - left, bottom - top)):
        view.fit()
    else:
        nearest = int(np.hypot(*(stood - seen.center().toTuple()).T).argmin())
        view.camera.look_at(seen.center() + QPointF(*way[nearest].tolist()))


def _middles(arrays: SceneArrays, boxes: np.ndarray) -> np.ndarray:
    """float64[k, 2]: the centres of boxes (their numbers)."""
    rects = arrays.rects[boxes.astype(np.int64)]
    return np.asarray(rects[:, :2] + rects[:, 2:] / 2)


def place_for_new(view: GraphView, wanted: Point, pointed: bool) -> Point:
    """Where a node goes: at the point `wanted` if the user pointed there and nothing stands there,
    else right of what is selected, which it may read, else at a free place near `wanted`."""
    rects = view.arrays.rects
    free = free_place(wanted, rects)
    if pointed and hypot(free[0] - wanted[0], free[1] - wanted[1]) < STEP:
        return wanted
    selected = sorted(view.stage.facts.selected)
    x, y = free_place(beside(rects[selected]), rects) if selected else free
    view.camera.reveal(QRectF(x - WIDTH / 2, y - WIDTH / 4, WIDTH, WIDTH / 2))
    return x, y


def place_of(stop: Stopped | None) -> object:
    """Where the debugger stands; the same for two stops there."""
    return None if stop is None else (stop.run, stop.step, stop.op, str(stop.inside))


def show_selected(view: GraphView) -> None:
    """Bring the selected nodes into view."""
    chosen = sorted(view.stage.facts.selected)
    if chosen:
        view.camera.show(around(view.arrays, chosen))


def look_into(view: GraphView, scopes: Collection[str]) -> None:
    """Bring all that is shown of some scopes into view."""
    inside = [
        number
        for number, box in enumerate(view.arrays.visible.boxes)
        if any(box.id.startswith(f"{scope}/") for scope in scopes)
    ]
    if inside:
        view.camera.show(around(view.arrays, inside))
