"""The classes panel by clicks and keys: the matrix, a cell's rows, a row in the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from gradstep.core.protocol import messages as m
from gradstep.gui import commands
from gradstep.gui.model.class_view import ClassView
from gradstep.gui.panels.classes.classes_panel import ClassesPanel
from gradstep.gui.panels.data.data_panel import DataPanel
from tests.support.held_questions import give_up, hold

LEFT = Qt.MouseButton.LeftButton
SLOW = 20_000  # milliseconds that a loaded machine may take


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any], qtbot: Any) -> Any:
    bench.open("digits_in_batches")
    bench.space.training.by_epochs, bench.space.training.steps = False, 30
    commands.train(bench.space)
    panel = show(ClassesPanel(bench.space), 330, 400)
    qtbot.waitUntil(lambda: panel.view.seen is not None, timeout=SLOW)
    return panel


def asked(bench: Any) -> list[m.Classify]:
    return [message for message in bench.bridge.asked if isinstance(message, m.Classify)]


def mistake(panel: Any) -> tuple[int, int]:
    """A cell off the diagonal that has rows."""
    counts = panel.matrix._counts
    return next((i, j) for i in range(10) for j in range(10) if i != j and counts[i, j])


@pytest.mark.slow
def test_it_says_how_many_are_right(panel: Any) -> None:
    seen = panel.view.seen
    share = f"{100 * seen.right / 359:.1f} % right"
    assert panel.said.text().startswith(f"{share} · {seen.right} of 359 rows · mean loss 0.")
    assert sum(seen.matrix) == 359
    assert len(panel.pictures._images) == 48
    assert panel.lists.currentWidget() is panel.area


def test_a_click_on_a_cell_lists_its_rows_and_escape_all(bench: Any, panel: Any) -> None:
    cell = mistake(panel)
    at = panel.matrix.cell_rect(*cell).center()
    QTest.mouseMove(panel.matrix, at + QPoint(1, 0))
    QTest.mouseMove(panel.matrix, at)
    assert panel.caption.text() == panel.matrix.words(cell)
    QTest.mouseClick(panel.matrix, LEFT, pos=at)
    count = int(panel.matrix._counts[cell])
    assert len(panel.pictures._images) == count
    assert {(r.actual, r.taken) for r in panel.view.seen.worst} == {cell}
    assert panel.every.isVisibleTo(panel)
    QTest.keyClick(panel.matrix, Qt.Key.Key_Escape)
    assert len(panel.pictures._images) == 48
    assert not panel.every.isVisibleTo(panel)
    assert [(a.actual, a.taken) for a in asked(bench)][-2:] == [cell, (-1, -1)]


def test_what_gave_way_to_a_step_is_asked_where_one_stands_then(
    bench: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.open("digits_in_batches")
    view, held = ClassView(bench.space, bench.space), hold(bench, monkeypatch, m.Classify)
    view.look()
    qtbot.waitUntil(lambda: bool(held))
    give_up(held)
    assert (len(held), len(asked(bench))) == (1, 2), "it is where it was"
    bench.run("continue_")
    give_up(held)
    assert not held, "that was of another run"
    bench.run("step_back")
    view.look()  # nobody has looked meanwhile
    qtbot.waitUntil(lambda: bool(held))
    assert view.error == ""
    monkeypatch.undo()
    give_up(held)
    assert view.seen is not None


@pytest.mark.slow
def test_keys_go_through_the_matrix(panel: Any) -> None:
    QTest.keyClick(panel.matrix, Qt.Key.Key_Down)
    assert panel.caption.text().endswith("of class 0 taken for 0")
    QTest.keyClick(panel.matrix, Qt.Key.Key_Down)
    QTest.keyClick(panel.matrix, Qt.Key.Key_Right)
    QTest.keyClick(panel.matrix, Qt.Key.Key_Return)
    assert panel.view.cell == (1, 1)
    QTest.keyClick(panel.matrix, Qt.Key.Key_Return)
    assert panel.view.cell is None


@pytest.mark.slow
def test_a_click_on_a_row_shows_it_in_the_data_until_the_debugger_moves(
    bench: Any, panel: Any, show: Callable[..., Any]
) -> None:
    row = panel.view.seen.worst[1].row
    QTest.mouseClick(panel.pictures, LEFT, pos=panel.pictures.card_rect(1).center())
    assert bench.views[-1] == ("show", "data")
    data = show(DataPanel(bench.space), 1270, 260)
    assert data.batch.text() == f"Row {row}, held back"
    assert (data.rows.count(), data.rows.cell(0, 0).text) == (1, f"{row:,}")
    assert data.back.isVisibleTo(data)
    bench.space.data.look()
    assert data.rows.count() == 1, "it stays while the debugger stands"
    data.back.click()
    assert (data.rows.count(), data.back.isVisibleTo(data)) == (32, False)
    bench.space.data.look_at_row(row)
    bench.run("run_to@0:0")
    assert data.batch.text().startswith("Run 1 is fed batch 1")


@pytest.mark.slow
def test_it_follows_the_debugger_and_the_choice_of_rows(bench: Any, panel: Any, qtbot: Any) -> None:
    before = panel.view.seen
    bench.run("run_to@0:0")
    qtbot.waitUntil(lambda: panel.view.seen is not before, timeout=SLOW)
    assert panel.view.seen.loss > before.loss
    panel.share.setCurrentIndex(1)
    panel.share.activated.emit(1)
    assert (panel.view.seen.share, panel.view.seen.counted) == ("trained", 1438)
    number = len(asked(bench))
    bench.run("into")
    panel.view.look()
    qtbot.wait(300)
    assert len(asked(bench)) == number, "a step within a run asks nothing"


@pytest.mark.slow
def test_rows_to_test_on_can_be_looked_at_where_there_are_such(
    bench: Any, panel: Any, qtbot: Any
) -> None:
    def offered() -> list[str]:
        return [panel.share.itemText(i) for i in range(panel.share.count())]

    assert offered() == ["rows held back", "rows trained on"]
    commands.change_data(bench.space, test=0.1, validate=0.0)
    bench.space.debugger.flush()
    qtbot.waitUntil(lambda: offered() == ["rows trained on", "rows to test on"], timeout=SLOW)
    panel.share.setCurrentIndex(1)
    panel.share.activated.emit(1)
    assert (panel.view.seen.share, panel.view.seen.total) == ("test", 179)
    commands.show_row(bench.space, panel.view.seen.worst[0].row, "")
    bench.space.debugger.flush()
    assert bench.space.data.batch.text.endswith(", held back to test")


@pytest.mark.slow
def test_what_cannot_be_told_is_said(bench: Any, panel: Any, qtbot: Any) -> None:
    bench.open("lstm")
    qtbot.waitUntil(lambda: bool(panel.view.error), timeout=SLOW)
    assert panel.empty_text.startswith("No cross-entropy behind loss tells outputs and labels. Let")
