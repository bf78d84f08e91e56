"""A line of numbers drawn in the room of a word: how a value went from run to run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QPainter, QPen, QPolygonF

from gradstep.gui.look.theme import Theme

_EDGE = 5  # pixels above and below
_DOT = 2.0  # radius, of the last number


def paint_sparkline(
    painter: QPainter,
    room: QRect,
    numbers: Sequence[float | None],
    theme: Theme,
) -> None:
    """One place across for each number, the last one marked; a gap where a number is not known, or
    not finite. Of one number, and of equal ones, a line half way up."""
    values = np.array([np.nan if n is None else n for n in numbers], np.float64)
    values[~np.isfinite(values)] = np.nan
    if not len(values) or np.isnan(values).all():
        return
    inner = room.adjusted(0, _EDGE, -_EDGE, -_EDGE)
    points = _points(values, inner)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(theme.muted, 1.2))
    for line in _unbroken(points):
        painter.drawPolyline(QPolygonF(line))
    if points[-1] is not None:
        painter.setBrush(theme.text)
        painter.setPen(theme.text)
        painter.drawEllipse(points[-1], _DOT, _DOT)
    painter.restore()


def _points(values: np.ndarray, room: QRect) -> list[QPointF | None]:
    least, most = float(np.nanmin(values)), float(np.nanmax(values))
    with np.errstate(over="ignore"):
        span = most - least
    if not np.isfinite(span):  # of numbers near the largest there are
        values, least, span = values / 4, least / 4, most / 4 - least / 4
    up = np.full(len(values), 0.5) if span == 0 else (values - least) / span
    across = room.width() / max(len(values) - 1, 1)
    left = room.left() if len(values) > 1 else room.left() + room.width() // 2
    return [
        None if np.isnan(value) else QPointF(left + i * across, room.bottom() - y * room.height())
        for i, (value, y) in enumerate(zip(values, up, strict=True))
    ]


def _unbroken(points: Sequence[QPointF | None]) -> list[list[QPointF]]:
    lines: list[list[QPointF]] = [[]]
    for point in points:
        if point is not None:
            lines[-1].append(point)
        elif lines[-1]:
            lines.append([])
    return [line for line in lines if len(line) > 1]
