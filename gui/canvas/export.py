"""The graph as a picture file: PNG, or SVG with text and lines; by the canvas's own painters."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QBuffer, QIODevice, QRectF, QSizeF
from PySide6.QtGui import QImage, QPainter

from core.errors import GradstepError
from gui.canvas import stacking
from gui.canvas.arrays import SceneArrays
from gui.canvas.facts import Facts
from gui.canvas.painter import GraphPainter
from gui.canvas.runtime import RuntimePainter
from gui.theme import Theme

MARGIN = 32.0  # scene units around the graph
MOST = 16_000  # pixels to a side
SUFFIXES = (".png", ".svg")


def to_bytes(
    suffix: str, arrays: SceneArrays, facts: Facts, theme: Theme, scale: float = 2.0
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
        image(arrays, facts, theme, scale).save(memory, "PNG")
    return bytes(memory.data().data())


def image(arrays: SceneArrays, facts: Facts, theme: Theme, scale: float = 2.0) -> QImage:
    """The whole graph as pixels."""
    area = _area(arrays)
    scale = min(scale, MOST / max(area.width(), area.height()))
    result = QImage((area.size() * scale).toSize(), QImage.Format.Format_RGB32)
    painter = QPainter(result)
    painter.scale(scale, scale)
    painter.translate(-area.topLeft())
    _paint(painter, area, arrays, facts, theme, scale)
    painter.end()
    return result


def _svg(memory: QBuffer, arrays: SceneArrays, facts: Facts, theme: Theme) -> None:
    from PySide6.QtSvg import QSvgGenerator

    area = _area(arrays)
    generator = QSvgGenerator()
    generator.setOutputDevice(memory)
    generator.setSize(area.size().toSize())
    generator.setViewBox(QRectF(area.topLeft(), QSizeF(area.size())))
    generator.setTitle("Gradstep graph")
    painter = QPainter(generator)
    _paint(painter, area, arrays, facts, theme, 1.0)
    painter.end()


def _area(arrays: SceneArrays) -> QRectF:
    left, top, right, bottom = arrays.extent
    return QRectF(left, top, right - left, bottom - top).adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)


def _paint(
    painter: QPainter, area: QRectF, arrays: SceneArrays, facts: Facts, theme: Theme, scale: float
) -> None:
    structure = GraphPainter(theme)
    structure.arrays = arrays
    painter.fillRect(area, theme.background)
    structure.paint_frames(painter, area, scale)
    boxes, links = np.ones(len(arrays), dtype=bool), np.ones(len(arrays.points), dtype=bool)
    runtime = RuntimePainter(theme, structure.labels)
    stacking.paint_both(painter, structure, runtime, facts, boxes, links, scale)
