"""A window that is seen before it can do everything: what is asked of it meanwhile is not lost."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QPushButton

from gradstep.core.io.native import gradstep_file
from gradstep.gui.actions import action_table
from gradstep.gui.automation.driver import Driver
from gradstep.gui.frame import startup
from gradstep.gui.frame.main_window import MainWindow
from gradstep.gui.look import theme
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.welcome.example_card import Card
from gradstep.gui.panels.welcome.welcome_page import BUTTONS


@pytest.fixture
def bare(qtbot: Any, qapp: QApplication) -> Iterator[MainWindow]:
    theme.apply(qapp, theme.DARK)
    window = MainWindow(look=theme.LIGHT)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitUntil(lambda: window.welcome.is_drawn)
    yield window
    if window.is_furnished:
        window.discard()


def furnished(window: MainWindow) -> Driver:
    startup.furnish(window)
    driver = Driver(window)
    driver.settle()
    return driver


@pytest.mark.slow
def test_an_example_that_was_clicked_opens(bare: MainWindow, examples: Path) -> None:
    card = bare.welcome.findChild(Card, "welcome.example.tutorial")
    assert card is not None
    card.click()
    driver = furnished(bare)
    driver.wait(lambda: driver.workspace.is_open, "the example")
    assert driver.workspace.name == "tutorial.gradstep"
    assert driver.workspace.theme is theme.LIGHT


@pytest.mark.slow
def test_a_file_that_was_dropped_opens(bare: MainWindow, examples: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(examples / "gather.gradstep"))])
    copy, left = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton
    none = Qt.KeyboardModifier.NoModifier
    bare.dropEvent(QDropEvent(QPointF(50, 50), copy, data, left, none))
    driver = furnished(bare)
    driver.wait(lambda: driver.workspace.is_open, "the file")
    assert driver.workspace.name == "gather.gradstep"


@pytest.mark.slow
def test_the_buttons_do_what_they_say(
    bare: MainWindow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, examples: Path
) -> None:
    """Their words are there before the table of actions is, and are the same."""
    assert {action_table.BY_ID[id].title: id for id in BUTTONS} == {
        BUTTONS[id]: id for id in BUTTONS
    }
    path = tmp_path / "mine.gradstep"
    gradstep_file.save(path, gradstep_file.load(examples / "gather.gradstep"))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(path), ""))
    button = bare.welcome.findChild(QPushButton, "welcome.file.open")
    assert button is not None
    button.click()
    driver = furnished(bare)
    driver.wait(lambda: driver.workspace.path == path, "the file that was chosen")
    assert "Ctrl+O" in button.toolTip()


def test_a_bare_window_can_be_closed(bare: MainWindow) -> None:
    assert bare.close()
    assert not bare.isVisible()


@pytest.mark.slow
def test_examples_that_cannot_be_listed_are_said(
    qtbot: Any, qapp: QApplication, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("gradstep.gui.panels.welcome.welcome_page.EXAMPLES", tmp_path)
    window = MainWindow()
    qtbot.addWidget(window)
    window.show()
    driver = furnished(window)
    assert "index.json" in driver.window.banners.message.label.text()
    window.discard()


def test_what_cannot_be_loaded_ends_the_program(
    bare: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: Any
) -> None:
    ended: list[int] = []
    monkeypatch.setattr(QApplication, "exit", ended.append)  # the tests go on
    monkeypatch.setattr(startup, "HERE", ("gradstep.gui.no_such_module",))
    said = startup.Start(bare, None, None)
    said.begin()
    bare.painted.emit()
    qtbot.waitUntil(lambda: said.error is not None)
    assert "no_such_module" in said.error.message
    assert ended == [1]
    assert not bare.is_furnished


def test_a_window_with_a_workspace_at_once_is_furnished(qtbot: Any, silent: None) -> None:
    window = MainWindow(Workspace())
    qtbot.addWidget(window)
    assert window.is_furnished
    done: list[int] = []
    window.when_furnished(lambda: done.append(1))
    assert done == [1]
    window.discard()
