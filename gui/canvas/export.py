"""The graph as a picture file: PNG, or SVG with text and lines; by the canvas's own painters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtCore import QRectF, QSizeF
from PySide6.QtGui import QImage, QPainter

from core.errors import GradstepError
from gui.canvas.arrays import SceneArrays
from gui.canvas.facts import Facts
from gui.canvas.painter import GraphPainter
from gui.canvas.runtime import RuntimePainter
from gui.theme import Theme

MARGIN = 32.0  # scene units around the graph
MOST = 16_000  # pixels to a side


def save(path: Path, arrays: SceneArrays, facts: Facts, theme: Theme, scale: float = 2.0) -> None:
    """Write the whole graph to `path`; its suffix says how. Raises GradstepError.

    scale: pixels per scene unit of a PNG, made smaller for a graph that would be too large.
    """
    if path.suffix.lower() == ".svg":
        written = _svg(path, arrays, facts, theme)
    elif path.suffix.lower() == ".png":
        written = image(arrays, facts, theme, scale).save(str(path))
    else:
        raise GradstepError(
            f"a picture cannot be written as '{path.suffix}'", kind="FileError",
            hint="use .png or .svg",
        )  # fmt: skip
    if not written:
        raise GradstepError(
            f"{path} could not be written", kind="FileError", hint="choose another folder"
        )


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


def _svg(path: Path, arrays: SceneArrays, facts: Facts, theme: Theme) -> bool:
    from PySide6.QtSvg import QSvgGenerator

    area = _area(arrays)
    generator = QSvgGenerator()
    generator.setFileName(str(path))
    generator.setSize(area.size().toSize())
    generator.setViewBox(QRectF(area.topLeft(), QSizeF(area.size())))
    generator.setTitle("Gradstep graph")
    painter = QPainter()
    if not painter.begin(generator):
        return False
    _paint(painter, area, arrays, facts, theme, 1.0)
    return bool(painter.end())


def _area(arrays: SceneArrays) -> QRectF:
    left, top, right, bottom = arrays.extent
    return QRectF(left, top, right - left, bottom - top).adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)


def _paint(
    painter: QPainter, area: QRectF, arrays: SceneArrays, facts: Facts, theme: Theme, scale: float
) -> None:
    structure = GraphPainter(theme)
    structure.arrays = arrays
    painter.fillRect(area, theme.background)
    structure.paint(painter, area, scale)
    boxes, links = np.ones(len(arrays), dtype=bool), np.ones(len(arrays.points), dtype=bool)
    RuntimePainter(theme, structure.labels).paint(painter, arrays, facts, boxes, links, scale)
