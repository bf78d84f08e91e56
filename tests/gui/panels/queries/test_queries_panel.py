"""The queries panel: asked, answered, gone to; what is wrong is said, and what is long is ended."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gradstep.core.debug.breaks.ready_conditions import READY
from gradstep.core.protocol.messages import Control, FindMoments, MomentRow, Moments, Progress
from gradstep.gui import commands
from gradstep.gui.panels.queries.answer_model import step_words
from gradstep.gui.panels.queries.queries_panel import WHICH, QueriesPanel, about_tensor


@pytest.fixture
def panel(bench: Any, show: Any) -> QueriesPanel:
    panel: QueriesPanel = show(QueriesPanel(bench.space), 900, 220)
    bench.open("tutorial")
    for _ in range(4):
        bench.space.control("continue_")
    return panel


def ask(panel: QueriesPanel, text: str, which: str = "first") -> None:
    panel.which.setCurrentIndex([one for one, _ in WHICH].index(which))  # type: ignore[arg-type]
    panel.field.setFocus()
    panel.field.clear()
    QTest.keyClicks(panel.field, text)
    panel.field.popup.hide()
    QTest.keyClick(panel.field, Qt.Key.Key_Return)


def cells(panel: QueriesPanel, row: int) -> list[str]:
    return [panel.model.cell(row, column).text for column in range(7)]


def test_an_answer_has_run_step_node_and_number(panel: QueriesPanel) -> None:
    ask(panel, 'x["loss"] < 0.6635')
    assert cells(panel, 0) == ["2", "6", "", "loss", "loss", "", "0.663078"]
    assert panel.said.text() == "1 step in 2 runs"
    ask(panel, 'x["loss"] < 0.6635', "every")
    assert [cells(panel, row)[0] for row in range(panel.model.count())] == ["2", "3", "4"]


def test_a_click_goes_there_and_the_row_is_marked(bench: Any, panel: QueriesPanel) -> None:
    ask(panel, 'any(x["c"] < 0.0595)', "every")
    panel.table.setFocus()
    QTest.mouseClick(
        panel.table.viewport(),
        Qt.MouseButton.LeftButton,
        pos=panel.table.visualRect(panel.model.index(1, 3)).center(),
    )
    row, stop = panel.model.rows[1], bench.space.stop
    assert (stop.run, stop.step) == (row.run, row.step)
    assert bench.space.selection == (row.node,) or row.node in str(bench.views)
    assert panel.model.cell(1, 0).fill == "current_row"
    assert panel.model.cell(0, 0).fill == ""


def test_next_and_before_are_of_where_it_stands(bench: Any, panel: QueriesPanel) -> None:
    bench.space.control("run_to", "1:10")
    ask(panel, 'x["loss"] > 0', "next")
    assert panel.model.rows[0].run == 2
    ask(panel, 'x["loss"] > 0', "previous")
    assert (panel.model.rows[0].run, panel.model.rows[0].step) == (1, 6)


def test_what_is_wrong_is_said_and_stays_in_the_field(panel: QueriesPanel) -> None:
    ask(panel, 'x["nosuch"] > 1')
    assert "nosuch" in panel.said.text()
    assert panel.field.text() == 'x["nosuch"] > 1'
    ask(panel, "isnan(value)")
    assert panel.said.text() == "nowhere in 4 runs"
    assert panel.hint.isVisible()


def test_an_edit_forgets_what_was_found(bench: Any, panel: QueriesPanel) -> None:
    ask(panel, 'x["loss"] > 0')
    commands.set_feed(bench.space, "data:0", np.array([3, 4], np.float32))
    bench.space.debugger.flush()
    assert panel.model.count() == 0
    assert panel.said.text() == ""
    assert panel.field.text() == 'x["loss"] > 0'


def test_ready_questions_are_of_what_is_selected(bench: Any, panel: QueriesPanel) -> None:
    bench.space.select(["c"])
    panel.ready.menu().aboutToShow.emit()
    texts = [row.text() for row in panel.ready.menu().actions()]
    assert texts[:2] == ["Who wrote c last", "Of c"]
    assert texts[-len(READY) :] == [ready.title for ready in READY]
    panel.ready.menu().actions()[0].trigger()
    assert panel.field.text() == 'written(x["c"])'
    assert panel.which.currentData() == "last"
    assert panel.model.rows[0].node == "train/update_c/ApplyAdam"
    assert panel.model.rows[0].run == 3


def test_conditions_about_one_tensor() -> None:
    assert about_tensor("norm(grad) > 10 * value", "a/b") == 'norm(grad["a/b"]) > 10 * x["a/b"]'


def test_who_wrote_what_is_selected(bench: Any, panel: QueriesPanel) -> None:
    bench.space.control("run_to", "1:2")
    bench.space.select(["k"])
    commands.who_wrote_selected(bench.space)
    assert ("show", "queries") in bench.views
    assert [row.run for row in panel.model.rows] == [0]


def test_while_it_looks_it_can_be_ended(
    bench: Any, panel: QueriesPanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    send = bench.bridge.send

    def slowly(message: Any, buffers: Any = (), then: Any = lambda *_: None) -> None:
        if isinstance(message, FindMoments):
            asked.append(then)
        else:
            send(message, buffers, then)

    monkeypatch.setattr(bench.bridge, "send", slowly)
    ask(panel, "isnan(value)")
    assert panel.go.text() == "Cancel"
    bench.bridge.event_received.emit(Progress(text="Looking", done=1, total=4))
    assert panel.query.share == 0.25
    QTest.mouseClick(panel.go, Qt.MouseButton.LeftButton)
    assert bench.bridge.controls()[-1] == Control(command="pause")
    ask(panel, 'x["loss"] > 0')  # asked anew, the first answer comes late
    late = Moments(rows=[MomentRow(position="9:9", run=9, step=9)], count=1, runs=1)
    asked[0](late, ())
    assert panel.go.text() == "Cancel"
    asked[1](late, ())
    assert panel.go.text() == "Ask"
    assert panel.model.count() == 1


@pytest.mark.parametrize("width", [320, 900])
def test_the_field_has_room_in_a_narrow_dock(qtbot: Any, panel: QueriesPanel, width: int) -> None:
    panel.resize(width, 220)
    qtbot.waitUntil(lambda: panel.field.width() > 120, timeout=30_000)
    assert panel.field.isVisible()
    assert panel.go.isVisible()


def test_steps_in_loops_are_behind_those_of_the_loop() -> None:
    assert step_words(MomentRow(position="0:14/2:11", run=0, step=14)) == "15 › 11"
    assert step_words(MomentRow(position="0:14/3:0", run=0, step=14)) == "15 › start"
