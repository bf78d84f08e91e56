"""A strip above the canvas hides nothing that was seen whole, and leaves the graph where it is."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, QRect, QRectF

from gradstep.gui.automation.driver import Driver


def _on_screen(driver: Driver, rect: QRectF | None = None) -> QRect:
    """Where that part of the graph is, or all of it, in pixels of the screen."""
    canvas = driver.window.canvas
    area = canvas.mapFromScene(canvas.stage.area if rect is None else rect).boundingRect()
    return area.translated(canvas.viewport().mapToGlobal(QPoint(0, 0)))


def _free(driver: Driver) -> QRect:
    """The canvas that is seen, in pixels of the screen."""
    port = driver.window.canvas.viewport()
    return port.rect().translated(port.mapToGlobal(QPoint(0, 0)))


def _say(driver: Driver) -> None:
    driver.window.banners.say("warning", "'y' does not fit input 'x' of 'e'")
    driver.settle()


def test_what_is_framed_neither_moves_nor_is_hidden(tutorial: Driver, examples: Path) -> None:
    window = tutorial.window
    tutorial.open(examples / "where_nan_trap.gradstep")
    stage, number = window.canvas.stage, window.canvas.stage.arrays.visible.number
    column = stage.box_rect(number["double/x"]) | stage.box_rect(number["double/one"])
    window.canvas.camera.frame(column, largest=4.0)  # as tall as the canvas
    tutorial.settle()
    stood = _on_screen(tutorial, column)
    _say(tutorial)
    assert _on_screen(tutorial, column) == stood
    assert _free(tutorial).contains(stood)
    window.banners.message.hide()
    tutorial.settle()
    assert _on_screen(tutorial, column) == stood


def test_what_would_be_hidden_makes_way_as_far_as_there_is_room(tutorial: Driver) -> None:
    camera = tutorial.window.canvas.camera
    tutorial.window.canvas.fit()
    tutorial.settle()
    camera.pan(QPoint(0, _free(tutorial).top() - _on_screen(tutorial).top() + 2))
    stood = _on_screen(tutorial)
    _say(tutorial)
    assert 0 < _on_screen(tutorial).top() - stood.top() <= 40
    assert _free(tutorial).contains(_on_screen(tutorial))
