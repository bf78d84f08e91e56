"""The card beside a clicked point: comes with the click, names the row, goes with the step."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton

from gradstep.core.document.dataset import Dataset
from gradstep.core.protocol import messages as m
from gradstep.gui import commands
from gradstep.gui.model import clicked_step
from gradstep.gui.panels.data.data_panel import DataPanel
from gradstep.gui.panels.training.row_verdict import number, percent, verdict
from gradstep.gui.panels.training.training_panel import TrainingPanel
from tests.core.host.test_step_answers import BATCH, OUTLIER, ROWS, X, Y, document
from tests.gui.panels.training.test_training_panel import click

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setattr(clicked_step, "SOON", 1e6)  # all rows, on a slow machine as well
    bench.space.open_document(document(), None)
    bench.space.debugger.flush()
    bench.space.training.by_epochs, bench.space.training.steps = False, 20
    panel = show(TrainingPanel(bench.space), 1270, 420)
    commands.train(bench.space)
    return panel


def press(panel: Any, qtbot: Any, name: str) -> None:
    link = panel.findChild(QAbstractButton, name)
    qtbot.mouseClick(link, LEFT)


def go(bench: Any, run: int) -> None:
    commands.go_to_trained_step(bench.space, run)


def test_a_click_on_a_curve_brings_the_card_of_that_step(
    bench: Any, panel: Any, qtbot: Any
) -> None:
    assert not panel.beside.isVisible()
    qtbot.wait(1)
    click(panel, 14)
    qtbot.waitUntil(panel.beside.isVisible)
    run = bench.space.stop.run
    assert abs(run - 14) <= 1, "as far as pixels tell them apart"
    assert panel.card.title.text() == f"Step {run + 1}"
    assert panel.card.batch.text().startswith(f"Batch {run % 4 + 1} of epoch {run // 4 + 1}, rows ")
    loss = dict(panel.card.numbers.lines)["loss"]
    exact = float(bench.space.value("loss:0").head.item())
    assert loss.endswith(f" → {number(exact)}")
    assert "medians of the 8 steps before" in panel.card.against.text()
    assert panel.card.layer.lines[0][0] == "w"


@pytest.mark.slow
def test_the_row_that_is_far_off_is_named_seen_and_left_out(
    bench: Any, panel: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    go(bench, 14)
    found = bench.space.clicked.weighed
    card = panel.card.card
    assert card.title.text() == f"Row {OUTLIER}: {percent(found.rows[0].share)} of the gradient"
    assert card.body.text().startswith("With x ")
    assert f", its loss is {number(found.rows[0].loss)}" in card.body.text()
    press(panel, qtbot, "training.step.leave_out")
    left = bench.space.clicked.left
    lines = panel.card.without.lines
    assert lines[0][0] == f"Without row {OUTLIER}"
    assert lines[1] == ("loss", f"{number(left.real.loss)} → {number(left.without.loss)}")
    assert left.without.loss < left.real.loss / 5
    assert bench.space.stop.run == 14
    press(panel, qtbot, "training.step.see")
    assert bench.views[-1] == ("show", "data")
    data = show(DataPanel(bench.space), 900, 300)
    (chosen,) = data.table.selectionModel().selectedRows()
    assert data.rows.cell(chosen.row(), 0).text == str(OUTLIER)
    go(bench, 13)
    assert not data.table.selectionModel().selectedRows()


@pytest.mark.slow
def test_it_goes_with_the_step_and_when_it_is_closed(bench: Any, panel: Any, qtbot: Any) -> None:
    go(bench, 5)
    assert panel.beside.isVisible()
    bench.run("step_back")
    assert panel.beside.isVisible(), "amid the same step"
    bench.run("run_to@2:0")
    assert not panel.beside.isVisible()
    go(bench, 5)
    press(panel, qtbot, "training.step.close")
    assert not panel.beside.isVisible()
    go(bench, 5)
    bench.open("tutorial")
    assert not panel.beside.isVisible()


def test_rows_are_only_told_of_where_there_is_data(bench: Any, panel: Any) -> None:
    bench.open("softmax_digits")
    commands.train(bench.space)
    go(bench, 3)
    assert panel.beside.isVisible()
    assert not panel.card.card.isVisible()
    assert not any(isinstance(asked, m.WeighRows) for asked in bench.bridge.asked[-2:])
    assert panel.card.layer.lines == [("No layer moved more than before", "")]


def test_few_rows_are_looked_at_unasked_and_all_when_asked(
    bench: Any, panel: Any, qtbot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clicked_step, "SOON", 0.0)
    go(bench, 14)
    assert panel.card.card.hint.text() == f"1 of {BATCH} rows were looked at."
    press(panel, qtbot, "training.step.all")
    assert panel.card.card.hint.text() == ""
    assert bench.space.clicked.weighed.rows[0].row == OUTLIER


def test_what_cannot_be_told_is_said(bench: Any, panel: Any) -> None:
    bench.space.open_document(document(rows=BATCH), None)
    bench.space.debugger.flush()
    commands.train(bench.space)
    go(bench, 3)
    assert not panel.card.card.isVisible()
    assert "(6, 3)" in panel.card.wrong.text()
    assert panel.card.numbers.lines


def weighed(*shares: float | None, size: int = 0, **also: Any) -> m.RowsWeighed:
    rows = [
        m.RowWeight(row=n, place=n, loss=1.0, norm=2.0, share=share, cells=["0 1", "3 4 …"])
        for n, share in enumerate(shares)
    ]
    columns = ["y:0", "x:0"]
    return m.RowsWeighed(run=1, size=size or len(rows), rows=rows, columns=columns, **also)


def test_nothing_is_claimed_that_was_not_measured() -> None:
    said = verdict(weighed(0.81, *[0.01] * 19, others=0.19, adds_up=True))
    assert said.title == "Row 0: 81 % of the gradient"
    assert said.text == "With y 0 1, its loss is 1, the others' 0.19 on average."
    assert verdict(weighed(1.2, -0.2, adds_up=True)).text.endswith("pull the other way.")
    even = verdict(weighed(0.3, 0.3, 0.2, 0.2, adds_up=True))
    assert (even.title, even.tone) == ("No row stands out", "selection")
    assert even.text == "No row makes more of it than row 0: 30 %; an even share is 25 %."
    most = verdict(weighed(0.6, 0.4, adds_up=True))
    assert most.text == "Row 0 makes most of this gradient, 60 %; an even share is 50 %."
    sixfold = verdict(weighed(0.2, *[0.8 / 31] * 31, others=0.19, adds_up=True))
    assert (sixfold.title, sixfold.tone) == ("Row 0: 20 % of the gradient", "problem")
    assert sixfold.text.endswith("on average. An even share is 3 %.")
    assert verdict(weighed(0.02, *[0.98 / 999] * 999)).title == "No row stands out"
    coupled = verdict(weighed(None, None, gap=0.4))
    assert coupled.row is None
    assert "they miss it by 40 % of its norm" in coupled.text
    assert "not finite" in verdict(weighed(None, None)).title
    assert verdict(weighed(None, None, gap=0.0)).title == "The gradient is 0"
    assert verdict(weighed(1.0)).title == "The batch is this one row"
    assert [percent(x) for x in (0.81, 0.0004, -0.2)] == ["81 %", "0.04 %", "-20 %"]
    assert [number(x) for x in (0.2014, 1e-5, None)] == ["0.201", "1e-5", "not finite"]


def test_an_infinite_row_is_named(bench: Any, panel: Any, qtbot: Any) -> None:
    bad = np.where(np.arange(ROWS)[:, None] == 10, 1e30, X)
    data = Dataset({"x:0": str(bad.tolist()), "y:0": str(Y.tolist())}, BATCH)
    bench.space.open_document(document().with_(data=data), None)
    bench.space.debugger.flush()
    commands.train(bench.space)
    assert bench.space.training.lost is not None
    assert panel.beside.isVisible(), "unasked, where the loss ended it"
    assert panel.card.card.title.text() == "Row 10 is not finite"
    asked = panel.findChild(QAbstractButton, "training.why")
    assert asked.isVisible()
    said: list[str] = []
    bench.space.message.connect(lambda level, text: said.append(text))
    qtbot.mouseClick(asked, LEFT)
    assert said[-1].startswith("loss is infinite: ")
    commands.train(bench.space)
    go(bench, 1)
    assert panel.card.card.title.text() == "Row 10 is not finite"
    assert dict(panel.card.numbers.lines)["loss"].endswith(" → not finite")
