"""The everyday gestures of a node editor: copies on the pointer, names in place, menus."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from tests.support.controls import NONE, in_window

pytestmark = pytest.mark.xvfb


def right_click(user, at: QPoint) -> None:
    window, offset = in_window(user.canvas.viewport())
    QTest.mouseMove(window, offset + at)
    QTest.mouseClick(window, Qt.MouseButton.RightButton, NONE, offset + at)
    user.wait(lambda: QApplication.activePopupWidget() is not None, "a menu")


def test_a_node_is_copied_renamed_and_taken_out_by_mouse_and_keys(user, examples) -> None:
    user.open(examples / "tutorial.gradstep")
    space = user.workspace
    user.select("e")
    there = user.node("e") + QPoint(60, 140)
    user.key("Ctrl+D")
    user.point_at(there)
    user.take_picture("gestures-copy")
    user.click_canvas(there)
    assert space.selection == ("e_1",)
    assert (user.node("e_1") - there).manhattanLength() < 80
    assert space.undo_stack.count() == 1
    user.key("Ctrl+D")
    user.key("Escape")
    assert space.undo_stack.count() == 1

    user.click_canvas(user.node("e_1"))
    user.key("F2")
    field = user.find("canvas.rename.name")
    QTest.keyClicks(field, "a")
    QTest.keyClick(field, "\r")
    assert "is taken" in user.text("canvas.rename.reason")
    user.take_picture("gestures-rename")
    QTest.keyClicks(field, "gain")
    QTest.keyClick(field, "\r")
    user.settle()
    assert space.selection == ("again",)
    assert not user.sees("canvas.rename")

    right_click(user, user.node("again"))
    user.take_picture("gestures-menu")
    user.pick("Delete")
    assert "again" not in space.document.graph
    right_click(user, user.wire("k", "e"))
    assert space.selected_edge is not None
    user.pick("Stop gradient")
    assert space.document.request.stopped_edges == {space.selected_edge}
    right_click(user, QPoint(12, 12))
    user.pick("Add node…")
    user.search("tanh")
    assert space.selection == ("Tanh",)
    assert not user.sees("banner.message")
