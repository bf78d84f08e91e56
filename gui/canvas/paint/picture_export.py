"""The graph as a picture file: PNG, or SVG with text and lines; by the canvas's own painters."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRectF, QSizeF
from PySide6.QtGui import QImage, QImageWriter, QPainter

from gradstep.core.errors import GradstepError
from gradstep.gui.canvas.paint import paint_order
from gradstep.gui.canvas.paint.graph_painter import GraphPainter
from gradstep.gui.canvas.paint.runtime_painter import RuntimePainter
from gradstep.gui.canvas.scene.overlay_state import OverlayState
from gradstep.gui.canvas.scene.scene_arrays import SceneArrays
from gradstep.gui.look.theme import Theme

# Around boxes, frames and links, for what is said at their edges: scene units, and pixels at least,
# for titles, shares and what an update did do not get smaller than can be read.
MARGIN, LEAST = 40.0, 32.0
MOST = 16_000  # pixels to a side
SUFFIXES = (".png", ".svg")


def to_bytes(
    suffix: str, arrays: SceneArrays, facts: OverlayState, theme: Theme, scale: float = 2.0
) -> bytes:
    """The whole graph as a ".png" or ".svg" file. Raises GradstepError for another suffix.

    scale: pixels per scene unit of a PNG, made smaller for a graph that would be too large.
    """
    if suffix not in SUFFIXES:
        raise GradstepError(
            f"a picture cannot be written as '{suffix}'", kind="FileError", hint="use .png or .svg"
        )
    memory = QBuffer()
    memory.open(QIODevice.OpenModeFlag.WriteOnly)
    if suffix == ".svg":
        _svg(memory, arrays, facts, theme)
    else:
        QImageWriter(memory, QByteArray(b"png")).write(image(arrays, facts, theme, scale))
    return bytes(memory.data().data())


def image(arrays: SceneArrays, facts: OverlayState, theme: Theme, scale: float = 2.0) -> QImage:
    """The whole graph as pixels."""
    left, top, right, bottom = arrays.extent
    scale = min(scale, (MOST - 2 * LEAST) / (max(right - left, bottom - top) + 2 * MARGIN))
    area = _area(arrays, scale)
    result = QImage((area.size() * scale).toSize(), QImage.Format.Format_RGB32)
    painter = QPainter(result)
    painter.scale(scale, scale)
    painter.translate(-area.topLeft())
    _paint(painter, area, arrays, facts, theme, scale)
    painter.end()
    return result


def _svg(memory: QBuffer, arrays: SceneArrays, facts: OverlayState, theme: Theme) -> None:
    from PySide6.QtSvg import QSvgGenerator

    area = _area(arrays, 1.0)
    generator = QSvgGenerator()
    generator.setOutputDevice(memory)
    generator.setSize(area.size().toSize())
    generator.setViewBox(QRectF(area.topLeft(), QSizeF(area.size())))
    generator.setTitle("Gradstep graph")
    painter = QPainter(generator)
    _paint(painter, area, arrays, facts, theme, 1.0)
    painter.end()


def _area(arrays: SceneArrays, scale: float) -> QRectF:
    left, top, right, bottom = arrays.extent
    margin = max(MARGIN, LEAST / scale)
    area = QRectF(QPointF(left, top), QPointF(right, bottom))
    return area.adjusted(-margin, -margin, margin, margin)


def _paint(
    painter: QPainter,
    area: QRectF,
    arrays: SceneArrays,
    facts: OverlayState,
    theme: Theme,
    scale: float,
) -> None:
    structure = GraphPainter(theme)
    structure.arrays, structure.most_far_links = arrays, len(arrays.routes)
    structure.titles = facts.loop_titles
    painter.fillRect(area, theme.background)
    structure.paint_frames(painter, area, scale)
    boxes, links = np.ones(len(arrays), dtype=bool), np.ones(len(arrays.routes), dtype=bool)
    runtime = RuntimePainter(theme, structure.labels)
    paint_order.paint_both(painter, structure, runtime, facts, boxes, links, scale)
