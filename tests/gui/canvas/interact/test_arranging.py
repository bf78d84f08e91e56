"""Scopes that the user makes, other operations in a node's place, and nodes in a row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from gradstep.core.graph.model import Edge, TensorRef
from gradstep.gui.actions import action_table
from gradstep.gui.canvas.interact.entry_list import EntryList
from gradstep.gui.canvas.scene.scene_arrays import WIDTH
from tests.gui.canvas.interact.test_context_menu import choose, menu_at


@pytest.fixture
def opened(canvas: Any) -> Any:
    canvas.open("tutorial")
    return canvas


def run(canvas: Any, id: str, *names: str) -> None:
    canvas.space.select(names)
    assert action_table.run(id, canvas.space)


def field(canvas: Any, name: str) -> QLineEdit:
    found = [f for f in canvas.view.findChildren(QLineEdit, name) if f.isVisible()]
    assert len(found) == 1
    return found[0]


def test_nodes_go_into_a_scope_whose_name_is_typed_next(opened: Any) -> None:
    before = opened.space.document
    opened.space.select(["d", "e"])
    choose(menu_at(opened, opened.middle("e")), "Group into a scope")
    assert opened.space.selection == ("group/d", "group/e")
    name = field(opened, "canvas.rename.name")
    assert name.selectedText() == "group"
    QTest.keyClicks(name, "sums")
    QTest.keyClick(name, Qt.Key.Key_Return)
    assert {"sums/d", "sums/e"} <= opened.space.document.graph.operations.keys()
    assert [frame.scope for frame in opened.view.stage.arrays.frames] == ["sums"]
    for _ in range(2):
        opened.space.undo_stack.undo()
    assert opened.space.document.graph is before.graph


def test_a_name_in_itself_is_applied_once(opened: Any) -> None:
    run(opened, "edit.group", "d", "e")
    name = field(opened, "canvas.rename.name")
    QTest.keyClicks(name, "group/sums")
    QTest.keyClick(name, Qt.Key.Key_Return)
    assert {"group/sums/d", "group/sums/e"} <= opened.space.document.graph.operations.keys()


def test_a_scope_is_taken_away_and_nothing_moves(opened: Any) -> None:
    run(opened, "edit.group", "d", "e")
    opened.view.setFocus()
    places = {
        n: tuple(opened.view.stage.arrays.rects[opened.number(n)]) for n in ("group/d", "a", "k")
    }
    run(opened, "edit.dissolve", "group/d")
    assert opened.space.selection == ("d", "e")
    assert not opened.view.stage.arrays.frames
    for name, place in places.items():
        now = opened.view.stage.arrays.rects[opened.number(name.removeprefix("group/"))]
        assert np.allclose(now[:2], place[:2]), name


def test_a_node_is_replaced_by_what_is_found_for_its_place(opened: Any) -> None:
    run(opened, "graph.replace", "a")
    search = field(opened, "search_menu_field")
    QTest.keyClicks(search, "maximum")
    QTest.keyClick(search, Qt.Key.Key_Return)
    a = opened.space.document.graph["a"]
    assert (a.type, a.inputs) == ("Maximum", (TensorRef("d"), TensorRef("e")))
    assert opened.space.selection == ("a",)
    run(opened, "graph.replace", "a")
    search = field(opened, "search_menu_field")
    QTest.keyClicks(search, "MatMul")
    entry = opened.view.findChild(EntryList).current_entry()
    assert entry is None or entry.title != "MatMul", "which takes no vectors"


def test_what_has_a_value_of_its_own_is_not_replaced(opened: Any) -> None:
    """Its list would be empty."""
    for name in ("c", "data"):
        opened.space.select([name])
        assert not action_table.run("graph.replace", opened.space)


def test_two_inputs_change_places_by_a_key(opened: Any) -> None:
    opened.space.select(["a"])
    QTest.keyClick(opened.view.viewport(), Qt.Key.Key_S, Qt.KeyboardModifier.AltModifier)
    assert opened.space.document.graph["a"].inputs == (TensorRef("e"), TensorRef("d"))
    assert opened.space.shown.source(Edge("a", 0)) == TensorRef("e")


def test_nodes_stand_in_a_row_with_the_same_space_between_them(opened: Any) -> None:
    run(opened, "edit.align_row", "data", "d", "a", "loss")
    rects = opened.view.stage.arrays.rects[[opened.number(n) for n in ("data", "d", "a", "loss")]]
    middles = rects[:, 1] + rects[:, 3] / 2
    assert np.ptp(middles) < 1
    gaps = np.diff(rects[:, 0]) - WIDTH
    assert np.ptp(gaps) < 1
    assert gaps[0] > 0


def test_nodes_that_lie_on_each_other_are_put_apart(opened: Any) -> None:
    stage = opened.view.stage
    number = opened.number("e")
    x, y = stage.arrays.rects[number, :2] - stage.arrays.rects[opened.number("d"), :2]
    stage.move([number], -x, -y)
    run(opened, "edit.align_column", "d", "e")
    first, second = stage.arrays.rects[[opened.number("d"), opened.number("e")]]
    assert second[1] >= first[1] + first[3] or first[1] >= second[1] + second[3]
    assert first[0] == second[0]


def test_one_node_is_not_aligned(opened: Any) -> None:
    opened.space.select(["d"])
    assert not action_table.run("edit.align_row", opened.space)


def test_the_scope_around_all_that_is_selected_is_taken_away(opened: Any) -> None:
    run(opened, "edit.group", "d", "e")
    opened.view.setFocus()
    run(opened, "edit.group", "group/d")
    opened.view.setFocus()
    opened.space.select(["a", "group/group/d"])
    assert not action_table.run("edit.dissolve", opened.space), "no scope is around both"
    run(opened, "edit.dissolve", "group/e", "group/group/d")
    assert {"e", "d"} & opened.space.document.graph.operations.keys() == {"e"}
    assert opened.space.selection == ("group/d", "e")


@pytest.mark.parametrize(
    "names",
    [["d"], ["data", "labels", "c"]],
    ids=["one node", "no frame: the box of k lies among theirs"],
)
def test_the_name_of_the_new_scope_is_typed(opened: Any, names: list[str]) -> None:
    run(opened, "edit.group", *names)
    QTest.keyClicks(field(opened, "canvas.rename.name"), "own")
    QTest.keyClick(field(opened, "canvas.rename.name"), Qt.Key.Key_Return)
    assert {f"own/{name}" for name in names} <= opened.space.document.graph.operations.keys()


def test_a_scope_in_one_of_which_it_has_all_is_named_by_itself(opened: Any) -> None:
    run(opened, "edit.group", "d", "e")
    opened.view.setFocus()
    run(opened, "edit.group", "group/d", "group/e")
    assert field(opened, "canvas.rename.name").selectedText() == "group"
    QTest.keyClicks(field(opened, "canvas.rename.name"), "own")
    QTest.keyClick(field(opened, "canvas.rename.name"), Qt.Key.Key_Return)
    assert "group/own/d" in opened.space.document.graph.operations
