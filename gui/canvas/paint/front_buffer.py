"""A picture of what is in front, and a margin around it: moving the view copies pixels."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import reduce

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap, QRegion

Paint = Callable[[QPainter, QRectF, float], None]  # painter in scene units, rectangle, scale
MARGIN = 192  # pixels kept around the viewport
FEW = 4  # parts that are painted one by one,
SPARE = 1.5  # unless what is around them is hardly more: what lies in several is painted once
MANY = 64  # parts out of view that are remembered one by one
BUDGET = 14.0  # milliseconds that a repaint may take while the view is in motion


class FrontBuffer:
    """Keeps the pixels of one layer of the canvas at one scale. What is out of view is painted when
    it comes into view, but where that takes long: then at once, so that moving the view does not.

    Pixels are device-independent ones, counted from the scene's origin at that scale.
    """

    def __init__(self, paint: Paint, transparent: bool = False) -> None:
        self._paint = paint
        self._transparent = transparent
        self._pixmap = QPixmap()
        self._area = QRect()  # what the pixmap shows
        self._scale = 0.0
        self._stale = True
        self._spoiled = QRegion()  # what of the area does not show the layer as it is
        self.cost = 0.0  # milliseconds that the last repaint of all that is in view took

    @property
    def area(self) -> QRect:
        """What is kept, in pixels; empty while that is nothing of use."""
        return QRect() if self._stale else self._area

    @property
    def scale(self) -> float:
        """The scale of what is kept."""
        return self._scale

    def invalidate(self) -> None:
        """The layer changed: paint it again when next shown."""
        self._stale = True

    def invalidate_part(self, part: QRegion) -> None:
        """The layer changed in some pixels."""
        self._spoiled += part & self._area

    def show(
        self, painter: QPainter, view: QRect, scale: float, ratio: float, moving: bool
    ) -> bool:
        """Draw the part `view` at the painter's origin, in pixels. Returns whether it is crisp.

        moving: the scale is changing; a scaled old picture will do if a new one takes long.
        """
        if moving and scale != self._scale and self.cost > BUDGET and not self._stale:
            self._show_scaled(painter, view, scale)
            return False
        self._prepare(view, scale, ratio)
        painter.drawPixmap(self._area.topLeft() - view.topLeft(), self._pixmap)
        return True

    def _prepare(self, view: QRect, scale: float, ratio: float) -> None:
        same = scale == self._scale and ratio == self._pixmap.devicePixelRatio()
        kept = self._area if same and not self._stale else QRect()
        if not kept.contains(view):
            area = view.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
            self._move(area, kept & area, ratio)
            self._scale, self._stale = scale, False
        if (kept & self._area).isEmpty():
            started = time.perf_counter()
            self._paint_parts([view])
            self.cost = (time.perf_counter() - started) * 1000
        seen = self._area if self.cost > BUDGET else view
        parts = [part for part in self._parts if part.intersects(seen)]
        inside = [part for part in parts if view.contains(part)]
        beyond = [part for part in parts if part not in inside]
        self._paint_parts([*beyond, *_joined(inside)])
        if len(self._parts) > MANY:
            self._spoiled = QRegion(self._area).subtracted(QRegion(view))

    def _move(self, area: QRect, kept: QRect, ratio: float) -> None:
        """Keep another area, of which a part is kept already."""
        fresh = self._blank(area.size(), ratio)
        if not kept.isEmpty():
            painter = QPainter(fresh)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
            painter.setClipRect(kept.translated(-area.topLeft()))
            painter.drawPixmap(self._area.topLeft() - area.topLeft(), self._pixmap)
            painter.end()
        self._spoiled = (self._spoiled & kept) + QRegion(area).subtracted(QRegion(kept))
        self._pixmap, self._area = fresh, area

    @property
    def _parts(self) -> list[QRect]:
        """Those that are spoiled."""
        return [*self._spoiled]  # type: ignore[misc]  # the stubs lack its __iter__

    def _paint_parts(self, parts: list[QRect]) -> None:
        if not parts:
            return
        if len(parts) > FEW:
            parts = [reduce(QRect.united, parts)]
        painter, corner = QPainter(self._pixmap), self._area.topLeft()
        for part in parts:
            if self._transparent:
                painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
                painter.fillRect(part.translated(-corner), Qt.GlobalColor.black)
                painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
            self._paint_strip(painter, part, corner, self._scale)
            self._spoiled -= QRegion(part)
        painter.end()

    def _blank(self, size: QSize, ratio: float) -> QPixmap:
        pixmap = QPixmap(size * ratio)
        pixmap.setDevicePixelRatio(ratio)
        if self._transparent:
            pixmap.fill(QColor(0, 0, 0, 0))
        return pixmap

    def _paint_strip(self, painter: QPainter, strip: QRect, corner: QPoint, scale: float) -> None:
        painter.save()
        painter.setClipRect(strip.translated(-corner))
        painter.translate(-corner)
        painter.scale(scale, scale)
        scene = QRectF(strip.x() / scale, strip.y() / scale, strip.width() / scale,
                       strip.height() / scale)  # fmt: skip
        self._paint(painter, scene, scale)
        painter.restore()

    def _show_scaled(self, painter: QPainter, view: QRect, scale: float) -> None:
        factor = scale / self._scale
        corner = QPointF(self._area.topLeft()) * factor - QPointF(view.topLeft())
        size = QSize(round(self._area.width() * factor), round(self._area.height() * factor))
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform, False)
        painter.drawPixmap(QRect(corner.toPoint(), size), self._pixmap)
        painter.restore()


def _joined(parts: list[QRect]) -> list[QRect]:
    """What is around some parts, where they are nearly all of that."""
    if not parts:
        return parts
    around = reduce(QRect.united, parts)
    return [around] if _pixels(around) <= SPARE * sum(map(_pixels, parts)) else parts


def _pixels(rect: QRect) -> int:
    return rect.width() * rect.height()
