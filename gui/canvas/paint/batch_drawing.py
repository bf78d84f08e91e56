"""Drawing many rectangles, lines or points in one call, straight from NumPy memory."""

from __future__ import annotations

from typing import TypeVar, cast

import numpy as np
import shiboken6
from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QPainter

_Shape = TypeVar("_Shape", QRectF, QLineF, QPointF)
# Qt's three value types are plain doubles in this order; rows of a float64 array are the same.


def rects(painter: QPainter, array: np.ndarray) -> None:
    """x, y, width, height; float64[n, 4]."""
    if len(array):
        rows = _plain(array)
        painter.drawRects(_first(rows, QRectF), len(rows))


def lines(painter: QPainter, array: np.ndarray) -> None:
    """x1, y1, x2, y2; float64[n, 4]."""
    if len(array):
        rows = _plain(array)
        painter.drawLines(_first(rows, QLineF), len(rows))


def points(painter: QPainter, array: np.ndarray) -> None:
    """x, y; float64[n, 2]."""
    if len(array):
        rows = _plain(array)
        painter.drawPoints(_first(rows, QPointF), len(rows))


def _plain(array: np.ndarray) -> np.ndarray:
    """The caller keeps the result alive while Qt reads it."""
    return np.ascontiguousarray(array, dtype=np.float64)


def _first(rows: np.ndarray, kind: type[_Shape]) -> _Shape:
    """The first row as a shape of Qt's; the others follow it in memory."""
    return cast("_Shape", shiboken6.wrapInstance(rows.ctypes.data, kind))
