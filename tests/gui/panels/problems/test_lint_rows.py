"""What lints find, in the problems panel: mended, exempt, switched off, and shown by an example."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu

from gradstep.core.protocol.messages import Diagnose
from gradstep.gui import commands
from gradstep.gui.dialogs.lints_dialog import LintsDialog
from gradstep.gui.model.problem_rows import count_problems
from gradstep.gui.model.settings import settings
from gradstep.gui.panels.problems.problems_panel import ProblemsPanel


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any], qtbot: Any) -> Callable[[str], ProblemsPanel]:
    """The panel with what the lints find in an example, once it is found."""

    def opened(example: str) -> ProblemsPanel:
        bench.open(example)
        shown: ProblemsPanel = show(ProblemsPanel(bench.space))
        qtbot.waitUntil(lambda: bool(bench.space.lints.found), timeout=20_000)
        return shown

    return opened


def codes(panel: ProblemsPanel) -> list[str]:
    return [row.finding.code for row in panel.model.rows if row.finding is not None]


def texts(panel: ProblemsPanel, row: int = 0) -> list[str]:
    return [link.text for link in panel.links(panel.model.index(row))]


def click(panel: ProblemsPanel, text: str, qtbot: Any, row: int = 0) -> None:
    (link,) = [link for link in panel.links(panel.model.index(row)) if link.text == text]
    assert panel.list.visualRect(panel.model.index(row)).contains(link.place)
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=link.place.center())


def choose(panel: ProblemsPanel, text: str, qtbot: Any) -> None:
    """In the menu that Ignore… opens."""
    click(panel, "Ignore…", qtbot)
    menu = panel.findChild(QMenu, "problems.finding_menu")
    (row,) = [action for action in menu.actions() if action.text().startswith(text)]
    row.trigger()
    menu.close()


@pytest.mark.slow
def test_findings_are_listed_and_counted_and_lead_to_their_nodes(
    bench: Any, panel: Callable[[str], ProblemsPanel], qtbot: Any
) -> None:
    shown = panel("softmax_by_hand")
    assert codes(shown) == ["softmax-twice", "log-by-hand"]
    assert count_problems(bench.space) == 2
    place = shown.list.visualRect(shown.model.index(0)).topLeft() + QPoint(60, 14)
    qtbot.mouseClick(shown.list.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert bench.space.selection == ("twice/each",)


def test_rows_are_as_wide_as_the_list_however_many_there_are(
    panel: Callable[[str], ProblemsPanel], qtbot: Any
) -> None:
    shown = panel("softmax_by_hand")
    shown.window().resize(320, 240)
    qtbot.waitUntil(lambda: shown.list.verticalScrollBar().maximum() > 0)
    qtbot.wait(1)
    assert shown.list.horizontalScrollBar().maximum() == 0
    row = shown.list.visualRect(shown.model.index(0))
    assert row.width() == shown.list.viewport().width()


def test_nothing_is_asked_while_nobody_reads_it(bench: Any, qtbot: Any) -> None:
    bench.open("softmax_by_hand")
    panel = ProblemsPanel(bench.space)
    qtbot.addWidget(panel)
    assert bench.space.lints.is_idle
    assert not [m for m in bench.bridge.asked if isinstance(m, Diagnose)]


@pytest.mark.slow
def test_what_no_lint_reads_asks_for_nothing(
    bench: Any, panel: Callable[[str], ProblemsPanel]
) -> None:
    """Where a node stands, what is watched, and where to stop."""
    panel("softmax_by_hand")
    space = bench.space
    name = next(iter(space.document.graph)).name
    commands.move_nodes(space, {name: (400.0, 400.0)})
    commands.add_watch(space, name)
    commands.toggle_breakpoint(space, name)
    assert space.lints.is_idle
    commands.set_attr(space, name, "_note", "seen")
    space.debugger.flush()
    assert not space.lints.is_idle


@pytest.mark.slow
def test_the_edit_that_mends_it_is_made_and_can_be_undone(
    bench: Any, panel: Callable[[str], ProblemsPanel], qtbot: Any
) -> None:
    shown = panel("batch_norm_updates")
    words = ["Let every run execute it", "Try it first", "Ignore…"]  # this is the example
    assert texts(shown) == words
    click(shown, "Let every run execute it", qtbot)
    assert "forgotten/bn/AssignMovingAvg" in bench.space.document.targets
    qtbot.waitUntil(lambda: codes(shown) == [], timeout=20_000)
    bench.space.undo_stack.undo()
    qtbot.waitUntil(lambda: codes(shown) == ["forgotten-average"], timeout=20_000)


def test_the_edit_is_tried_before_it_is_made(
    bench: Any, panel: Callable[[str], ProblemsPanel], qtbot: Any
) -> None:
    bench_asked: list[str] = []
    shown = panel("softmax_by_hand")
    bench.space.view_requested.connect(lambda what, _: bench_asked.append(what))
    before = bench.space.document
    click(shown, "Try it first", qtbot)
    assert bench_asked == ["repairs"]
    qtbot.waitUntil(lambda: None not in bench.space.repairs.found, timeout=20_000)
    [tried] = bench.space.repairs.found  # of the loss that has to do with it
    assert "In run 1, twice/loss is" in tried.text
    assert "it is another gradient" in tried.text
    assert bench.space.document is before
    commands.take_repair(bench.space, bench.space.repairs.remedies[0])
    assert bench.space.document is not before
    bench.space.undo_stack.undo()
    assert bench.space.document.graph == before.graph


def test_what_may_mend_a_nan_is_tried_from_its_row(
    bench: Any, panel: Callable[[str], ProblemsPanel], qtbot: Any
) -> None:
    shown = panel("softmax_by_hand")
    bench.run("continue_")
    words = "Try what mends it…"

    def at() -> list[int]:
        rows = range(shown.model.rowCount())
        links = {row: shown.links(shown.model.index(row)) for row in rows}
        return [row for row, found in links.items() if words in [link.text for link in found]]

    qtbot.waitUntil(lambda: bool(at()), timeout=20_000)
    click(shown, words, qtbot, at()[0])
    qtbot.waitUntil(lambda: bool(bench.space.repairs.found), timeout=20_000)
    qtbot.waitUntil(lambda: None not in bench.space.repairs.found, timeout=20_000)
    assert bench.space.repairs.remedies[0].kind == "log_softmax"


@pytest.mark.slow
def test_links_that_have_no_room_stand_below_each_other(
    panel: Callable[[str], ProblemsPanel],
) -> None:
    shown = panel("center_loss")
    wide = [link.place.y() for link in shown.links(shown.model.index(0))]
    shown.resize(220, 640)
    narrow = [link.place.y() for link in shown.links(shown.model.index(0))]
    assert len({*narrow}) > len({*wide})


@pytest.mark.slow
def test_a_node_is_exempt_in_the_document(
    bench: Any, panel: Callable[[str], ProblemsPanel], qtbot: Any
) -> None:
    shown = panel("softmax_by_hand")
    choose(shown, "Not at twice/each", qtbot)
    qtbot.waitUntil(lambda: codes(shown) == ["log-by-hand"], timeout=20_000)
    bench.space.undo_stack.undo()
    qtbot.waitUntil(lambda: len(codes(shown)) == 2, timeout=20_000)


@pytest.mark.slow
def test_a_lint_is_switched_off_for_good_and_on_again_in_the_dialog(
    bench: Any, panel: Callable[[str], ProblemsPanel], qtbot: Any
) -> None:
    shown = panel("softmax_by_hand")
    choose(shown, "Never: Softmax of a softmax", qtbot)
    assert settings().lints_off == ["softmax-twice"]
    qtbot.waitUntil(lambda: codes(shown) == ["log-by-hand"], timeout=20_000)
    dialog = LintsDialog(bench.space)
    boxes = dialog.boxes
    assert [code for code, box in boxes.items() if not box.isChecked()] == ["softmax-twice"]
    boxes["softmax-twice"].setChecked(True)
    boxes["log-by-hand"].setChecked(False)
    dialog.finish()
    qtbot.waitUntil(lambda: codes(shown) == ["softmax-twice"], timeout=20_000)
    commands.leave_out_lints(bench.space)


@pytest.mark.slow
def test_the_menu_key_opens_the_menu_of_the_current_row(
    panel: Callable[[str], ProblemsPanel], qtbot: Any
) -> None:
    shown = panel("softmax_by_hand")
    shown.list.setCurrentIndex(shown.model.index(1))
    key = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(5, 5), QPoint(9, 9))
    QApplication.sendEvent(shown.list, key)
    menu = shown.findChild(QMenu, "problems.finding_menu")
    assert "Never: Logarithm of a softmax" in [action.text() for action in menu.actions()]
    menu.close()


@pytest.mark.slow
def test_an_example_is_asked_for_beside_this_window(
    bench: Any, panel: Callable[[str], ProblemsPanel], qtbot: Any
) -> None:
    click(panel("center_loss"), "Show an example", qtbot)
    assert bench.views[-1] == ("example", "control_dependencies")


@pytest.mark.slow
def test_runs_are_looked_at_once_they_are_made(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("adam_freezing")
    shown = show(ProblemsPanel(bench.space))
    bench.run("continue_", "continue_", "continue_")
    qtbot.waitUntil(lambda: "moved-by-memory" in codes(shown), timeout=20_000)
    assert {row.severity for row in shown.model.rows} == {"info"}
    assert count_problems(bench.space) == 0


@pytest.mark.slow
def test_another_document_has_none_of_the_first_ones(
    bench: Any, panel: Callable[[str], ProblemsPanel]
) -> None:
    shown = panel("softmax_by_hand")
    bench.open("tutorial")
    assert codes(shown) == []
