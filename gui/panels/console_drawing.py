"""A small picture of what the console printed: a line, or cells, in the colours of the theme."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QImage, QPainter, QPen, QPolygonF

from gradstep.core.host.tensors.aggregate import INF, NAN, NEGATIVE_INF
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import LinePicture
from gradstep.core.protocol.tensor_bytes import elements
from gradstep.gui.canvas.paint.picture_cards import images
from gradstep.gui.canvas.scene.value_pictures import ValuePicture
from gradstep.gui.look.theme import Theme

LINE = QSize(384, 48)  # pixels of a line
MOST = QSize(384, 128)  # of a matrix or an image, at most
_CELL = 16  # pixels of a cell, at most
_BROKEN = (NAN, INF, NEGATIVE_INF)


def draw(picture: LinePicture, buffers: Sequence[Buffer], theme: Theme) -> QImage:
    """buffers: as of LinePicture."""
    values = elements(buffers[0], np.dtype(np.float64)).reshape(picture.shape)
    kinds = elements(buffers[1], np.dtype(np.uint8)).reshape(picture.shape)
    if picture.kind == "line":
        return _line(values[0], np.isin(kinds[0], _BROKEN), theme)
    return _cells(picture, values, kinds, theme)


def _cells(picture: LinePicture, values: np.ndarray, kinds: np.ndarray, theme: Theme) -> QImage:
    least, most = _ends(values)
    is_image = picture.kind == "image"
    held = ValuePicture(values[None], kinds[None], least, most, is_image, picture.dtype)
    (image, *_) = images(held, theme)
    rows, columns = picture.shape[:2]
    size = max(1, min(_CELL, MOST.width() // columns, MOST.height() // rows))
    flat = Qt.AspectRatioMode.IgnoreAspectRatio
    return image.scaled(columns * size, rows * size, flat, Qt.TransformationMode.FastTransformation)


def _line(values: np.ndarray, broken: np.ndarray, theme: Theme) -> QImage:
    """With a mark where something is NaN or infinite, and a thin line at zero if that is within."""
    image = QImage(LINE, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(theme.panel)
    least, most = _ends(values)
    span, room = (most - least) or 1.0, LINE.height() - 8
    step = LINE.width() / len(values)

    def at(index: int, value: float) -> QPointF:
        return QPointF((index + 0.5) * step, 4 + room * (1 - (value - least) / span))

    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if least < 0 < most:
        painter.setPen(QPen(theme.line, 1))
        painter.drawLine(QPointF(0, at(0, 0.0).y()), QPointF(LINE.width(), at(0, 0.0).y()))
    for index in np.flatnonzero(broken).tolist():
        painter.fillRect(
            QRectF(index * step, 0, max(step, 2), LINE.height()), theme.tone("problem")
        )
    painter.setPen(QPen(theme.tone("forward"), 1.5))
    there = np.flatnonzero(np.isfinite(values))
    for run in np.split(there, np.flatnonzero(np.diff(there) > 1) + 1):
        points = [at(i, float(values[i])) for i in run.tolist()]
        if len(points) == 1:
            painter.drawEllipse(points[0], 1, 1)
        elif points:
            painter.drawPolyline(QPolygonF(points))
    painter.end()
    return image


def _ends(values: np.ndarray) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    return (float(known.min()), float(known.max())) if known.size else (0.0, 1.0)
