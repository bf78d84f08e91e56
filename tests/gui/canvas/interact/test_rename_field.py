"""Names are edited where they stand: of nodes and of scopes."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtCore import QPointF, Qt
from PySide6.QtTest import QTest

from gradstep.gui import commands
from gradstep.gui.actions import action_table
from gradstep.gui.canvas.interact.rename_field import NameEditor
from tests.gui.canvas.interact.test_flash_marker import nested

LEFT = Qt.MouseButton.LeftButton


def editors(canvas: Any) -> list[NameEditor]:
    return [e for e in canvas.view.viewport().findChildren(NameEditor) if e.isVisible()]


def editor(canvas: Any) -> NameEditor:
    (found,) = editors(canvas)
    return found


def double_click(canvas: Any, name: str, down: float) -> None:
    """So many scene units under the upper edge of a node."""
    rect = canvas.view.box_rect(canvas.number(name))
    at = canvas.view.mapFromScene(QPointF(rect.center().x(), rect.top() + down))
    QTest.mouseDClick(canvas.view.viewport(), LEFT, pos=at)


def type_name(canvas: Any, text: str, end: Qt.Key = Qt.Key.Key_Return) -> None:
    field = editor(canvas).field
    QTest.keyClicks(field, text)
    QTest.keyClick(field, end)


def test_a_double_click_on_the_title_edits_the_name(canvas: Any) -> None:
    canvas.open("tutorial")
    double_click(canvas, "e", 8)
    found = editor(canvas)
    assert found.field.hasSelectedText()
    title = canvas.view.mapFromScene(canvas.view.box_rect(canvas.number("e"))).boundingRect()
    assert title.contains(found.mapToParent(found.field.geometry().center()))
    type_name(canvas, "sum")
    assert "sum" in canvas.space.document.graph
    assert canvas.space.selection == ("sum",)
    assert not editors(canvas)
    assert canvas.space.undo_stack.count() == 1


def test_a_double_click_on_the_rows_inspects(canvas: Any, qtbot: Any) -> None:
    canvas.open("tutorial")
    with qtbot.waitSignal(canvas.space.view_requested) as asked:
        double_click(canvas, "e", 40)
    assert asked.args == ["show", "inspector"]
    assert not editors(canvas)


def test_escape_gives_up(canvas: Any) -> None:
    canvas.open("tutorial")
    before = canvas.space.document
    canvas.space.select(["e"])
    assert action_table.run("edit.rename", canvas.space)
    type_name(canvas, "other", Qt.Key.Key_Escape)
    assert canvas.space.document is before
    assert not editors(canvas)
    assert canvas.space.selection == ("e",)


@pytest.mark.parametrize(("name", "why"), [("a", "'a' is taken"), ("b c", "not a valid"), ("", "")])
def test_a_bad_name_is_refused_beside_the_field(canvas: Any, name: str, why: str) -> None:
    canvas.open("tutorial")
    before = canvas.space.document
    canvas.space.select(["e"])
    action_table.run("edit.rename", canvas.space)
    found = editor(canvas)
    found.field.clear()
    type_name(canvas, name)
    assert found.reason.isVisible()
    assert why in found.reason.text()
    assert canvas.said == [], "nowhere else"
    assert canvas.space.document is before
    QTest.keyClicks(found.field, "1")
    assert not found.reason.isVisible()
    found.field.clear()
    type_name(canvas, "fine")
    assert "fine" in canvas.space.document.graph


def test_leaving_the_field_applies_what_can_be(canvas: Any) -> None:
    canvas.open("tutorial")
    for name, there in (("sum", True), ("a", False)):
        canvas.space.select(["e" if there else "sum"])
        action_table.run("edit.rename", canvas.space)
        QTest.keyClicks(editor(canvas).field, name)
        canvas.view.setFocus()
        assert not editors(canvas)
        assert "sum" in canvas.space.document.graph


def test_the_field_follows_the_view_and_goes_with_its_node(canvas: Any) -> None:
    canvas.open("tutorial")
    canvas.space.select(["e"])
    action_table.run("edit.rename", canvas.space)
    before = editor(canvas).pos()
    canvas.view.camera.pan(before)
    assert editor(canvas).pos() == before * 2
    canvas.view.camera.zoom_to(2.0)
    box = canvas.view.mapFromScene(canvas.view.box_rect(canvas.number("e"))).boundingRect()
    assert box.adjusted(-2, -2, 2, 2).contains(editor(canvas).geometry())
    commands.remove_nodes(canvas.space, ["e"])
    assert not editors(canvas)


def test_scopes_are_renamed_with_all_that_is_in_them(canvas: Any) -> None:
    canvas.space.open_document(nested())
    canvas.space.debugger.flush()
    commands.set_collapsed(canvas.space, frozenset({"tower"}), "Close")
    QTest.mouseClick(canvas.view.viewport(), LEFT, pos=canvas.middle("tower/"))
    action_table.run("edit.rename", canvas.space)
    assert editor(canvas).field.text() == "tower"
    type_name(canvas, "trunk")
    assert {"trunk/in", "trunk/block/deep"} <= set(canvas.space.document.graph.operations)
    assert "trunk/" in canvas.view.arrays.visible.number
    assert set(canvas.space.selection) == {"trunk/in", "trunk/block/deep"}

    commands.set_collapsed(canvas.space, frozenset(), "Open")
    frame = next(f for f in canvas.view.arrays.frames if f.scope == "trunk")
    at = canvas.pixel((frame.rect[0] + 30, frame.rect[1] + 8))
    QTest.mouseClick(canvas.view.viewport(), LEFT, pos=at)
    action_table.run("edit.rename", canvas.space)
    assert abs(editor(canvas).y() - at.y()) < 40
    type_name(canvas, "stem")
    assert "stem/block/deep" in canvas.space.document.graph
    canvas.space.undo_stack.undo()
    canvas.space.undo_stack.undo()
    canvas.space.undo_stack.undo()
    assert "tower/block/deep" in canvas.space.document.graph


def test_a_node_in_a_closed_scope_is_shown_first(canvas: Any) -> None:
    canvas.space.open_document(nested())
    canvas.space.debugger.flush()
    commands.set_collapsed(canvas.space, frozenset({"tower"}), "Close")
    canvas.space.select(["tower/in"])
    action_table.run("edit.rename", canvas.space)
    assert editor(canvas).field.text() == "tower/in"
    assert editor(canvas).field.selectedText() == "in"
