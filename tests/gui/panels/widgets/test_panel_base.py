"""A panel that cannot be seen is left alone, and is right again when it is shown."""

from __future__ import annotations

from typing import Any

import pytest
from PySide6.QtWidgets import QTabWidget, QWidget

from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.panel_base import Panel
from tests.support.deleting import delete

pytestmark = pytest.mark.usefixtures("silent")


def test_what_came_while_it_was_hidden_is_made_up_for_once_and_in_order(qtbot: Any) -> None:
    calls: list[str] = []
    space = Workspace()
    panel = Panel(space, "counting")
    panel.follow(lambda: calls.append("program"), space.program_changed)
    panel.follow(
        lambda: calls.append("soon"), space.stopped, space.values_changed,
        shown=lambda: calls.append("now"),
    )  # fmt: skip
    tabs = QTabWidget()
    qtbot.addWidget(tabs)
    tabs.addTab(panel, "this")
    tabs.addTab(QWidget(), "another")
    with qtbot.waitExposed(tabs):
        tabs.show()
    for signal in (space.stopped, space.program_changed):
        signal.emit()
    assert calls == ["soon", "program"]
    calls.clear()
    tabs.setCurrentIndex(1)
    for signal in (space.stopped, space.program_changed, space.values_changed, space.stopped):
        signal.emit()
    assert calls == []
    for _ in range(2):
        tabs.setCurrentIndex(0)
        assert calls == ["program", "now"]
        tabs.setCurrentIndex(1)


def test_it_hears_nothing_more_once_it_is_gone(qtbot: Any) -> None:
    calls: list[str] = []
    space = Workspace()
    panel = Panel(space, "counting")
    panel.follow(lambda: calls.append("stopped"), space.stopped)
    delete(panel)
    space.stopped.emit()
    assert calls == []
