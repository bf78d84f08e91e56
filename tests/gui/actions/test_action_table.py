"""The table of actions: ids and keys are unique, every row can be run or says that it cannot."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from PySide6.QtGui import QKeySequence

from gradstep.core.document.document import Document
from gradstep.gui.actions import action_table
from gradstep.gui.actions.action_record import Action
from gradstep.gui.actions.menu_titles import MENUS
from gradstep.gui.automation.driver import Driver
from gradstep.gui.look.theme import ASSETS
from gradstep.gui.model.workspace import Workspace
from tests.support.each_case import check_each

# Answered by a dialog of Qt's, by a question, by the end of the window, or by dressing it anew:
# tested elsewhere.
ELSEWHERE = {
    "file.open", "file.save", "file.save_as", "file.export", "file.quit",
    "graph.restore", "graph.try_stop", "help.exporter_jax", "help.exporter_torch", "help.log",
    "run.events",
    "view.light", "view.dark",
}  # fmt: skip


def test_ids_are_unique_and_named_by_menu() -> None:
    ids = [action.id for action in action_table.ACTIONS]
    assert len(set(ids)) == len(ids)
    assert all(a.id.startswith(f"{a.menu.lower()}.") for a in action_table.ACTIONS)
    assert {a.menu for a in action_table.ACTIONS} == set(MENUS)


def test_no_key_means_two_things() -> None:
    keys = Counter(QKeySequence(key).toString() for a in action_table.ACTIONS for key in a.keys)
    assert [key for key, count in keys.items() if count > 1] == []
    assert all(keys)


def test_single_letters_belong_to_the_canvas() -> None:
    for action in action_table.ACTIONS:
        plain = [key for key in action.keys if "+" not in key.rstrip("+") and len(key) == 1]
        assert action.canvas or not plain, action.id


def test_every_row_is_complete() -> None:
    def check(action: Action) -> None:
        assert action.title
        assert action.tip
        assert not action.tip.endswith(".")
        if action.icon:
            assert (ASSETS / "icons" / f"{action.icon}.svg").is_file()
        if action.toolbar:
            assert action.icon

    check_each(action_table.ACTIONS, check, lambda action: action.id)


def test_the_keys_of_a_debugger() -> None:
    expected = {
        "run.step": "F10",
        "run.step_back": "Shift+F10",
        "run.step_into": "F11",
        "run.step_out": "Shift+F11",
        "run.continue": "F5",
        "run.reverse_continue": "Ctrl+Shift+F10",
        "run.restart": "Ctrl+Shift+F5",
        "run.pause": "F6",
        "run.breakpoint": "F9",
        "view.palette": "Ctrl+Shift+P",
    }
    assert {id: action_table.BY_ID[id].keys[0] for id in expected} == expected


@pytest.mark.slow
def test_without_a_document_only_what_makes_sense_is_enabled(driver: Driver) -> None:
    driver.settle()
    enabled = {a.id for a in action_table.ACTIONS if a.enabled(driver.workspace)}
    assert not any(id.startswith(("edit.", "graph.", "devices.")) for id in enabled)
    always = {"run.restart_engine", "run.engine", "run.follow_training", "run.events"}
    assert {id for id in enabled if id.startswith("run.")} == always


@pytest.mark.parametrize("menu", MENUS)
@pytest.mark.slow
def test_every_enabled_action_runs(driver: Driver, examples: Path, menu: str) -> None:
    """On the tutorial, one step in, with a node selected; what opens is closed again."""
    said: list[str] = []
    answers = ("note",)  # what was asked for is no complaint
    driver.workspace.message.connect(lambda level, text: level in answers or said.append(text))
    document, before = None, None
    for action in action_table.ACTIONS:
        if action.menu != menu or action.id in ELSEWHERE:
            continue
        if _state(driver) != before:  # the one before left something behind
            if document is not None and _undone(driver.workspace, document):
                driver.workspace.control("restart")
            else:
                driver.workspace.give_up_changes()
                driver.open(examples / "tutorial.gradstep")
            driver.key("F10")
            document, before = driver.workspace.document, _state(driver)
        driver.workspace.select(["d"])
        driver.window.actions_.run(action.id)
        driver.settle()
        driver.close_popups()
        assert said == [], action.id


def _undone(space: Workspace, document: Document) -> bool:
    """Whether undoing leads back to the document: much sooner than opening it again."""
    while space.document is not document and space.undo_stack.canUndo():
        space.undo_stack.undo()
    return space.document is document


def _state(driver: Driver) -> object:
    space = driver.workspace
    return space.is_open and (id(space.document), space.stop and (space.stop.run, space.stop.step))


@pytest.mark.slow
def test_menus_hold_every_action(tutorial: Driver) -> None:
    bar = tutorial.window.menu
    shown = {
        entry.objectName() for top in bar.actions() if top.menu() for entry in top.menu().actions()
    }
    assert {action.id for action in action_table.ACTIONS} <= shown


@pytest.mark.slow
def test_tool_tips_name_the_key(tutorial: Driver) -> None:
    tip = tutorial.window.actions_["run.step"].toolTip()
    assert "F10" in tip
    assert "\n" in tip


@pytest.mark.slow
def test_the_round_arrow_restarts_the_run_and_the_engine_is_in_a_menu(tutorial: Driver) -> None:
    tutorial.key("F10")
    before = tutorial.workspace.bridge.pid
    tutorial.click("toolbar.run.restart")
    assert tutorial.workspace.stop is not None
    assert tutorial.workspace.stop.step == 0
    assert tutorial.workspace.bridge.pid == before
    shown = {row.id for row, _ in tutorial.window.actions_ if row.toolbar}
    assert "run.restart_engine" not in shown
    assert action_table.BY_ID["run.restart_engine"].menu == "Run"
