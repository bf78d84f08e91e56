"""What the current node shines: rings that fade outwards, kept as a picture."""

from __future__ import annotations

from functools import lru_cache
from math import ceil, floor

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QPen, QPixmap

from gradstep.gui.canvas.paint.node_cards import RADIUS
from gradstep.gui.look.theme import fade

GLOW = 10.0  # scene units that it shines beyond its card
_ROOM = GLOW + 2  # with half a pen's width
_KEPT = 8  # pictures: the node is painted again whenever a value comes


def draw(painter: QPainter, rect: QRectF, color: QColor) -> None:
    """Around a card; in a picture of vectors as rings."""
    device, to = painter.device(), painter.deviceTransform()
    if not isinstance(device, QPixmap | QImage) or to.m12() or to.m21():
        _rings(painter, rect, color)
        return
    area = to.mapRect(rect.adjusted(-_ROOM, -_ROOM, _ROOM, _ROOM))
    left, top = floor(area.x()), floor(area.y())
    ratio = device.devicePixelRatio()
    size = rect.width(), rect.height()
    image = _picture(size, to.m11(), (area.x() - left, area.y() - top), color.rgba(), ratio)
    painter.save()
    painter.resetTransform()
    painter.drawImage(QPointF(left, top) / ratio, image)
    painter.restore()


@lru_cache(maxsize=_KEPT)
def _picture(
    size: tuple[float, float], scale: float, off: tuple[float, float], rgba: int, ratio: float
) -> QImage:
    """The rings around a card of that size, scene units. off: where in its first pixel the picture
    begins."""
    wide, high = ((side + 2 * _ROOM) * scale for side in size)
    image = QImage(ceil(wide) + 2, ceil(high) + 2, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(0)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(*off)
    painter.scale(scale, scale)
    _rings(painter, QRectF(_ROOM, _ROOM, *size), QColor.fromRgba(rgba))
    painter.end()
    image.setDevicePixelRatio(ratio)
    return image


def _rings(painter: QPainter, rect: QRectF, color: QColor) -> None:
    for ring in range(int(GLOW)):
        strength = 1 - ring / GLOW
        painter.setPen(QPen(fade(color, 0.30 * strength**2), 1.5))
        grown = rect.adjusted(-ring - 1, -ring - 1, ring + 1, ring + 1)
        painter.drawRoundedRect(grown, RADIUS + ring, RADIUS + ring)
