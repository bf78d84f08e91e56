"""The precision panel: a format tried by a click, its sentences, its rows, and the way to nodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.protocol.messages import ExaminePrecision
from gradstep.gui import commands
from gradstep.gui.panels.precision.precision_panel import UPDATES, PrecisionPanel


@pytest.fixture
def panel(bench: Any, show: Callable[..., Any]) -> PrecisionPanel:
    bench.open("cnn_digits")
    made: PrecisionPanel = show(PrecisionPanel(bench.space), 900, 300)
    return made


def tried(panel: PrecisionPanel, qtbot: Any) -> None:
    qtbot.mouseClick(panel.examine, Qt.MouseButton.LeftButton)


def test_a_click_says_what_makes_the_error(panel: PrecisionPanel, bench: Any, qtbot: Any) -> None:
    assert not panel.model.count()
    assert "Try puts operation after operation" in panel.verdict.text()
    tried(panel, qtbot)
    assert panel.verdict.text().startswith("8 operations in bfloat16 move loss by ")
    assert panel.model.cell(0, 1).text == "loss"
    assert panel.model.cell(0, 4).text == "stays in float32"
    assert sum(row.share for row in panel.model.rows) == pytest.approx(1)
    panel.table.chosen.emit(1)
    assert bench.space.selection == (panel.model.rows[1].ops[0],)
    panel.kept.clicked.emit()
    assert bench.space.selection == ("loss",)


@pytest.mark.slow
def test_another_format_and_target_and_a_training(
    panel: PrecisionPanel, bench: Any, qtbot: Any
) -> None:
    panel.formats.setCurrentText("float16")
    panel.targets.setCurrentText('grad["conv1/kernel"]')
    panel.trains.setChecked(True)
    tried(panel, qtbot)
    asked = [one for one in bench.bridge.asked if isinstance(one, ExaminePrecision)]
    assert [(one.format, one.target, one.steps) for one in asked] == [
        ("float16", 'grad["conv1/kernel"]', UPDATES)
    ]
    said = panel.verdict.text()
    assert f"Loss after {UPDATES} updates: " in said
    assert "float16 takes small elements of" in said
    assert {row.phase for row in panel.model.rows} == {"forward", "backward"}


def test_an_edit_takes_back_what_was_said(panel: PrecisionPanel, bench: Any, qtbot: Any) -> None:
    tried(panel, qtbot)
    panel.targets.setCurrentText('grad["conv2/kernel"]')
    commands.toggle_stop(bench.space, next(iter(bench.space.document.request.of)))
    bench.space.debugger.flush()
    assert not panel.model.count()
    assert 'grad["conv2/kernel"]' not in [
        panel.targets.itemText(number) for number in range(panel.targets.count())
    ]
    bench.space.undo_stack.undo()
    bench.space.debugger.flush()
    assert panel.targets.findText('grad["conv2/kernel"]') >= 0


def test_what_cannot_be_tried_is_said_and_nothing_is_lost(
    bench: Any, show: Callable[..., Any], qtbot: Any
) -> None:
    bench.open("learning_rates")
    panel = show(PrecisionPanel(bench.space), 900, 300)
    tried(panel, qtbot)
    assert any("other formats are tried beside" in text for text in bench.messages)
    assert panel.examine.isEnabled()
    assert not panel.summary.text()


def test_without_a_loss_there_is_nothing_to_try(bench: Any, show: Callable[..., Any]) -> None:
    document = bench.open("tutorial")
    bench.space.open_document(document.with_(request=GradientRequest(), optimizers=()))
    bench.space.debugger.flush()
    panel = show(PrecisionPanel(bench.space), 900, 300)
    assert not panel.trains.isEnabled()
    assert panel.examine.isEnabled() == (panel.targets.count() > 0)
