"""The kept picture: what is painted anew, and what is only copied or scaled."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QImage, QPainter

from gradstep.gui.canvas.paint.front_buffer import BUDGET, MARGIN, FrontBuffer

VIEW = QRect(0, 0, 100, 80)


class Painted:
    """A layer of two colours, left and right of x = 50, that counts what it is asked for."""

    def __init__(self) -> None:
        self.areas: list[QRectF] = []

    def __call__(self, painter: QPainter, rect: QRectF, scale: float) -> None:
        self.areas.append(rect)
        painter.fillRect(rect, QColor("navy"))
        right = QRectF(50, rect.top(), max(0.0, rect.right() - 50), rect.height())
        painter.fillRect(right & rect, QColor("gold"))


@pytest.fixture
def layer(qapp: object) -> Painted:
    return Painted()


def shown(buffer: FrontBuffer, view: QRect, scale: float = 1.0, moving: bool = False) -> QImage:
    image = QImage(view.size(), QImage.Format.Format_RGB32)
    painter = QPainter(image)
    buffer.show(painter, view, scale, 1.0, moving)
    painter.end()
    return image


def edge(image: QImage) -> int:
    """The first pixel of the right colour in the middle row."""
    row = [image.pixelColor(x, 40).name() for x in range(image.width())]
    return row.index(QColor("gold").name())


def test_a_pan_inside_the_margin_paints_nothing(layer: Painted) -> None:
    buffer = FrontBuffer(layer)
    assert edge(shown(buffer, VIEW)) == 50
    assert edge(shown(buffer, VIEW.translated(-30, 10))) == 80
    assert len(layer.areas) == 1


def test_a_pan_beyond_the_margin_paints_only_what_is_new(layer: Painted) -> None:
    buffer = FrontBuffer(layer)
    shown(buffer, VIEW)
    image = shown(buffer, VIEW.translated(0, MARGIN + 20))
    new = layer.areas[1:]
    assert edge(image) == 50
    assert sum(a.height() for a in new) == MARGIN + 20


def test_what_changed_is_painted_again(layer: Painted) -> None:
    buffer = FrontBuffer(layer)
    shown(buffer, VIEW)
    buffer.invalidate()
    shown(buffer, VIEW)
    assert len(layer.areas) == 2


def test_a_costly_layer_is_scaled_while_zooming_and_crisp_after(layer: Painted) -> None:
    buffer = FrontBuffer(layer)
    shown(buffer, VIEW)
    buffer.cost = BUDGET + 1
    assert edge(shown(buffer, VIEW, 1.5, moving=True)) in (74, 75, 76)
    assert len(layer.areas) == 1
    assert edge(shown(buffer, VIEW, 1.5)) == 75
    assert len(layer.areas) == 2


def test_a_picture_of_something_else_is_never_scaled(layer: Painted) -> None:
    buffer = FrontBuffer(layer)
    shown(buffer, VIEW)
    buffer.cost = BUDGET + 1
    buffer.invalidate()
    shown(buffer, VIEW, 1.5, moving=True)
    assert len(layer.areas) == 2
