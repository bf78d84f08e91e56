"""A document's graph as a small picture, by the canvas's own painter."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPixmap

from gradstep.core.document.document import Document
from gradstep.core.document.requests import whole_request
from gradstep.core.graph.block_kinds import BlockKinds
from gradstep.core.graph.stacked_blocks import stack_blocks
from gradstep.core.ops.typing.inference import infer
from gradstep.gui.canvas.paint.graph_painter import GraphPainter
from gradstep.gui.canvas.paint.runtime_painter import RuntimePainter
from gradstep.gui.canvas.scene.box_placement import complete, known
from gradstep.gui.canvas.scene.overlay_state import OverlayState
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.canvas.scene.visible_graph import VisibleGraph
from gradstep.gui.look.theme import Theme, sans

MARGIN = 40.0  # scene units
NEAR, FAR = 0.6, 0.2  # pixels per scene unit, as if seen from there
NAME = 10  # pixels; the size of the names
LARGEST = 0.8  # pixels per scene unit, for graphs of a few nodes


def thumbnail(document: Document, size: QSize, theme: Theme, ratio: float = 1.0) -> QPixmap:
    """The whole graph in the middle of `size` logical pixels."""
    visible = VisibleGraph.of(
        document.graph,
        infer(document.graph),
        whole_request(document),
        stack_blocks(document.view.collapsed, BlockKinds(document.graph)),
    )
    centres = complete(visible, known(visible, document.view.positions))
    return painted(SceneArrays.of(visible, centres), size, theme, ratio)


def painted(
    arrays: SceneArrays,
    size: QSize,
    theme: Theme,
    ratio: float = 1.0,
    facts: OverlayState | None = None,
) -> QPixmap:
    """What stands on a canvas, small. facts: with the gradients that flow there."""
    structure = GraphPainter(theme)
    structure.arrays = arrays
    left, top, right, bottom = arrays.extent
    area = QRectF(left, top, right - left, bottom - top).adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
    scale = min(size.width() / area.width(), size.height() / area.height(), LARGEST)
    result = QPixmap(size * ratio)
    result.setDevicePixelRatio(ratio)
    result.fill(theme.background)
    painter = QPainter(result)
    try:
        painter.translate(size.width() / 2, size.height() / 2)
        painter.scale(scale, scale)
        painter.translate(-area.center())
        _paint(painter, area, structure, facts)
        _write_names(painter, arrays, theme)
    finally:
        painter.end()
    return result


def _paint(
    painter: QPainter, area: QRectF, structure: GraphPainter, facts: OverlayState | None
) -> None:
    """Smooth curves, and boxes in the colours of their families."""
    boxes = np.ones(len(structure.arrays), dtype=bool)
    links = np.ones(len(structure.arrays.routes), dtype=bool)
    structure.paint_frames(painter, area, FAR, titles=False)
    structure.paint_some(painter, np.zeros_like(boxes), links, NEAR)
    if facts is not None:
        runtime = RuntimePainter(structure.theme, structure.labels)
        runtime.paint(painter, structure.arrays, facts, np.zeros_like(boxes), links, NEAR)
    structure.paint_some(painter, boxes, np.zeros_like(links), FAR)


def _write_names(painter: QPainter, arrays: SceneArrays, theme: Theme) -> None:
    """The names that fit into their boxes, small, at the size of the picture's own pixels."""
    font = sans()
    font.setPixelSize(NAME)
    room = QFontMetrics(font)
    painter.setPen(theme.text)
    for box, rect in zip(arrays.visible.boxes, arrays.rects.tolist(), strict=True):
        place = painter.transform().mapRect(QRectF(*rect))
        if room.horizontalAdvance(box.id) <= place.width() - 6 and room.height() <= place.height():
            painter.save()
            painter.resetTransform()
            painter.setFont(font)
            painter.drawText(place.adjusted(2, 0, 0, 0), Qt.AlignmentFlag.AlignCenter, box.id)
            painter.restore()
