"""Where boxes stand: as the document says, else as automatic layout puts them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from core.layout import boxes as layout_boxes
from core.layout.engines import SMALL, layout
from gui.canvas.arrays import WIDTH, Point, heights
from gui.canvas.visible import VisibleGraph

STEP = layout_boxes.BOX_GAP


def known(visible: VisibleGraph, positions: Mapping[str, Point]) -> dict[str, Point]:
    """Centres that the document has; a collapsed scope stands amid its operations."""
    found: dict[str, Point] = {}
    for box in visible.boxes:
        if box.id in positions:
            found[box.id] = positions[box.id]
        elif box.is_scope:
            inside = [positions[m] for m in box.members if m in positions]
            if len(inside) == len(box.members):
                x, y = np.mean(inside, axis=0).tolist()
                found[box.id] = (x, y)
    return found


def diagram(
    visible: VisibleGraph,
) -> tuple[list[layout_boxes.Box], list[layout_boxes.Arrow]]:
    """The visible graph as automatic layout takes it."""
    names = [box.id for box in visible.boxes]
    tall = heights(visible).tolist()
    boxes = [layout_boxes.Box(name, WIDTH, h) for name, h in zip(names, tall, strict=True)]
    return boxes, [(names[k.source], names[k.target]) for k in visible.links]


def is_small(visible: VisibleGraph) -> bool:
    """Whether layout takes no time worth a process."""
    return len(visible.boxes) <= SMALL


def complete(visible: VisibleGraph, found: Mapping[str, Point]) -> dict[str, Point]:
    """All centres. With none known the whole is laid out; else each missing box goes to a free
    place beside what it is wired to, and nothing that stands moves."""
    if not found:
        return layout(*diagram(visible))
    placed = {box.id: found[box.id] for box in visible.boxes if box.id in found}
    tall = heights(visible)
    for number, box in enumerate(visible.boxes):
        if box.id not in placed:
            placed[box.id] = _free(_beside(visible, number, placed), float(tall[number]), placed)
    return placed


def _beside(visible: VisibleGraph, number: int, placed: Mapping[str, Point]) -> Point:
    """Right of its inputs, else left of its readers, else below everything."""
    across = WIDTH + layout_boxes.LAYER_GAP
    sources, targets = visible.ends.T
    inputs = _places(visible, sources[targets == number], placed)
    readers = _places(visible, targets[sources == number], placed)
    if inputs:
        return max(x for x, _ in inputs) + across, sum(y for _, y in inputs) / len(inputs)
    if readers:
        return min(x for x, _ in readers) - across, sum(y for _, y in readers) / len(readers)
    if not placed:
        return 0.0, 0.0
    return min(x for x, _ in placed.values()), max(y for _, y in placed.values()) + 100.0


def _places(visible: VisibleGraph, boxes: np.ndarray, placed: Mapping[str, Point]) -> list[Point]:
    """Of those boxes (their numbers) that have one."""
    names = [visible.boxes[i].id for i in boxes.tolist()]
    return [placed[name] for name in names if name in placed]


def free_place(wanted: Point, rects: np.ndarray) -> Point:
    """The first place for a node at or below `wanted`; rects: float[n, 4] of what stands there."""
    centres = rects[:, :2] + rects[:, 2:] / 2
    tall = float(rects[:, 3].max(initial=layout_boxes.BOX_GAP))
    return _free(wanted, tall, {str(i): (x, y) for i, (x, y) in enumerate(centres.tolist())})


def _free(wanted: Point, tall: float, placed: Mapping[str, Point]) -> Point:
    """The first place at or below `wanted` that no other box covers."""
    x, y = wanted
    grid = layout_boxes.GRID
    x = round((x - WIDTH / 2) / grid) * grid + WIDTH / 2
    y = round((y - tall / 2) / grid) * grid + tall / 2
    reach = tall + STEP
    while any(abs(x - a) < WIDTH + 8 and abs(y - b) < reach for a, b in placed.values()):
        y += STEP
    return x, y
