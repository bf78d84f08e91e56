"""The tree of rows: Qt's own consistency tests, folds and selection across rebuilds."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QTreeView

from gradstep.gui.look.theme import DARK
from gradstep.gui.panels.widgets.row_list import Row
from gradstep.gui.panels.widgets.row_tree import DraggedRowTreeModel, RowRole, RowTreeModel
from gradstep.gui.panels.widgets.row_view import RowTree


def rows(depth: int) -> st.SearchStrategy[list[Row]]:
    children = rows(depth - 1).map(tuple) if depth else st.just(())
    row = st.builds(Row, key=st.text("ab", max_size=3), label=st.text("xy"), children=children)
    return st.lists(row, max_size=2)


def shape(model: RowTreeModel, parent: QModelIndex | None = None) -> list[Any]:
    parent = parent or QModelIndex()
    found = []
    for number in range(model.rowCount(parent)):
        index = model.index(number, 0, parent)
        assert model.parent(index) == parent
        found.append((index.data(), shape(model, index)))
    return found


def labels(tree: list[Row]) -> list[Any]:
    return [(row.label, labels(list(row.children))) for row in tree]


@given(trees=st.lists(rows(2), min_size=1, max_size=3), looks=st.booleans())
@pytest.mark.slow
def test_the_model_is_the_last_tree(qapp: object, trees: list[list[Row]], looks: bool) -> None:
    """Whether or not somebody looked into all of those before."""
    model = RowTreeModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    for tree in trees:
        model.set_rows(tree)
        assert not looks or shape(model) == labels(tree)
    assert shape(model) == labels(trees[-1])
    groups = [row for row, _ in model.groups()]
    assert groups == [row for row in trees[-1] if row.children]
    del tester


def scopes(names: str) -> list[Row]:
    ops = tuple(Row(f"op:{n}", n, name=n) for n in names)
    return [Row("group", "group", heading=True, children=ops)]


def test_folds_and_selection_survive_a_rebuild(show: Callable[..., RowTree], qtbot: Any) -> None:
    tree = show(RowTree(lambda: DARK))
    tree.set_rows(scopes("abc"))
    tree.select_names(["b"])
    tree.set_rows(scopes("xabc"))
    assert tree.selected_names() == ["b"]

    group = tree.rows.index(0, 0)
    place = tree.visualRect(group).center()
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert not tree.isExpanded(group)
    tree.set_rows(scopes("abc"))
    assert not tree.isExpanded(tree.rows.index(0, 0))
    tree.set_rows(scopes("a"), forced_open=True)
    assert tree.isExpanded(tree.rows.index(0, 0))


def test_choosing_is_announced_and_following_is_not(
    show: Callable[..., RowTree], qtbot: Any
) -> None:
    tree = show(RowTree(lambda: DARK))
    tree.set_rows(scopes("abc"))
    heard: list[list[str]] = []
    tree.chosen.connect(heard.append)
    tree.select_names(["c"], reveal=True)
    assert heard == []
    second = tree.rows.index(1, 0, tree.rows.index(0, 0))
    place = tree.visualRect(second).center()
    qtbot.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=place)
    qtbot.keyClick(tree, Qt.Key.Key_Down)
    assert heard == [["b"], ["c"]]
    assert isinstance(tree, QTreeView)


def test_only_rows_that_look_otherwise_are_told_again(show: Callable[..., RowTree]) -> None:
    """A rebuild of thousands of rows of which none differs paints nothing."""
    tree = show(RowTree(lambda: DARK))
    tree.set_rows(scopes("abc"))
    tree.grab()
    told: list[tuple[int, int]] = []
    tree.rows.dataChanged.connect(lambda first, last: told.append((first.row(), last.row())))
    tree.set_rows(scopes("abc"))
    assert told == []
    ops = (
        Row("op:a", "a", name="a"),
        Row("op:b", "b", "new", name="b"),
        Row("op:c", "c", name="c"),
    )
    tree.set_rows([Row("group", "group", heading=True, children=ops)])
    assert told == [(1, 1)]
    assert tree.rows.index(1, 0, tree.rows.index(0, 0)).data(RowRole).detail == "new"


def nested(names: str, folded: str = "") -> list[Row]:
    """Groups of these names with a row in each, in a group that is open."""
    groups = [
        Row(f"g:{n}", n, open=n not in folded, children=(Row(f"op:{n}", n, name=n),)) for n in names
    ]
    return [Row("all", "all", heading=True, children=(*groups, Row("op:last", "last")))]


def test_after_an_edit_only_groups_that_came_are_looked_into(
    show: Callable[..., RowTree], monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are unfolded as they are to be, and those that there were stay as they were."""
    tree = show(RowTree(lambda: DARK))
    tree.set_rows(nested("abc"))
    above = tree.rows.index(0, 0)
    tree.collapse(tree.rows.index(1, 0, above))  # by the user
    looked: list[str] = []
    groups = RowTreeModel.groups

    def noted(self: RowTreeModel, *parent: Any) -> Any:
        looked.append(self.row_at(parent[0]).label)  # type: ignore[union-attr]
        return groups(self, *parent)

    monkeypatch.setattr(RowTreeModel, "groups", noted)
    tree.set_rows(nested("axybc", folded="y"))
    above = tree.rows.index(0, 0)
    open_ = [tree.isExpanded(tree.rows.index(i, 0, above)) for i in range(5)]
    assert open_ == [True, True, False, False, True]
    assert looked == ["x"]
    looked.clear()
    renamed = nested("axybc", folded="y")[0]
    last = (*renamed.children[:-1], Row("op:other", "other"))
    tree.set_rows([renamed._replace(children=last)])
    assert tree.rows.index(5, 0, tree.rows.index(0, 0)).data(RowRole).label == "other"
    assert not looked, "a row got another name"


def test_of_each_row_python_is_asked_twice_to_lay_them_out(qapp: object, qtbot: Any) -> None:
    """Where it is, and whether it has children."""
    tree = RowTree(lambda: DARK)
    qtbot.addWidget(tree)
    tree.set_rows([Row(f"row{i}", f"row {i}", children=scopes("a")[i % 2 :]) for i in range(500)])
    rows = 500 + 250 * len(("group", "a"))
    tree.show()
    calls = list[str]()

    def note(frame: FrameType, event: str, argument: object) -> None:
        if event == "call" and isinstance(frame.f_locals.get("self"), RowTreeModel):
            calls.append(frame.f_code.co_name)

    sys.setprofile(note)
    tree.doItemsLayout()
    sys.setprofile(None)
    asked = Counter(name for name in calls if not name.startswith("_"))
    opened = asked.pop("rowCount")
    assert rows <= asked.total() < 2.01 * rows
    assert opened < 0.51 * rows


def test_only_rows_with_names_are_dragged(qapp: object) -> None:
    model = DraggedRowTreeModel("x-gradstep/test")
    model.set_rows(scopes("a"))
    group = model.index(0, 0)
    dragged = Qt.ItemFlag.ItemIsDragEnabled
    assert dragged in model.index(0, 0, group).flags()
    assert dragged not in group.flags()
    assert model.mimeData([model.index(0, 0, group)]).data("x-gradstep/test") == b"a"
    assert not model.flags(QModelIndex())
    plain = RowTreeModel()
    plain.set_rows(scopes("a"))
    assert Qt.ItemFlag.ItemIsSelectable in plain.index(0, 0).flags()
    assert dragged not in plain.index(0, 0, plain.index(0, 0)).flags()
