"""A picture of what is in front, and a margin around it: moving the view copies pixels."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap, QRegion

Paint = Callable[[QPainter, QRectF, float], None]  # painter in scene units, rectangle, scale
MARGIN = 192  # pixels kept around the viewport
FEW = 3  # parts that are painted one by one
BUDGET = 14.0  # milliseconds that a repaint may take while the view is in motion


class FrontBuffer:
    """Keeps the pixels of one layer of the canvas at one scale.

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
        self.cost = 0.0  # milliseconds that the last full repaint took

    @property
    def area(self) -> QRect:
        """What is kept, in pixels; empty while that is nothing of use."""
        return QRect() if self._stale else self._area

    @property
    def scale(self) -> float:
        """That of what is kept."""
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
        if not self._stale and same and self._area.contains(view):
            self._mend()
            return
        area = view.adjusted(-MARGIN, -MARGIN, MARGIN, MARGIN)
        kept = self._area if same and not self._stale else QRect()
        spoiled = self._spoiled & area
        fresh = self._blank(area.size(), ratio)
        painter = QPainter(fresh)
        if kept.intersects(area):
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
            painter.drawPixmap(kept.topLeft() - area.topLeft(), self._pixmap)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
        started = time.perf_counter()
        exposed = QRegion(area).subtracted(QRegion(kept))
        for strip in exposed:  # type: ignore[attr-defined]  # the stubs lack its __iter__
            self._paint_strip(painter, strip, area.topLeft(), scale)
        painter.end()
        self._spoiled = QRegion() if kept.isEmpty() else spoiled
        if kept.isEmpty():
            self.cost = (time.perf_counter() - started) * 1000
        self._pixmap, self._area, self._scale, self._stale = fresh, area, scale, False
        self._mend()

    def _mend(self) -> None:
        """Paint what is spoiled."""
        if self._spoiled.isEmpty():
            return
        if self._spoiled.rectCount() > FEW:
            self._spoiled = QRegion(self._spoiled.boundingRect())
        painter, corner = QPainter(self._pixmap), self._area.topLeft()
        for part in self._spoiled:  # type: ignore[attr-defined]  # the stubs lack its __iter__
            if self._transparent:
                painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
                painter.fillRect(part.translated(-corner), Qt.GlobalColor.black)
                painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
            self._paint_strip(painter, part, corner, self._scale)
        painter.end()
        self._spoiled = QRegion()

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
