"""What of the graph is brought into view: at first, and when scopes are opened."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, QPointF, QRectF

from gui.canvas.arrays import WIDTH, SceneArrays

if TYPE_CHECKING:
    from gui.canvas.view import GraphView

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


def look_into(view: GraphView, scopes: Collection[str]) -> None:
    """Bring all that is shown of some scopes into view."""
    inside = [
        number
        for number, box in enumerate(view.arrays.visible.boxes)
        if any(box.id.startswith(f"{scope}/") for scope in scopes)
    ]
    if inside:
        view.camera.show(around(view.arrays, inside))
