"""Keys act where the mouse is, whatever was clicked last; what cannot act says why."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.support.controls import in_window

pytestmark = pytest.mark.xvfb


def hover(user, name: str) -> None:
    """Move the mouse to the upper left corner of a widget."""
    window, offset = in_window(user.find(name))
    QTest.mouseMove(window, offset + QPoint(3, 3))


def test_keys_act_where_the_mouse_is(user, examples) -> None:
    user.open(examples / "tutorial.gradstep")
    user.select("d")
    user.canvas.camera.zoom_to(0.3)
    user.click("inspector.input.0")
    assert QApplication.focusWidget().objectName() == "inspector", "no button that Space presses"
    hover(user, "inspector")  # QTest moves no real mouse: Qt looked at where that is
    scale = user.canvas.camera.scale
    user.key("Home")
    assert user.canvas.camera.scale == scale
    assert "point at it" in user.text("status.place"), "the mouse is over the inspector"

    tree = user.find("outline.tree")
    user.click_at(tree.viewport(), QPoint(40, 60))
    assert QApplication.focusWidget() is tree
    user.canvas.camera.zoom_to(0.3)
    user.point_at(QPoint(200, 40))
    user.key("Home")
    fitted = user.canvas.camera.scale
    assert fitted > 0.4
    assert QApplication.focusWidget() is user.canvas

    user.select("d")
    user.click("inspector.input.0")
    user.point_at(QPoint(200, 40))
    user.key("Ctrl+A")
    assert len(user.workspace.selection) == len(user.workspace.document.graph)

    user.click_canvas(QPoint(200, 40))
    user.select("d")
    before = user.workspace.document
    field = user.find("outline.filter")
    user.click_at(field, field.rect().center())
    user.point_at(QPoint(200, 40))
    user.key("X")
    assert user.workspace.document is before, "who types is never disturbed"
    assert user.text("outline.filter").lower() == "x"

    user.click_canvas(QPoint(200, 40))
    assert user.workspace.selection == ()
    user.key("F9")
    assert user.text("status.place") == "Toggle breakpoint: select a node first"


def test_who_is_done_leaves_the_keys_to_the_canvas(user, examples) -> None:
    user.open(examples / "tutorial.gradstep")
    user.select("c")
    field = user.find("inspector.value")
    user.click_at(field, field.rect().center())
    user.point_at(QPoint(200, 40))
    for typed, holder in (("nonsense", "inspector.value"), ("4", "canvas")):
        user.key("Ctrl+A")
        QTest.keyClicks(QApplication.focusWidget(), typed)
        user.key("Return")
        assert QApplication.focusWidget().objectName() == holder
    document = user.workspace.document
    user.key("Ctrl+Z")
    assert user.workspace.document is not document, "the canvas's, not the field's"
    user.key("Tab")
    assert user.sees("search_menu_field")
    user.close_popups()

    user.click("inspector.attr.dtype")
    user.close_popups()
    user.point_at(QPoint(220, 40))
    QTest.keyClicks(QApplication.focusWidget(), "ma")
    assert user.text("search_menu_field") == "ma", "no letter is lost"
    user.close_popups()

    user.select("k")
    name = user.find("inspector.name")
    user.click_at(name, name.rect().center())
    user.key("Ctrl+A")
    QTest.keyClicks(name, "kk")
    user.key("Return")
    assert "kk" in user.workspace.document.graph
    assert QApplication.focusWidget() is user.canvas

    user.select("e")
    user.workspace.view_requested.emit("pyfunc", "")
    user.key("Ctrl+Return")
    panel = user.find("inspector")
    QCursor.setPos(panel.mapToGlobal(panel.rect().center()))  # where a closing dialog leaves it
    user.click("inspector.token")
    user.key("End")
    QTest.keyClicks(QApplication.focusWidget(), " ")
    user.key("Ctrl+Return")
    user.activate()
    user.settle()
    assert QApplication.focusWidget().objectName() == "inspector.token"

    def place() -> QPoint:
        return user.canvas.viewport().mapToGlobal(user.node("e"))

    before = place()
    user.workspace.message.emit("error", "something")
    user.settle()
    assert user.sees("banner.message")
    assert place() == before, "what is under the pointer stays there"
    user.find("banner.message.close").setFocus()
    user.key("Space")
    user.settle()
    assert place() == before
    assert QApplication.focusWidget() is user.canvas, "not whatever comes after the banner"
