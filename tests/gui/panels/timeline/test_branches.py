"""Branches in the window: a value given in the table of elements, the tree, its menu, the bars."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QInputDialog, QMenu

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Edge
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol.branch_queries import StandInfo
from gradstep.core.protocol.messages import BranchInfo
from gradstep.gui import commands
from gradstep.gui.actions.action_record import one_value_here
from gradstep.gui.actions.action_table import BY_ID
from gradstep.gui.frame.status_bar import place_words
from gradstep.gui.look.branch_colors import branch_colors
from gradstep.gui.look.theme import DARK, LIGHT
from gradstep.gui.model.tried_document import tried
from gradstep.gui.panels.tensor.tensor_panel import TensorPanel
from gradstep.gui.panels.timeline.branch_tree import tip_of
from gradstep.gui.panels.timeline.timeline_panel import TimelinePanel
from tests.support.queueing import trained_queue


def _branches(bench: Any) -> list[tuple[str, str, str, bool]]:
    return [(b.name, b.parent, b.text, b.current) for b in bench.space.stop.branches]


def _type(qtbot: Any, grid: Any, text: str) -> None:
    """Give the current element another value."""
    qtbot.keyClick(grid, Qt.Key.Key_F2)
    editor = QApplication.focusWidget()
    assert editor is not None
    assert editor.objectName() == "tensor.element"
    editor.setText(text)
    qtbot.keyClick(editor, Qt.Key.Key_Return)


@pytest.fixture
def tensor(bench: Any, show: Callable[..., Any]) -> TensorPanel:
    """Of `d`, before its readers run."""
    panel = show(TensorPanel(bench.space), 900, 300)
    bench.open("tutorial")
    bench.run("run_to@0:4")
    bench.space.select(["d"])
    return panel  # type: ignore[no-any-return]


def test_an_element_is_given_in_its_cell(bench: Any, tensor: TensorPanel, qtbot: Any) -> None:
    grid = tensor.explorer.grid
    grid.setFocus()
    grid.go_to(1, 0)
    before = bench.space.value("d:0").head.tolist()
    _type(qtbot, grid, "2 * 3")
    assert "2 * 3" in tensor.explorer.said.text()  # it is no number
    assert bench.space.value("d:0").head.tolist() == before
    _type(qtbot, grid, "-0.5")
    assert bench.space.value("d:0").head.tolist() == [before[0], -0.5]
    assert _branches(bench)[1] == ("b1", "main", "d[1] = -0.5", True)
    grid.go_to(0, 0)
    _type(qtbot, grid, "4")
    assert bench.space.value("d:0").head.tolist() == [4.0, -0.5]
    assert _branches(bench)[1][2] == "d[1] = -0.5, d[0] = 4"  # of the branch that begins here
    bench.run("continue_")
    assert bench.space.value("a:0").head[0] == pytest.approx(4 * 0.11)
    place = grid._place(1, 0).center()
    qtbot.mouseDClick(grid.viewport(), Qt.MouseButton.LeftButton, pos=place)
    editor = QApplication.focusWidget()
    assert editor is not None
    assert editor.objectName() == "tensor.element"
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert grid.hasFocus()
    assert len(_branches(bench)) == 2


def test_the_difference_to_another_branch_is_shown(bench: Any, tensor: TensorPanel) -> None:
    before = bench.space.value("d:0").head
    bench.space.sessions.inject("d", before * 2)
    menu = tensor.explorer.minus.menu()
    menu.aboutToShow.emit()
    [main] = [a for a in menu.actions() if a.text() == "Branch main"]
    main.trigger()
    grid = tensor.explorer.grid
    grid.grab()
    shown = [float(grid.cell(row, 0).text.replace("\u2212", "-")) for row in range(2)]
    assert shown == pytest.approx(before.tolist(), rel=1e-4)
    assert tensor.explorer.minus.text() == "− branch main"
    assert _branches(bench)[1][3]


def test_a_value_is_given_in_an_iteration(bench: Any, show: Callable[..., Any], qtbot: Any) -> None:
    panel = show(TensorPanel(bench.space), 900, 300)
    bench.open("while_loop")
    space, [loop] = bench.space, bench.space.program.loops[:1]
    steps = [step.op for step in loop.steps]
    kept = next(name for name in steps if name.endswith("/Identity_1"))
    at = next(i for i, step in enumerate(space.program.steps) if step.op == loop.loop)
    place = f"0:{at}/1:{steps.index(kept) + 1}"
    bench.run(f"run_to@{place}")
    space.select([kept])
    qtbot.waitUntil(lambda: one_value_here(space))
    before = space.value(f"{kept}:0").array
    panel.explorer.grid.setFocus()
    panel.explorer.grid.go_to(0, 0)
    qtbot.waitUntil(lambda: panel.explorer.grid.cell(0, 0).text == "2")
    _type(qtbot, panel.explorer.grid, "7")
    assert _branches(bench)[1][2].endswith("= 7 in iteration 2")
    assert space.stop.inside[-1].iteration == 1
    qtbot.waitUntil(lambda: space.value(f"{kept}:0") is not None)
    assert space.value(f"{kept}:0").array.flat[0] == 7 != before.flat[0]


def _menu(panel: TimelinePanel, row: int) -> QMenu:
    tree = panel.branches
    at = QPoint(40, 6 + 22 * row + 11)
    reason = QContextMenuEvent.Reason.Mouse
    QApplication.sendEvent(tree, QContextMenuEvent(reason, at, tree.mapToGlobal(at)))
    return panel.findChildren(QMenu, "timeline.branch_menu")[-1]


def test_the_tree_goes_to_branches_renames_and_drops_them(
    bench: Any, show: Callable[..., Any], qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = show(TimelinePanel(bench.space), 900, 300)
    bench.open("tutorial")
    bench.run("continue_", "run_to@0:4")
    tree = panel.branches
    assert tree.isHidden()
    bench.space.sessions.inject("d", bench.space.value("d:0").array * 2)
    bench.run("step")
    bench.space.sessions.inject("e", bench.space.value("e:0").array * 2)
    assert tree.isVisible()
    assert [(b.name, depth) for b, depth in tree._rows] == [("main", 0), ("b1", 1), ("b2", 2)]
    assert "b2 · " in place_words(bench.space.stop, 35)
    qtbot.mouseClick(tree, Qt.MouseButton.LeftButton, pos=QPoint(40, 6 + 11))
    assert _branches(bench)[0][3]
    qtbot.keyClick(tree, Qt.Key.Key_Down)
    qtbot.keyClick(tree, Qt.Key.Key_Return)
    assert _branches(bench)[1][3]
    assert "leaves main at run 1, step 5, with d = " in tree.accessibleDescription()
    monkeypatch.setattr(QInputDialog, "getText", lambda *_, **__: ("<b>larger</b>", True))
    menu = _menu(panel, 1)
    [rename] = [a for a in menu.actions() if a.text() == "Rename…"]
    rename.trigger()
    menu.close()
    assert [row[:2] for row in _branches(bench)][1:] == [
        ("<b>larger</b>", "main"),
        ("b2", "<b>larger</b>"),
    ]
    menu = _menu(panel, 1)
    [drop] = [a for a in menu.actions() if a.text() == "Drop"]
    drop.trigger()
    menu.close()
    assert [row[:2] for row in _branches(bench)] == [("main", ""), ("b2", "main")]
    commands.drop_branch(bench.space, "b2")
    assert tree.isHidden()


def test_a_stop_is_tried_on_a_branch_and_taken(bench: Any, show: Callable[..., Any]) -> None:
    panel = show(TimelinePanel(bench.space), 900, 300)
    bench.open("tutorial")
    bench.run("continue_", "continue_", "run_to@1:10")
    space, action = bench.space, BY_ID["graph.try_stop"]
    before, native = space.document, space.program.gradients["c:0"]
    space.select([], Edge("a", 0))
    assert action.enabled(space)
    action.run(space)
    assert _branches(bench)[1] == ("b1", "main", "stop a<0", True)
    assert space.document is before
    edited = tried(space)
    assert edited.request.stopped_edges == {Edge("a", 0)}
    bench.run("step_back")
    assert tried(space) is edited, "it is not made again at each stop"
    bench.run("step")
    assert space.program.gradients["c:0"] != native
    assert ("a", 0) in [(end.op, end.index) for end in space.program.blocked]
    action.run(space)
    assert _branches(bench)[2] == ("b2", "b1", "no stop a<0", True)
    assert space.program.gradients["c:0"] == native
    commands.switch_branch(space, "b1")
    bench.run("restart")
    assert _branches(bench)[0][3]
    assert space.program.gradients["c:0"] == native
    menu = _menu(panel, 1)
    [take] = [a for a in menu.actions() if a.text() == "Make its edits in the document"]
    take.trigger()
    menu.close()
    space.debugger.flush()
    assert space.document.request.stopped_edges == {Edge("a", 0)}
    assert space.program.gradients["c:0"] != native
    space.undo_stack.undo()
    assert space.document.request == before.request


def test_the_first_branch_is_not_dropped(bench: Any, show: Callable[..., Any]) -> None:
    panel = show(TimelinePanel(bench.space), 900, 300)
    bench.open("tutorial")
    bench.space.sessions.inject("c", bench.space.value("c:0").array * 2)
    menu = _menu(panel, 0)
    assert {a.text(): a.isEnabled() for a in menu.actions()} == {
        "Go to it": True,
        "Compare with what is shown": True,
        "Rename…": True,
        "Keep branches in the document": True,
        "Drop": False,
    }
    menu.close()
    commands.drop_branch(bench.space, "main")
    assert "all others leave" in bench.messages[-1]


def test_branches_are_kept_in_the_document(bench: Any, show: Callable[..., Any]) -> None:
    panel = show(TimelinePanel(bench.space), 900, 300)
    bench.open("tutorial")
    bench.run("run_to@0:4")
    bench.space.sessions.inject("d", bench.space.value("d:0").array * 2)
    bench.run("run_to@0:6")
    loss = bench.space.value("loss:0").head.tolist()
    menu = _menu(panel, 1)
    [keep] = [a for a in menu.actions() if a.text() == "Keep branches in the document"]
    keep.trigger()
    menu.close()
    document = bench.space.document
    assert [branch.name for branch in document.branches] == ["main", "b1"]
    assert bench.space.undo_stack.canUndo()
    again = gradstep_file.from_bytes(gradstep_file.to_bytes(document))
    assert again.branches == document.branches
    bench.open("gather")
    bench.space.open_document(again, Path("again.gradstep"))
    bench.space.debugger.flush()
    assert [row[0] for row in _branches(bench)] == ["main", "b1"]
    assert bench.space.value("d:0").state == "waiting"
    commands.switch_branch(bench.space, "b1")
    assert (bench.space.stop.run, bench.space.stop.step) == (0, 6)
    assert bench.space.value("loss:0").head.tolist() == loss


def test_beside_threads_an_edit_is_tried_and_the_branch_kept(
    bench: Any, show: Callable[..., Any]
) -> None:
    """The bars mark where it leaves in the thread that is looked at, wherever it was forked."""
    space = bench.space
    panel = show(TimelinePanel(space), 900, 300)
    space.open_document(trained_queue(4, 2), None)
    space.debugger.flush()
    for _ in range(2):
        bench.run("continue_")
    before, there = space.value("r:0").head.tolist(), space.stop
    commands.edit_on_branch(space, "set", "r", "alpha", "0.5")
    space.debugger.flush()
    assert space.stop.branches[1].text == "r.alpha = 0.5"
    assert (space.stop.run, space.stop.first, space.stop.step) == (1, 1, there.step)
    after = space.value("r:0").head.tolist()
    assert after == [2 * each for each in before]
    stood = {each.name: (each.run, each.step) for each in there.threads}
    [_, branch] = space.stop.branches
    assert {each.thread: (each.run, each.step) for each in branch.left} == stood
    space.debugger.control("thread", "one")
    space.debugger.flush()
    assert panel.bars._thread == "one"
    assert branch.left_in("one") == stood["one"] != branch.left_in("")
    commands.keep_branches(space)
    space.debugger.flush()
    again = gradstep_file.from_bytes(gradstep_file.to_bytes(space.document))
    bench.open("gather")
    space.open_document(again, Path("again.gradstep"))
    space.debugger.flush()
    assert space.value("r:0").state == "waiting"
    commands.switch_branch(space, "b1")
    space.debugger.flush()
    assert next(each.name for each in space.stop.threads if each.current) == "one"
    space.debugger.control("thread", "main")
    space.debugger.flush()
    assert (space.stop.run, space.stop.step) == (1, there.step)
    assert space.value("r:0").head.tolist() == after


def test_a_branch_is_compared_with_what_is_shown(bench: Any, show: Callable[..., Any]) -> None:
    panel = show(TimelinePanel(bench.space), 900, 300)
    bench.open("tutorial")
    bench.run("continue_", "run_to@0:4")
    bench.space.sessions.inject("d", bench.space.value("d:0").array * 2)
    bench.run("continue_")
    menu = _menu(panel, 0)
    [hold] = [a for a in menu.actions() if a.text() == "Compare with what is shown"]
    hold.trigger()
    menu.close()
    [found] = bench.space.comparisons
    assert (found.left, found.right, found.first_divergence) == ("main · 0:35", "b1 · 0:35", "d")
    assert ("show", "device_diff") in bench.views
    assert bench.space.stop.branches[1].current


def test_other_random_numbers_are_drawn_on_a_branch(bench: Any) -> None:
    builder = GraphBuilder()
    shape = np.array([3], np.int32)
    drawing = builder.one("RandomUniform", shape, name="u", seed=1, seed2=2, dtype=DType.FLOAT32)
    document = Document(graph=builder.build(), fetches=(drawing.ref,))
    bench.space.open_document(document, Path("random.gradstep"))
    bench.space.debugger.flush()
    bench.run("continue_")
    before = bench.space.value("u:0").head.tolist()
    bench.run("run_to@0:0")
    commands.reseed(bench.space)
    assert _branches(bench)[1] == ("b1", "main", "seed = 1", True)
    bench.run("continue_")
    assert not {*bench.space.value("u:0").head.tolist()} & {*before}
    bench.open("tutorial")
    commands.reseed(bench.space)
    assert "draws random numbers" in bench.messages[-1]


def test_the_bars_mark_where_a_branch_leaves(bench: Any, show: Callable[..., Any]) -> None:
    panel = show(TimelinePanel(bench.space), 900, 300)
    bench.open("tutorial")
    bench.run("continue_", "run_to@0:4")
    bench.space.sessions.inject("d", bench.space.value("d:0").array * 2)
    picture = panel.bars.grab().toImage()
    color = branch_colors(bench.space.theme, bench.space.stop.branches)["b1"]
    x = QPointF(panel.bars.x_of(4) + 30, 8 + 14 + 2)
    assert picture.pixelColor(x.toPoint()).name() == color.name()


def test_no_bar_is_drawn_of_a_run_that_cannot_be_gone_to(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    panel = show(TimelinePanel(bench.space), 900, 300)
    bench.open("tutorial")
    bench.run("continue_", "continue_", "continue_", "continue_")
    assert panel.bars._shown == range(1, 4)
    commands.edit_on_branch(bench.space, "stop", "a<0")
    bench.space.debugger.flush()
    assert bench.space.stop.first == 3
    assert panel.bars._shown == range(3, 4)
    panel.bars._scroll_to(0)
    assert panel.bars._shown == range(3, 4)
    bench.run("continue_")
    assert panel.bars._shown == range(3, 5)
    assert panel.bars.place_at(QPoint(70, 12))[0] == 3
    commands.switch_branch(bench.space, "main")
    bench.space.debugger.flush()
    panel.bars._scroll_to(0)
    assert panel.bars._shown == range(3)


def test_branches_are_told_apart_in_both_themes() -> None:
    branches = [
        BranchInfo(name="main"),
        *(BranchInfo(name=f"b{i}", parent="main") for i in "12345"),
    ]
    for theme in (DARK, LIGHT):
        found = branch_colors(theme, branches)
        assert len({color.name() for color in found.values()}) == len(branches)
        for color in found.values():
            assert abs(color.lightness() - theme.panel.lightness()) > 40


def test_a_tip_says_where_it_leaves_and_stands() -> None:
    branch = BranchInfo(name="b", parent="main", run=1, step=2, text="c = 3", at_run=2, at_step=0)
    assert tip_of(branch) == "leaves main at run 2, step 3, with c = 3; stands at run 3, step 1"


def test_beside_threads_a_tip_says_where_all_of_them_stood() -> None:
    left = [StandInfo("one", 1, 2), StandInfo("main", 0, 4)]
    stands = [StandInfo("main", 2, 0), StandInfo("one", 1, 8)]
    places = {"run": 1, "step": 2, "at_run": 2, "at_step": 0, "left": left, "stands": stands}
    branch = BranchInfo(name="b", parent="main", text="c = 3 in one", **places)
    assert tip_of(branch) == (
        "leaves main in one at run 2, step 3 (main at run 1, step 5), with c = 3 in one; "
        "stands in main at run 3, step 1 (one at run 2, step 9)"
    )
    assert [branch.left_in(name) for name in ("one", "main", "")] == [(1, 2), (0, 4), (1, 2)]
