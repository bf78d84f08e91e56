"""The drawings of assets/icons as pixmaps in any colour; crisp at every scale, made once."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QBuffer, QByteArray, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QImage, QImageWriter, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from gradstep.gui.look.theme import ASSETS, Theme

SIZE = 16  # pixels, the grid that the icons are drawn on
RATIOS = (1.0, 2.0)


def pixmap(name: str, color: QColor, size: int = SIZE, ratio: float = 1.0) -> QPixmap:
    """The icon `name` in one colour, `size` logical pixels wide."""
    return _pixmap(name, color.name(), size, ratio)


def icon(name: str, theme: Theme, color: QColor | None = None, size: int = SIZE) -> QIcon:
    """The icon for buttons and menus: in the theme's text colour, faint while disabled."""
    result = QIcon()
    shades = ((QIcon.Mode.Normal, color or theme.text), (QIcon.Mode.Disabled, theme.disabled))
    for mode, shade in shades:
        for ratio in RATIOS:
            result.addPixmap(pixmap(name, shade, size, ratio), mode)
    return result


def application_icon() -> QIcon:
    return QIcon(str(ASSETS / "icons" / "gradstep.svg"))


def application_png(pixels: int) -> bytes:
    """The same as a PNG file, so wide and high; needs no QApplication."""
    image = QImage(pixels, pixels, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    QSvgRenderer(QByteArray(_source("gradstep").encode())).render(painter)
    painter.end()
    buffer = QBuffer()
    buffer.open(QBuffer.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(buffer.data().data())


@cache
def _pixmap(name: str, color: str, size: int, ratio: float) -> QPixmap:
    source = _source(name).replace("currentColor", color)
    renderer = QSvgRenderer(QByteArray(source.encode()))
    result = QPixmap(QSize(size, size) * ratio)
    result.setDevicePixelRatio(ratio)
    result.fill(Qt.GlobalColor.transparent)
    painter = QPainter(result)
    renderer.render(painter, QRectF(0, 0, size, size))
    painter.end()
    return result


@cache
def _source(name: str) -> str:
    return (ASSETS / "icons" / f"{name}.svg").read_text(encoding="utf-8")
