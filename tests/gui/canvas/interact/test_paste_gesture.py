"""Copies hang on the pointer: a click puts them down, Escape leaves no trace."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from gradstep.gui import commands
from gradstep.gui.actions import action_table
from gradstep.gui.commands import copy_paste

LEFT = Qt.MouseButton.LeftButton
CTRL = Qt.KeyboardModifier.ControlModifier


@pytest.fixture
def pointed(canvas: Any) -> Any:
    """The tutorial, with `e` selected and the pointer on it."""
    canvas.open("tutorial")
    port = canvas.view.viewport()
    port.setAttribute(Qt.WidgetAttribute.WA_UnderMouse)  # which no test platform sets by itself
    at = canvas.middle("e")
    QTest.mouseClick(port, LEFT, pos=at)
    canvas.point_at(at)
    return canvas


def duplicated(canvas: Any) -> None:
    QTest.keyClick(canvas.view, Qt.Key.Key_D, CTRL)


def rect(canvas: Any, name: str) -> np.ndarray:
    return canvas.view.arrays.rects[canvas.number(name)]


def test_a_copy_follows_the_pointer_and_stays_where_it_is_put(pointed: Any) -> None:
    edits, before = pointed.space.undo_stack.count(), pointed.space.document
    duplicated(pointed)
    apart = rect(pointed, "e_1")[:2] - rect(pointed, "e")[:2]
    assert (apart > 0).all(), "it can be told from what it is a copy of"
    pointed.point_at(pointed.middle("e") + QPoint(80, 200))
    way = rect(pointed, "e_1")[:2] - rect(pointed, "e")[:2]
    scale = pointed.view.camera.scale
    assert np.allclose(way - apart, np.array([80, 200]) / scale, atol=8)
    assert (way % 8 == 0).all(), "on the grid"
    QTest.mouseClick(pointed.view.viewport(), LEFT, pos=pointed.middle("e") + QPoint(80, 200))
    assert pointed.view.gestures.current is None
    pointed.point_at(QPoint(10, 10))
    assert np.allclose(rect(pointed, "e_1")[:2] - rect(pointed, "e")[:2], way)
    assert pointed.space.selection == ("e_1",)
    assert pointed.space.undo_stack.count() == edits + 1
    pointed.space.undo_stack.undo()
    assert pointed.space.document is before
    pointed.space.undo_stack.redo()
    assert np.allclose(rect(pointed, "e_1")[:2] - rect(pointed, "e")[:2], way)


def test_escape_takes_the_copy_away_and_leaves_no_edit(pointed: Any) -> None:
    edits, before = pointed.space.undo_stack.count(), pointed.space.document
    places = pointed.view.arrays.rects.copy()
    duplicated(pointed)
    pointed.point_at(QPoint(300, 300))
    QTest.keyClick(pointed.view, Qt.Key.Key_Escape)
    assert pointed.space.document is before
    assert pointed.space.undo_stack.count() == edits
    assert not pointed.space.undo_stack.canRedo()
    assert not pointed.space.is_changed
    assert pointed.space.selection == ("e",)
    assert np.array_equal(pointed.view.arrays.rects, places)
    assert pointed.view.gestures.current is None


def test_keys_go_to_where_a_copy_hangs(pointed: Any) -> None:
    """Whoever had the focus, as the menu that was asked: Escape is to take the copy away."""
    pointed.view.clearFocus()
    action_table.run("edit.duplicate", pointed.space)
    assert pointed.view.gestures.current is not None
    assert pointed.view.focusWidget() is pointed.view


def test_only_the_left_button_puts_down(pointed: Any) -> None:
    duplicated(pointed)
    for button in (Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton):
        QTest.mouseClick(pointed.view.viewport(), button, pos=QPoint(300, 300))
        assert pointed.view.gestures.current is not None


def test_other_keys_put_down_first(pointed: Any) -> None:
    duplicated(pointed)
    QTest.keyClick(pointed.view, Qt.Key.Key_Alt)
    assert pointed.view.gestures.current is not None, "which lets go of the grid"
    duplicated(pointed)
    assert pointed.space.selection == ("e_1_1",)
    pointed.point_at(QPoint(300, 300))
    QTest.keyClick(pointed.view, Qt.Key.Key_F9)
    assert pointed.view.gestures.current is None
    assert {b.target for b in pointed.space.document.breakpoints} == {"e_1_1"}
    assert {"e", "e_1", "e_1_1"} <= set(pointed.space.document.graph.operations)


def test_an_undo_meanwhile_ends_it(pointed: Any) -> None:
    before = pointed.space.document
    duplicated(pointed)
    pointed.space.undo_stack.undo()
    assert pointed.view.gestures.current is None
    assert pointed.space.document is before
    pointed.view.grab()
    pointed.point_at(QPoint(300, 300))
    assert "e_1" not in pointed.view.arrays.visible.number


def test_what_is_saved_meanwhile_is_put_down_by_another_edit(pointed: Any) -> None:
    duplicated(pointed)
    pointed.space.give_up_changes()
    saved = pointed.space.document
    pointed.point_at(QPoint(300, 300))
    QTest.mouseClick(pointed.view.viewport(), LEFT, pos=QPoint(300, 300))
    assert pointed.space.is_changed
    pointed.space.undo_stack.undo()
    assert pointed.space.document is saved


def test_without_a_pointer_copies_stand_free_beside(canvas: Any) -> None:
    canvas.open("tutorial")
    canvas.view.viewport().setAttribute(Qt.WidgetAttribute.WA_UnderMouse, False)
    for names in (["e"], ["a", "d", "e"]):
        canvas.space.select(names)
        action_table.run("edit.duplicate", canvas.space)
        assert canvas.view.gestures.current is None
        boxes = canvas.view.arrays.rects
        for name in canvas.space.selection:
            x, y, w, h = rect(canvas, name)
            over = (boxes[:, 0] < x + w) & (boxes[:, 0] + boxes[:, 2] > x)
            over &= (boxes[:, 1] < y + h) & (boxes[:, 1] + boxes[:, 3] > y)
            assert over.sum() == 1, name
        moved = [rect(canvas, n)[:2] - rect(canvas, n.removesuffix("_1").removesuffix("_2"))[:2]
                 for n in canvas.space.selection]  # fmt: skip
        assert np.ptp(moved, axis=0).max() == 0, "as they stand to each other"


def test_what_is_pasted_hangs_by_its_middle(pointed: Any) -> None:
    QTest.keyClick(pointed.view, Qt.Key.Key_C, CTRL)
    pointed.point_at(QPoint(700, 500))
    QTest.keyClick(pointed.view, Qt.Key.Key_V, CTRL)
    x, y, w, h = rect(pointed, "e_1")
    middle = pointed.view.mapToScene(QPoint(700, 500))
    assert abs(x + w / 2 - middle.x()) <= 8
    assert abs(y + h / 2 - middle.y()) <= 8
    QTest.keyClick(pointed.view, Qt.Key.Key_Escape)
    assert "e_1" not in pointed.space.document.graph


def test_nothing_is_pasted_from_an_empty_clipboard(
    pointed: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which the system may say by having none at all."""
    monkeypatch.setattr(copy_paste, "QGuiApplication", _NoClipboard)
    before = pointed.space.document
    assert commands.paste(pointed.space) == []
    assert pointed.space.document is before


class _NoClipboard:
    @staticmethod
    def clipboard() -> _NoClipboard:
        return _NoClipboard()

    def mimeData(self) -> None:
        return None
