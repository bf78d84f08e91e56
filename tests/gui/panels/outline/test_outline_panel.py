"""The outline: roles, details, scopes, the filter, and selection both ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt

from gradstep.core.document.document import Document
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops.typing.inference import infer
from gradstep.gui import commands
from gradstep.gui.panels.outline import outline_panel
from gradstep.gui.panels.outline.outline_panel import OutlinePanel
from gradstep.gui.panels.outline.outline_rows import outline_rows
from gradstep.gui.panels.widgets.row_tree import Row, walk


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


def test_without_a_document_it_says_what_will_be_here(bench: Any, show: Callable[..., Any]) -> None:
    panel = show(OutlinePanel(bench.space), 220)
    assert "appear here" in panel.empty_text


def test_a_stop_makes_its_rows_once(
    bench: Any, show: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """When the engine has derived the gradients anew, and not before."""
    bench.open("tutorial")
    panel = show(OutlinePanel(bench.space), 220)
    made: list[int] = []

    def counting(*args: Any) -> list[Row]:
        made.append(1)
        return outline_rows(*args)

    monkeypatch.setattr(outline_panel, "outline_rows", counting)
    commands.toggle_stop(bench.space, Edge("a", 1))
    panel.rebuild()  # as its timer does
    assert not made
    bench.space.debugger.flush()
    panel.rebuild()
    panel.rebuild()
    assert len(made) == 1
