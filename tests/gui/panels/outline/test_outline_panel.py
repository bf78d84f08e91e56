"""The outline: roles, details, scopes, the filter, and selection both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QModelIndex, QPoint, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QWidget

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.graph.carry_over import continue_graph
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops.typing.inference import infer
from gradstep.gui import commands
from gradstep.gui.panels.outline import outline_panel
from gradstep.gui.panels.outline import outline_rows as outline_rows_module
from gradstep.gui.panels.outline.outline_panel import OutlinePanel
from gradstep.gui.panels.outline.outline_rows import Outline, outline_rows
from gradstep.gui.panels.widgets.row_list import Row, walk
from gradstep.gui.panels.widgets.row_tree import RowRole, RowTreeModel

NAMES = ("a", "b", "s/a", "s/b", "s/t/a", "s/t/b", "t/a", "t/b", "u/s/a", "gradients/a", "uv")


def told(rows: list[Row]) -> dict[str, list[tuple[str, str]]]:
    return {row.label: [(child.label, child.detail) for child in row.children] for row in rows}


def index_of(panel: OutlinePanel, name: str) -> Any:
    return next(first for first, _ in panel.tree.rows.ranges({name}))


def click(qtbot: Any, panel: OutlinePanel, name: str, *more: Any) -> None:
    place: QPoint = panel.tree.visualRect(index_of(panel, name)).center()
    qtbot.mouseClick(panel.tree.viewport(), Qt.MouseButton.LeftButton, *more, pos=place)


def test_operations_stand_by_their_role(bench: Any, show: Callable[..., Any]) -> None:
    bench.open("tutorial")
    space = bench.space
    rows = outline_rows(space.document, space.inference, space.program)
    groups = told(rows)
    assert groups["inputs"] == [("data", "[2]"), ("labels", "[2]")]
    assert groups["variables"] == [("c", "dL/dc"), ("k", "dL/dk")]
    assert groups["network"] == [("d", "AddV2"), ("e", "AddV2"), ("a", "Mul")]
    assert [label for label, _ in groups["loss"]] == ["loss"]
    assert not next(row for row in rows if row.label == "gradients").open
    derived = {row.name for row in walk(rows) if row.name.startswith("gradients/")}
    assert derived == {step.op for step in space.program.steps if step.op.startswith("gradients/")}


def test_scopes_nest_and_problems_are_marked() -> None:
    ops = [
        Operation("block/in/x", "Placeholder", attrs={}),
        Operation("block/in/y", "Neg", (TensorRef("block/in/x"),)),
        Operation("block/z", "Neg", (None,)),
    ]
    graph = Graph.of(ops)
    document = Document(graph=graph)
    rows = outline_rows(document, infer(graph), None)
    network = next(row for row in rows if row.label == "network")
    (block,) = network.children
    assert (block.label, block.detail) == ("block", "2")
    assert [child.label for child in block.children] == ["in", "z"]
    problems = {row.name: row.problem for row in walk(rows) if row.problem}
    assert "'dtype' is missing" in problems["block/in/x"]
    assert "block/z" not in problems, "it is not finished, and nothing is wrong with it"


def test_the_filter_needs_every_word(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.open("tutorial")
    panel = show(OutlinePanel(bench.space), 220)
    qtbot.keyClick(panel.tree, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert panel.filter.hasFocus()
    qtbot.keyClicks(panel.filter, "add d")
    names = {row.name for row in walk(panel.tree.rows.shown) if row.name}
    qtbot.waitUntil(lambda: "d" in shown(panel) and "a" not in shown(panel))
    assert "labels" not in shown(panel), names


def shown(panel: OutlinePanel) -> set[str]:
    return {row.name for row in walk(panel.tree.rows.shown)}


def test_selection_goes_both_ways(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    bench.open("tutorial")
    panel = show(OutlinePanel(bench.space), 220)
    click(qtbot, panel, "d")
    assert bench.space.selection == ("d",)
    click(qtbot, panel, "e", Qt.KeyboardModifier.ControlModifier)
    assert set(bench.space.selection) == {"d", "e"}
    bench.space.select(["a"])
    assert panel.tree.selected_names() == ["a"]
    qtbot.keyClick(panel.tree, Qt.Key.Key_Return)
    assert bench.views[-1] == ("reveal", "a")


@pytest.mark.parametrize("name", ["conv1/relu", "loss"])
def test_what_is_selected_may_be_gone_from_the_next_document(
    bench: Any, show: Callable[..., Any], name: str
) -> None:
    bench.open("cnn_digits")
    panel = show(OutlinePanel(bench.space), 220)
    bench.space.select([name])
    bench.open("gather")
    assert panel.tree.selected_names() == []
    names = {row.name for row in walk(panel.tree.rows.shown)}
    assert names >= {*bench.space.document.graph.operations}


def test_without_a_document_it_says_what_will_be_here(bench: Any, show: Callable[..., Any]) -> None:
    panel = show(OutlinePanel(bench.space), 220)
    assert "appear here" in panel.empty_text


def test_a_stop_makes_no_row_of_the_graph_anew(
    bench: Any, show: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.open("tutorial")
    panel = show(OutlinePanel(bench.space), 220)
    asked: list[int] = []
    rows = Outline.rows

    def counting(*args: Any) -> list[Row]:
        asked.append(1)
        return rows(*args)

    monkeypatch.setattr(Outline, "rows", counting)
    before = [row.children for row in panel.tree.rows.shown]
    commands.toggle_stop(bench.space, Edge("a", 1))
    panel.rebuild()  # as its timer does
    assert not asked, "the engine has not derived the gradients anew"
    bench.space.debugger.flush()
    panel.rebuild()
    panel.rebuild()
    assert len(asked) == 1
    drawn = range(4)  # inputs, variables, network, loss
    assert all(panel.tree.rows.shown[i].children is before[i] for i in drawn)


def test_of_a_large_graph_only_rows_that_are_seen_are_made(
    bench: Any, show: Callable[..., Any]
) -> None:
    bench.open("tutorial")
    many = Graph.of(Operation(f"layer{i // 50}/op{i}", "NoOp") for i in range(3_000))
    panel = show(OutlinePanel(bench.space), 220)
    made: list[str] = []
    describe = panel._outline._describe
    panel._outline._describe = lambda name: (made.append(name), describe(name))[1]
    bench.space.open_document(Document(graph=many))
    panel.grab()
    assert not made, "all are in scopes that are folded"
    bench.space.select(["layer3/op170"])
    panel.grab()
    assert "layer3/op170" in made
    assert {name.partition("/")[0] for name in made} == {"layer3"}
    renamed = document_edits.rename_operation(bench.space.document, "layer9/op460", "layer9/other")
    made.clear()
    bench.space.edit("Rename", renamed)
    panel.rebuild()
    panel.grab()
    assert {name.partition("/")[0] for name in made} <= {"layer3"}
    assert panel.tree.selected_names() == ["layer3/op170"]


def test_of_a_large_document_the_canvas_is_seen_before_the_rows(
    bench: Any, show: Callable[..., Any], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.open("tutorial")
    panel = show(OutlinePanel(bench.space), 220)
    assert len(panel.tree.rows.shown)
    monkeypatch.setattr(outline_panel, "MANY", 99)
    many = Graph.of(Operation(f"layer{i // 50}/op{i}", "NoOp") for i in range(200))
    bench.space.open_document(Document(graph=many))
    assert not panel.tree.rows.shown, "no rows of the one before"
    qtbot.waitUntil(lambda: bool(panel.tree.rows.shown))
    assert [row.detail for row in panel.tree.rows.shown] == ["200"]
    bench.open("tutorial")
    assert [row.label for row in panel.tree.rows.shown][:2] == ["inputs", "variables"], "at once"


def test_of_a_large_document_that_was_opened_behind_other_docks_the_rows_follow(
    bench: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.open("tutorial")
    holder = QWidget()
    qtbot.addWidget(holder)
    panel = OutlinePanel(bench.space)
    panel.setParent(holder)
    holder.show()
    panel.show()
    monkeypatch.setattr(outline_panel, "MANY", 99)
    panel.cover(True)
    many = Graph.of(Operation(f"layer{i // 50}/op{i}", "NoOp") for i in range(200))
    looks = lambda: panel.cover(False)  # noqa: E731
    bench.space.document_changed.connect(looks)  # before it hears that another one was opened
    bench.space.open_document(Document(graph=many))
    bench.space.document_changed.disconnect(looks)
    assert panel.is_seen
    assert not panel.tree.rows.shown, "no rows of the one before"
    qtbot.waitUntil(lambda: bool(panel.tree.rows.shown))
    panel.cover(True)
    commands.rename(bench.space, "layer0/op0", "layer0/other")
    panel.cover(False)
    bench.space.select(["layer0/other"])
    assert panel.tree.selected_names() == ["layer0/other"], "an edit is shown at once"


def test_an_operation_of_another_type_has_another_role() -> None:
    outline = Outline()
    for kind, role in (("Const", "network"), ("VariableV2", "variables"), ("Const", "network")):
        graph = Graph.of([Operation("a", kind), Operation("b", "NoOp")])
        rows = outline.rows(Document(graph=graph), infer(graph), None)
        assert "a" in [child.label for row in rows if row.label == role for child in row.children]


@given(
    steps=st.lists(
        st.tuples(
            st.lists(st.sampled_from(NAMES), unique=True, max_size=9),
            st.sets(st.sampled_from(NAMES), max_size=3),
        ),
        min_size=2,
    )
)
@pytest.mark.slow
def test_rows_that_are_revised_are_those_made_anew(
    qapp: object, steps: list[tuple[list[str], set[str]]]
) -> None:
    outline, model = Outline(), RowTreeModel()
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    for names, variables in steps:
        kinds = {name: "Const" if len(name) % 2 else "Placeholder" for name in names}
        kinds.update((name, "VariableV2") for name in variables.intersection(names))
        graph = Graph.of(Operation(name, kind) for name, kind in kinds.items())
        args = Document(graph=graph), infer(graph), None
        model.set_rows(outline.rows(*args))
        fresh = RowTreeModel()
        fresh.set_rows(outline_rows(*args))
        assert unfolded(model) == unfolded(fresh)
        for first, last in model.ranges({*names[::2]}):
            assert first.row() <= last.row()
        chosen = {
            model.index(row, 0, first.parent()).data(RowRole).name
            for first, last in model.ranges({*names[::2]})
            for row in range(first.row(), last.row() + 1)
        }
        assert chosen == {*names[::2]}
    del tester


def unfolded(model: RowTreeModel, parent: QModelIndex | None = None) -> list[Any]:
    """All rows below one, with what they say."""
    parent = parent or QModelIndex()
    found = []
    for number in range(model.rowCount(parent)):
        index = model.index(number, 0, parent)
        assert model.parent(index) == parent
        found.append((index.data(RowRole)[:-1], unfolded(model, index)))
    return found


@pytest.mark.parametrize(
    "names",
    [{"s/a": "z"}, {"a": "b", "b": "a"}, {"5": "7", "7": "5"}, {"u/s/a": "v", "a": "w"}],
)
def test_what_is_renamed_stands_where_it_stood(names: dict[str, str]) -> None:
    """As if the graph had been read anew."""
    types = {"a": "Const", "b": "VariableV2"}
    first = Graph.of(Operation(n, types.get(n, "Identity")) for n in (*NAMES, *map(str, range(99))))
    graph = continue_graph(
        Graph.of(Operation(names.get(op.name, op.name), op.type) for op in first), first
    )
    outline = Outline()
    for each in (first, graph, first):
        document = Document(graph=each)
        rows = outline.rows(document, infer(each), None)
        assert told([*rows]) == told([*outline_rows(document, infer(each), None)])


def test_an_undone_rename_is_followed_by_a_look_at_what_it_renamed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = Graph.of(Operation(f"op{i}", "Identity") for i in range(99))
    graph = continue_graph(
        Graph.of(Operation("z" if op.name == "op7" else op.name, op.type) for op in first), first
    )
    outline = Outline()
    outline.rows(Document(graph=first), infer(first), None)
    monkeypatch.setattr(outline_rows_module, "_by_role", None)
    for each in (graph, first, graph):
        rows = outline.rows(Document(graph=each), infer(each), None)
        assert [child.name for child in rows[0].children] == [*each.operations]
