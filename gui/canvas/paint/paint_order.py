"""The order in which nodes are painted: those that lie over each other from below.

Each with all that is said of it, so that nothing of one shines through another. Those that do not
lie over each other are painted together.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter

from gradstep.gui.canvas.paint import batch_drawing
from gradstep.gui.canvas.paint.graph_painter import GraphPainter
from gradstep.gui.canvas.paint.runtime_painter import RuntimePainter
from gradstep.gui.canvas.scene.level_of_detail import Detail
from gradstep.gui.canvas.scene.overlay_state import OverlayState
from gradstep.gui.canvas.scene.scene_arrays import WIDTH, SceneArrays

REACH = 10.0  # scene units around a node that its marks and its glow take
CELL = np.array([WIDTH, 64.0])  # of the grid in which neighbours are looked for
CROWD = 64  # nodes in one cell; more are not told apart


def paint_both(
    painter: QPainter, structure: GraphPainter, runtime: RuntimePainter, facts: OverlayState,
    boxes: np.ndarray, links: np.ndarray, scale: float, above: bool = True,
) -> None:  # fmt: skip
    """The structure of boxes (bool[n]) and links (bool[m]), and what a run says of them, in one
    picture. above: also what stands beside the boxes: numbers of the cost, and what was updated."""
    arrays = structure.arrays
    structure.paint_some(painter, np.zeros_like(boxes), links, scale)
    runtime.paint(painter, arrays, facts, np.zeros_like(boxes), links, scale)
    for layer in layers(arrays, boxes, scale):
        structure.paint_some(painter, layer, np.zeros_like(links), scale)
        runtime.paint(painter, arrays, facts, layer, np.zeros_like(links), scale)
        if above:
            runtime.paint_above(painter, arrays, facts, layer, scale)


def paint_facts(
    painter: QPainter, arrays: SceneArrays, runtime: RuntimePainter, facts: OverlayState,
    boxes: np.ndarray, links: np.ndarray, scale: float,
) -> None:  # fmt: skip
    """What a run says, in a transparent picture to be laid over that of the structure: where
    something may be under a node, its place is wiped before its turn."""
    runtime.paint(painter, arrays, facts, np.zeros_like(boxes), links, scale)
    is_blank = not facts.says_of_links
    for layer in layers(arrays, boxes, scale):
        if not is_blank:
            _wipe(painter, arrays.rects[layer])
        is_blank = False
        runtime.paint(painter, arrays, facts, layer, np.zeros_like(links), scale)
        runtime.paint_above(painter, arrays, facts, layer, scale)


def layers(arrays: SceneArrays, boxes: np.ndarray, scale: float) -> Iterator[np.ndarray]:
    """Boxes (bool[n]) from below, in groups (bool[n]) within which none lies over another. From
    afar, where nodes are rectangles without a text, they are one group."""
    order = arrays.from_below(boxes)
    if Detail.at(scale) < Detail.NAMES or not len(order):
        yield boxes
        return
    under = _highest_under(arrays.rects[order])
    start = 0
    for place, below in enumerate([*under.tolist(), len(order)]):
        if below >= start:
            layer = np.zeros_like(boxes)
            layer[order[start:place]] = True
            yield layer
            start = place


def _highest_under(rects: np.ndarray) -> np.ndarray:
    """int64[k]: of each box the last before it that it lies over, -1 for none. rects: float64[k, 4]
    from below."""
    count = len(rects)
    found = np.full(count, -1)
    cell, box = _cells(rects)
    low, high = rects[:, :2] - REACH, rects[:, :2] + rects[:, 2:]
    for apart in range(1, CROWD):
        same = np.flatnonzero(cell[apart:] == cell[:-apart])
        if not len(same):
            return found
        a, b = box[same], box[same + apart]
        over = ((low[a] < high[b]) & (low[b] < high[a])).all(axis=1)
        np.maximum.at(found, b[over], a[over])
    crowded = box[CROWD:][cell[CROWD:] == cell[:-CROWD]]
    found[crowded] = crowded - 1
    return found


def _cells(rects: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which box (int64[e]) lies in which cell (int64[e]) of a grid; by cell, then by box."""
    first = np.floor((rects[:, :2] - REACH) / CELL).astype(np.int64)
    last = np.floor((rects[:, :2] + rects[:, 2:]) / CELL).astype(np.int64)
    spans = last - first + 1
    parts = spans.prod(axis=1)
    box = np.repeat(np.arange(len(rects)), parts)
    part = np.arange(len(box)) - np.repeat(np.cumsum(parts) - parts, parts)
    across = first[box, 0] + part % spans[box, 0]
    down = first[box, 1] + part // spans[box, 0]
    cell = across * (np.int64(1) << 32) + down
    order = np.argsort(cell, kind="stable")
    return cell[order], box[order]


def _wipe(painter: QPainter, rects: np.ndarray) -> None:
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(Qt.GlobalColor.black)
    batch_drawing.rects(painter, rects)
    painter.restore()
