"""The watches panel: typed, edited, deleted, and said anew wherever the debugger stops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit

from gradstep.core.protocol.messages import WatchRow
from gradstep.gui import commands
from gradstep.gui.panels.watches.watch_model import EXPRESSION, RUNS, VALUE, WatchModel
from gradstep.gui.panels.watches.watches_panel import WatchesPanel
from gradstep.gui.panels.widgets.table_cells import Cell


@pytest.fixture
def panel(bench: Any, show: Any) -> WatchesPanel:
    panel: WatchesPanel = show(WatchesPanel(bench.space))
    bench.open("tutorial")
    return panel


def type_in(panel: WatchesPanel, text: str) -> None:
    panel.field.setFocus()
    QTest.keyClicks(panel.field, text)
    QTest.keyClick(panel.field, Qt.Key.Key_Return)


def here(panel: WatchesPanel) -> list[str]:
    return [panel.model.cell(row, VALUE).text for row in range(panel.model.count())]


def test_what_is_typed_is_watched_and_said_wherever_it_stops(
    bench: Any, panel: WatchesPanel
) -> None:
    type_in(panel, "loss")
    type_in(panel, 'norm(grad["c"])')
    assert bench.space.document.watches == ('x["loss:0"]', 'norm(grad["c"])')
    assert panel.field.text() == ""
    assert here(panel) == ["not computed yet"] * 2
    bench.space.control("continue_")
    assert here(panel) == ["0.663694", "1.14491"]
    bench.space.control("step_back")
    bench.space.control("reverse_continue")
    assert here(panel) == ["not computed yet"] * 2


def test_what_cannot_be_read_stays_in_the_field(bench: Any, panel: WatchesPanel) -> None:
    type_in(panel, "norm(")
    assert panel.field.text() == "norm("
    assert bench.space.document.watches == ()
    assert "cannot evaluate" in bench.messages[0]


def test_an_edit_is_not_hurried_for_it(bench: Any, panel: WatchesPanel) -> None:
    """The engine gets several that come together at once, and is asked once it has them."""
    commands.add_watch(bench.space, "d")
    bench.space.control("continue_")
    asked = len(bench.bridge.asked)
    commands.set_feed(bench.space, "data:0", np.array([3, 4], np.float32))
    assert len(bench.bridge.asked) == asked
    bench.space.debugger.flush()
    bench.space.control("continue_")
    assert here(panel)[0].startswith("[3.059")


def test_it_shows_the_runs_before(bench: Any, panel: WatchesPanel) -> None:
    commands.add_watch(bench.space, "loss")
    for _ in range(3):
        bench.space.control("continue_")
        cell = panel.model.cell(0, RUNS)
    assert len(cell.numbers) == 3
    assert cell.numbers[0] > cell.numbers[-1]  # type: ignore[operator]
    assert "last 2 runs" in cell.tip


def test_a_row_is_edited_undone_and_deleted(bench: Any, panel: WatchesPanel, qtbot: Any) -> None:
    commands.add_watch(bench.space, "loss")
    panel.table.edit(panel.model.index(0, EXPRESSION))
    editor = panel.table.viewport().findChild(QLineEdit)
    assert editor is not None
    editor.setText('x["a"]')
    QTest.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: bench.space.document.watches == ('x["a"]',))
    bench.space.undo_stack.undo()
    assert bench.space.document.watches == ('x["loss:0"]',)
    panel.table.selectRow(0)
    panel.table.setFocus()
    QTest.keyClick(panel.table, Qt.Key.Key_Delete)
    assert bench.space.document.watches == ()
    assert panel.nothing.isVisible()


def test_the_selection_is_offered_and_a_row_shows_its_tensor(
    bench: Any, panel: WatchesPanel
) -> None:
    bench.space.select(["d"])
    offered = [action.text() for action in panel.add.menu().actions()]
    assert offered == ['x["d:0"]', 'grad["d:0"]', 'norm(grad["d:0"])']
    panel.add.menu().actions()[2].trigger()
    commands.watch_selected(bench.space)
    assert bench.space.document.watches == ('norm(grad["d:0"])', 'x["d:0"]')
    bench.space.select([])
    panel.table.chosen.emit(0)
    assert [*bench.space.selection] == ["d"]


def test_a_name_is_completed_from_any_part_of_it(bench: Any, panel: WatchesPanel) -> None:
    QTest.keyClicks(panel.field, "os")
    completer = panel.field.completer()
    assert completer is not None
    completer.setCompletionPrefix("os")
    assert completer.currentCompletion() == "loss"


def test_names_that_came_since_are_offered(bench: Any, panel: WatchesPanel) -> None:
    QTest.keyClicks(panel.field, "x")
    commands.rename(bench.space, "loss", "xyz_loss")
    QTest.keyClicks(panel.field, "y")
    completer = panel.field.completer()
    assert completer is not None
    completer.setCompletionPrefix("xyz")
    assert completer.currentCompletion() == "xyz_loss"


@pytest.mark.parametrize(
    ("row", "cell"),
    [
        (WatchRow(text="t"), Cell("not computed yet", "muted")),
        (WatchRow(text="t", said="NaN", wrong=True), Cell("NaN", "problem", code=True)),
        (WatchRow(text="t", error="no", hint="do"), Cell("no", "problem", tip="no\ndo")),
    ],
)
def test_how_a_value_is_shown(row: WatchRow, cell: Cell) -> None:
    model = WatchModel(lambda place, text: None)
    model.show_texts(["t"])
    model.show_rows([row])
    assert model.cell(0, VALUE) == cell
