"""The window that tests share: used again where it is as new, and else not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog
from shiboken6 import isValid

from gradstep.gui.automation.driver import Driver
from tests.support.kept_window import WindowKeeper

Lend = Callable[[Path | None], Driver]


@pytest.fixture
def document(examples: Path) -> Path:
    return examples / "tutorial.gradstep"


@pytest.mark.slow
def test_what_opening_a_document_takes_back_costs_no_window(
    lend_window: Lend, window_keeper: WindowKeeper, document: Path
) -> None:
    window_keeper.drop()  # of which nobody knows what was done with it
    driver = lend_window(document)
    window = driver.window
    layout = window.docks.current_layout()
    driver.key("F10")
    window.workspace.select(["d"])
    driver.key("Delete")
    window.docks.by_id["outline"].hide()
    dialog = QDialog(window)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.show()
    window_keeper.give_back()
    again = lend_window(document)
    assert again.window is window
    assert "d" in again.workspace.document.graph
    assert again.workspace.selection == ()
    assert again.workspace.stop is not None
    assert again.workspace.stop.step == 0
    assert not again.workspace.undo_stack.canUndo()
    assert window.docks.current_layout() == layout
    assert not isValid(dialog)


@pytest.mark.slow
def test_a_document_before_it_costs_the_start_page_no_window(
    lend_window: Lend, window_keeper: WindowKeeper, document: Path
) -> None:
    window_keeper.drop()
    window = lend_window(None).window
    for shown in (document, None):
        window_keeper.give_back()
        assert lend_window(shown).window is window


@pytest.mark.slow
@pytest.mark.parametrize("is_dropped", [False, True])
def test_the_mouse_is_not_where_another_test_left_it(
    lend_window: Lend, window_keeper: WindowKeeper, document: Path, is_dropped: bool
) -> None:
    """Over the canvas, where a paste would hang on it; in the same window, and in a new one."""
    port = lend_window(document).window.canvas.viewport()
    QTest.mouseMove(port, port.rect().center())
    assert port.underMouse()
    if is_dropped:
        window_keeper.drop()
    else:
        window_keeper.give_back()
    assert not lend_window(document).window.canvas.viewport().underMouse()


def _use_another_device(driver: Driver) -> None:
    driver.workspace.debugger.use("emulate:tf-gpu")


def _hide_the_status_bar(driver: Driver) -> None:
    driver.window.status.hide()


def _kill_the_engine(driver: Driver) -> None:
    driver.workspace.bridge.kill()
    driver.wait(lambda: driver.workspace.engine_state == "dead", "the engine to end")


def _keep_a_dialog(driver: Driver) -> None:
    QDialog(driver.window).show()


def _follow_sessions(driver: Driver) -> None:
    driver.workspace.debugger.shows_sessions = True


@pytest.mark.parametrize(
    "leave",
    [_use_another_device, _hide_the_status_bar, _kill_the_engine, _keep_a_dialog, _follow_sessions],
)
@pytest.mark.slow
def test_what_stays_behind_costs_a_window(
    lend_window: Lend, window_keeper: WindowKeeper, document: Path,
    leave: Callable[[Driver], None],
) -> None:  # fmt: skip
    driver = lend_window(document)
    window = driver.window
    leave(driver)
    window_keeper.give_back()
    assert lend_window(document).window is not window
