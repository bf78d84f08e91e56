"""The sessions panel: each session's variables side by side, one of them shown."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PySide6.QtWidgets import QPushButton

from gradstep.gui import commands
from gradstep.gui.dialogs import confirm_dialog
from gradstep.gui.dialogs.copy_values_dialog import CopyValuesDialog
from gradstep.gui.model import session_list
from gradstep.gui.panels.sessions_panel import SessionsPanel
from tests.gui.panels.conftest import Bench


def test_make_go_between_copy_and_end(bench: Bench, show: Callable[..., Any]) -> None:
    bench.open("tutorial")
    panel = show(SessionsPanel(bench.space), 900, 240)
    space, model = bench.space, panel.model

    def press(name: str) -> None:
        panel.findChild(QPushButton, f"sessions.{name}").click()

    def add(number: int) -> None:
        panel.findChild(QPushButton, "sessions.add").menu().actions()[number].trigger()

    def row(name: str) -> list[str]:
        return [model.cell(model.variables.index(name), c).text for c in (1, 2)]

    assert not panel.delete.isEnabled()
    widths = [panel.table.columnWidth(column) for column in (0, 1)]
    assert widths == [200, panel.table.viewport().width() - 200], "there is room for values"
    bench.run("continue_")
    add(0)
    assert model.headers[1:] == ("main · run 1 · step 35", "session 2 · run 1 · step 0")
    assert row("c") == ["[0.05985 -0.03976]", "[0.06 -0.04]"]
    assert (space.stop.run, space.stop.step) == (0, 0)  # type: ignore[union-attr]
    np.testing.assert_allclose(space.value("c").head, [0.06, -0.04])  # type: ignore[union-attr]
    dialog = CopyValuesDialog(space, panel)
    assert (dialog.source.currentText(), dialog.target.currentText()) == ("main", "session 2")
    dialog.wanted.setText("k")
    dialog.finish()
    assert row("k") == ["[0.04986 0.13023]"] * 2
    assert bench.messages[-1] == "copied from main to session 2: k"
    muted = model.cell(model.variables.index("k"), 1), model.cell(model.variables.index("c"), 1)
    assert [cell.tone for cell in muted] == ["muted", "text"]
    panel.names.setCurrentIndex(0)
    assert space.sessions.current == "main"
    assert space.stop.step == 35  # type: ignore[union-attr]
    add(1)
    bench.run("continue_")
    press("delete")
    assert [s.name for s in space.sessions.found] == ["main", "session 2"]
    dialog = CopyValuesDialog(space, panel)
    dialog.wanted.setText("loss")
    dialog.finish()
    assert bench.messages[-1].startswith("'loss' is not a variable")


def test_what_is_given_by_hand_and_what_a_branch_holds_is_shown(
    bench: Bench, show: Callable[..., Any]
) -> None:
    bench.open("tutorial")
    space, panel = bench.space, show(SessionsPanel(bench.space), 900, 240)
    bench.run("continue_")

    def held() -> str:
        return panel.model.cell(panel.model.variables.index("c"), 1).text

    before = held()
    space.sessions.inject("c", np.array([1, 2], np.float32))
    space.debugger.flush()
    assert held() == "[1. 2.]"
    commands.switch_branch(space, "main")
    space.debugger.flush()
    assert held() == before
    panel.hide()
    commands.switch_branch(space, "b1")
    space.debugger.flush()
    panel.show()
    space.debugger.flush()
    assert held() == "[1. 2.]"


def test_the_first_tab_has_room_for_its_name_however_many_there_are(
    bench: Bench, show: Callable[..., Any]
) -> None:
    bench.open("softmax_digits")
    panel = show(SessionsPanel(bench.space), 900, 300)
    panel.seen()
    tabs, widths = panel.names, []
    for _ in range(3):
        widths.append(tabs.tabRect(0).width())
        commands.duplicate_session(bench.space)
    assert widths == [tabs.tabRect(0).width()] * 3


def test_a_session_that_took_long_is_not_ended_unasked(
    bench: Bench, show: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [False, True]
    monkeypatch.setattr(confirm_dialog, "confirm", lambda *_: answers.pop(0))
    bench.open("tutorial")
    panel, sessions = show(SessionsPanel(bench.space), 900, 240), bench.space.sessions
    commands.new_session(bench.space)
    commands.new_session(bench.space)
    assert [s.name for s in sessions.found] == ["main", "session 2", "session 3"]
    panel.delete.click()
    assert [s.name for s in sessions.found] == ["main", "session 2"]
    assert len(answers) == 2, "nothing ran there"
    commands.switch_session(bench.space, "session 2")
    bench.run("continue_")
    assert [*sessions.seconds] == ["session 2"]
    monkeypatch.setattr(session_list, "LONG", sessions.seconds["session 2"])
    panel.delete.click()
    assert len(sessions.found) == 2
    panel.delete.click()
    assert [s.name for s in sessions.found] == ["main"]
    assert not answers
    assert not sessions.took_long()
