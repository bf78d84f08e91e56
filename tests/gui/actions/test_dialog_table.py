"""The table of dialogs, and what else the window is asked for by name."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog

from gradstep.gui.actions import action_table
from gradstep.gui.actions.dialog_table import DIALOGS, DialogRecord, open_dialog
from gradstep.gui.automation.driver import Driver
from gradstep.gui.canvas.interact.canvas_requests import ANSWERS
from gradstep.gui.frame.docks import PANELS
from gradstep.gui.look import theme
from gradstep.gui.model.window_requests import (
    CanvasRequest,
    FrameRequest,
    ShownPanel,
    WindowRequest,
)
from tests.support.named_widgets import require_names


def test_every_name_is_of_one_thing() -> None:
    ids = [dialog.id for dialog in DIALOGS]
    requests = [name for part in get_args(WindowRequest) for name in get_args(part)]
    assert len({*ids, *requests, "show"}) == len(ids) + len(requests) + 1


def test_each_stands_in_its_menu_behind_what_it_names() -> None:
    rows = action_table.ACTIONS
    places = {row.id: place for place, row in enumerate(rows)}
    for dialog in DIALOGS:
        if not dialog.menu:
            assert not dialog.after, dialog.id
            continue
        place = places[f"{dialog.menu.lower()}.{dialog.id}"]
        assert rows[place - 1].id == dialog.after
        assert (rows[place].menu, rows[place].title) == (dialog.menu, dialog.title)
    by_menu = {menu: [r.section for r in rows if r.menu == menu] for menu in {r.menu for r in rows}}
    assert all(sections == sorted(sections) for sections in by_menu.values())


@pytest.mark.slow
def test_each_opens_by_its_name_and_can_be_used_without_a_mouse(
    driver: Driver, examples: Path
) -> None:
    """And shows in the light theme, too; of an operation only if one is selected."""
    assert {*driver.window.views.answered} == {*get_args(FrameRequest), "show"}
    driver.workspace.set_theme(theme.LIGHT)
    driver.open(examples / "override_add.gradstep")
    for dialog in DIALOGS:
        driver.workspace.select(["c" if dialog.id == "value" else "e"])
        made = opened(driver, dialog)
        assert made.objectName() == f"{dialog.id}_dialog"
        assert made.windowTitle()
        require_names(made)
        assert not made.grab().isNull()
        QTest.keyClick(made, Qt.Key.Key_Escape)
        assert not made.isVisible(), dialog.id
        assert QApplication.activeModalWidget() is None

    driver.workspace.select(["c", "d"])
    for dialog in DIALOGS:
        if dialog.of_operation:
            open_dialog(driver.workspace, dialog)
    assert not [d for d in driver.window.findChildren(QDialog) if d.isVisible()]


def opened(driver: Driver, dialog: DialogRecord) -> QDialog:
    """The one dialog that shows once it was asked for."""
    open_dialog(driver.workspace, dialog)
    driver.settle()
    (made,) = (d for d in driver.window.findChildren(QDialog) if d.isVisible())
    return made


def test_the_canvas_answers_what_it_is_asked_for_and_shown_panels_are_there() -> None:
    assert {*ANSWERS} == {*get_args(CanvasRequest)}
    assert {*get_args(ShownPanel)} <= {place.id for place in PANELS}
