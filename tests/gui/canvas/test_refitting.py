"""A view of another size shows the whole graph again, as long as nobody has looked elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gradstep.gui import commands

SIZES = ((400, 300), (1300, 500), (700, 900), (260, 640))


def sees_all(canvas) -> bool:
    seen = canvas.view.camera.visible
    return all(seen.contains(QRectF(*rect)) for rect in canvas.view.arrays.rects.tolist())


def resize(canvas, width: int, height: int) -> None:
    canvas.view.resize(width, height)
    QApplication.processEvents()


def test_the_graph_is_fitted_into_every_size(canvas) -> None:
    canvas.open("tutorial")
    for size in SIZES:
        resize(canvas, *size)
        assert sees_all(canvas), size


def pan(canvas) -> None:
    port, middle, none = canvas.view.viewport(), Qt.MouseButton.MiddleButton, Qt.KeyboardModifier(0)
    QTest.mousePress(port, middle, none, QPoint(500, 320))
    QTest.mouseMove(port, QPoint(560, 350))
    QTest.mouseRelease(port, middle, none, QPoint(560, 350))


def turn_the_wheel(canvas) -> None:
    at = QPointF(200, 200)
    event = QWheelEvent(
        at,
        canvas.view.viewport().mapToGlobal(at),
        QPoint(),
        QPoint(0, 120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(canvas.view.viewport(), event)


def edit(canvas) -> None:
    commands.add_node(canvas.space, "Tanh", (300.0, 900.0), "t")


@pytest.mark.parametrize("move", [pan, turn_the_wheel, edit])
def test_what_somebody_looks_at_stays(canvas, move: Callable[..., None]) -> None:
    canvas.open("tutorial")
    move(canvas)
    camera = canvas.view.camera
    before = camera.scale, camera.pixels.topLeft()
    resize(canvas, 700, 500)
    assert (camera.scale, camera.pixels.topLeft()) == before


def test_home_fits_it_again_from_then_on(canvas) -> None:
    canvas.open("tutorial")
    turn_the_wheel(canvas)
    canvas.view.fit()
    resize(canvas, 500, 300)
    assert sees_all(canvas)


def test_another_document_is_fitted_again(canvas) -> None:
    canvas.open("tutorial")
    turn_the_wheel(canvas)
    canvas.open("gather")
    resize(canvas, 500, 300)
    assert sees_all(canvas)
