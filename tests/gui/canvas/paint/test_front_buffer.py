"""The kept picture: what is painted anew, and what is only copied or scaled."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRect, QRectF
from PySide6.QtGui import QColor, QImage, QPainter, QRegion

from gradstep.gui.canvas.paint import front_buffer
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


def test_what_is_out_of_view_is_painted_by_the_first_pan_and_no_other(layer: Painted) -> None:
    buffer = FrontBuffer(layer)
    assert edge(shown(buffer, VIEW)) == 50
    assert layer.areas == [QRectF(VIEW)]
    assert edge(shown(buffer, VIEW.translated(-30, 10))) == 80
    margins = layer.areas[1:]
    assert margins
    assert not any(area.intersects(QRectF(VIEW)) for area in margins)
    for x, y in ((-40, 20), (-1, MARGIN), (-45, 30)):
        assert edge(shown(buffer, VIEW.translated(x, y))) == 50 - x
    assert layer.areas[1:] == margins


def test_a_costly_layer_is_painted_with_its_margin(
    layer: Painted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(front_buffer, "BUDGET", -1.0)
    buffer = FrontBuffer(layer)
    shown(buffer, VIEW)
    painted = [*layer.areas]
    assert sum(area.width() * area.height() for area in painted) == (100 + 2 * MARGIN) * (
        80 + 2 * MARGIN
    )
    assert edge(shown(buffer, VIEW.translated(40, MARGIN))) == 10
    assert layer.areas == painted


def test_what_changes_out_of_view_is_painted_when_it_comes_into_view(layer: Painted) -> None:
    buffer = FrontBuffer(layer)
    shown(buffer, VIEW)
    shown(buffer, VIEW.translated(-1, 0))
    painted = len(layer.areas)
    spot = QRect(-60, 20, 10, 10)
    buffer.invalidate_part(QRegion(spot))
    shown(buffer, VIEW)
    assert len(layer.areas) == painted
    shown(buffer, VIEW.translated(-55, 0))
    assert layer.areas[painted:] == [QRectF(spot)]


def test_of_many_spots_out_of_view_not_each_is_remembered(layer: Painted) -> None:
    buffer = FrontBuffer(layer)
    shown(buffer, VIEW)
    shown(buffer, VIEW.translated(-1, 1))
    painted = len(layer.areas)
    for i in range(front_buffer.MANY + 1):
        buffer.invalidate_part(QRegion(-100 + i % 9 * 7, -100 + i * 3, 2, 2))
    shown(buffer, VIEW)
    shown(buffer, VIEW.translated(-MARGIN, 0))
    assert 0 < len(layer.areas) - painted <= front_buffer.FEW


def test_a_pan_beyond_the_margin_paints_only_what_is_new(layer: Painted) -> None:
    buffer = FrontBuffer(layer)
    shown(buffer, VIEW)
    for x, y in ((0, 1), (0, -1), (1, 0), (-1, 0)):
        shown(buffer, VIEW.translated(x, y))
    painted = len(layer.areas)
    image = shown(buffer, VIEW.translated(0, MARGIN + 20))
    new = layer.areas[painted:]
    assert edge(image) == 50
    assert sum(a.height() for a in new) == MARGIN + 20


def test_what_changed_is_painted_again(layer: Painted) -> None:
    buffer = FrontBuffer(layer)
    shown(buffer, VIEW)
    buffer.invalidate()
    shown(buffer, VIEW)
    assert len(layer.areas) == 2


def test_parts_that_leave_little_between_them_are_painted_as_one(layer: Painted) -> None:
    """What lies in both would be painted twice; two that are far apart are no reason for all that
    is between them."""
    buffer = FrontBuffer(layer)
    shown(buffer, VIEW)
    for parts, painted in (
        ([QRect(10, 10, 40, 20), QRect(20, 30, 40, 20)], [QRectF(10, 10, 50, 40)]),
        (
            [QRect(10, 10, 10, 10), QRect(80, 60, 10, 10)],
            [QRectF(10, 10, 10, 10), QRectF(80, 60, 10, 10)],
        ),
    ):
        layer.areas.clear()
        buffer.invalidate_part(QRegion(parts[0]) + QRegion(parts[1]))
        shown(buffer, VIEW)
        assert layer.areas == painted


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
