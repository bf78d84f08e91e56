"""The window that tests share: used again where it is as new, and else not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog
from shiboken6 import isValid

from gradstep.gui.automation.driver import Driver
from tests.support.deleting import delete
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


@contextmanager
def _another_device(driver: Driver) -> Iterator[None]:
    debugger, before = driver.workspace.debugger, driver.workspace.device
    debugger.use("emulate:tf-gpu")
    yield
    debugger.use(before)


@contextmanager
def _no_status_bar(driver: Driver) -> Iterator[None]:
    driver.window.status.hide()
    yield
    driver.window.status.show()


@contextmanager
def _a_dead_engine(driver: Driver) -> Iterator[None]:
    driver.workspace.bridge.kill()
    driver.wait(lambda: driver.workspace.engine_state == "dead", "the engine to end")
    yield


@contextmanager
def _another_dialog(driver: Driver) -> Iterator[None]:
    dialog = QDialog(driver.window)
    dialog.show()
    yield
    delete(dialog)


@contextmanager
def _followed_sessions(driver: Driver) -> Iterator[None]:
    driver.workspace.debugger.shows_sessions = True
    yield
    driver.workspace.debugger.shows_sessions = False


LASTING = _another_device, _a_dead_engine  # whatever is shown, also for the first time


@pytest.mark.parametrize(
    "leave", [_another_device, _no_status_bar, _another_dialog, _followed_sessions, _a_dead_engine]
)
@pytest.mark.slow
def test_what_stays_behind_costs_a_window(
    lend_window: Lend, window_keeper: WindowKeeper, document: Path,
    leave: Callable[[Driver], AbstractContextManager[None]], monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    driver = lend_window(document)
    new: list[Path | None] = []  # windows that would be made; that would take longer than all else

    def take_new(shown: Path | None) -> Driver:
        new.append(shown)
        return driver

    monkeypatch.setattr(window_keeper, "_take_new", take_new)
    with leave(driver):
        window_keeper.give_back()
        lend_window(document)
        assert new == [document]
        if leave in LASTING:
            lend_window(None)
            assert new == [document, None]
