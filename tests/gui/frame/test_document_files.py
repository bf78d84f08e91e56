"""New, open, save, close: nothing is lost without a word, and what is saved comes back."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QFileDialog

from gradstep.core.io.native import gradstep_file
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs import confirm_dialog, unsaved_dialog
from gradstep.gui.model import session_list
from gradstep.gui.model.settings import settings


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> list[unsaved_dialog.Answer]:
    """What the user says when asked about unsaved edits; asking takes the first one away."""
    given: list[unsaved_dialog.Answer] = []
    monkeypatch.setattr(unsaved_dialog, "ask", lambda *_: given.pop(0))
    return given


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The file that the user names in a file dialog."""
    path = tmp_path / "mine.gradstep"
    for dialog in ("getSaveFileName", "getOpenFileName"):
        monkeypatch.setattr(QFileDialog, dialog, lambda *_: (str(path), ""))
    return path


def add_tanh(driver: Driver) -> None:
    commands.add_node(driver.workspace, "Tanh", (40.0, 40.0), "t")


@pytest.mark.slow
def test_save_close_and_reopen_gives_the_same(
    tutorial: Driver, chosen: Path, answers: list[unsaved_dialog.Answer]
) -> None:
    add_tanh(tutorial)
    commands.toggle_breakpoint(tutorial.workspace, "e")
    assert tutorial.window.isWindowModified()
    tutorial.key("Ctrl+S")
    assert tutorial.workspace.path == chosen
    assert not tutorial.window.isWindowModified()
    before = gradstep_file.to_bytes(tutorial.workspace.document)
    tutorial.key("Ctrl+W")
    assert not tutorial.workspace.is_open
    tutorial.open(chosen)
    assert gradstep_file.to_bytes(tutorial.workspace.document) == before
    assert {b.target for b in tutorial.workspace.document.breakpoints} == {"e"}


@pytest.mark.slow
def test_the_second_save_asks_nothing(
    tutorial: Driver, chosen: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tutorial.key("Ctrl+S")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: pytest.fail("asked again"))
    add_tanh(tutorial)
    tutorial.key("Ctrl+S")
    assert "t" in gradstep_file.load(chosen).graph


@pytest.mark.slow
def test_an_example_is_not_overwritten(tutorial: Driver) -> None:
    assert tutorial.workspace.path is None
    assert tutorial.workspace.name == "tutorial.gradstep"
    assert settings().recent == []


@pytest.mark.parametrize(
    ("answer", "closed"),
    [
        (unsaved_dialog.Answer.CANCEL, False),
        (unsaved_dialog.Answer.DISCARD, True),
        (unsaved_dialog.Answer.SAVE, True),
    ],
)
@pytest.mark.slow
def test_leaving_unsaved_edits_asks(
    tutorial: Driver,
    chosen: Path,
    answers: list[unsaved_dialog.Answer],
    answer: unsaved_dialog.Answer,
    closed: bool,
) -> None:
    add_tanh(tutorial)
    answers.append(answer)
    assert tutorial.window.files.close() == closed
    assert tutorial.workspace.is_open != closed
    assert chosen.exists() == (answer is unsaved_dialog.Answer.SAVE)


@pytest.mark.slow
def test_closing_the_window_asks(tutorial: Driver, answers: list[unsaved_dialog.Answer]) -> None:
    add_tanh(tutorial)
    answers.append(unsaved_dialog.Answer.CANCEL)
    assert not tutorial.window.close()
    assert tutorial.window.isVisible()


@pytest.mark.slow
def test_leaving_without_edits_asks_nothing(tutorial: Driver, answers: list[object]) -> None:
    assert tutorial.window.files.close()
    assert tutorial.window.files.new()
    assert tutorial.window.files.close()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder_is_said_and_nothing_is_lost(tutorial: Driver, tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    _fails_to_save(tutorial, tmp_path / "x.gradstep")
    tmp_path.chmod(0o700)


@pytest.mark.slow
def test_a_folder_that_is_not_there_is_said_and_nothing_is_lost(
    tutorial: Driver, tmp_path: Path
) -> None:
    _fails_to_save(tutorial, tmp_path / "missing" / "x.gradstep")


def _fails_to_save(driver: Driver, path: Path) -> None:
    add_tanh(driver)
    driver.workspace.path = path
    assert not driver.window.files.save()
    banner = driver.window.banners.message
    assert banner.isVisible()
    assert path.name in banner.label.text()
    assert "t" in driver.workspace.document.graph
    assert driver.window.isWindowModified()


@pytest.mark.slow
def test_a_broken_file_is_said_and_the_document_stays(tutorial: Driver, tmp_path: Path) -> None:
    broken = tmp_path / "broken.gradstep"
    broken.write_bytes(b"PK\x03\x04 nonsense")
    before = tutorial.workspace.document
    tutorial.window.files.open(broken)
    tutorial.wait(tutorial.window.banners.message.isVisible, "a message")
    assert tutorial.workspace.document is before


@pytest.mark.slow
def test_dropping_a_file_opens_it(driver: Driver, examples: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(examples / "gather.gradstep"))])
    event = QDropEvent(
        QPointF(50, 50),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    driver.window.dropEvent(event)
    driver.wait(lambda: driver.workspace.is_open, "the file to open")
    assert driver.workspace.name == "gather.gradstep"


@pytest.mark.slow
def test_recent_files_start_with_the_last_one(
    driver: Driver, examples: Path, tmp_path: Path
) -> None:
    for name in ("a", "b", "a"):
        path = tmp_path / f"{name}.gradstep"
        gradstep_file.save(path, gradstep_file.load(examples / "gather.gradstep"))
        driver.open(path)
    assert [path.name for path in settings().recent] == ["a.gradstep", "b.gradstep"]
    driver.window.files.close()
    assert driver.window.welcome.findChild(object, "welcome.recent.a.gradstep") is not None


def test_a_file_that_is_gone_leaves_the_recent_ones(driver: Driver, tmp_path: Path) -> None:
    settings().add_recent(tmp_path / "gone.gradstep")
    driver.window.files.open(tmp_path / "gone.gradstep")
    driver.wait(driver.window.banners.message.isVisible, "a message")
    assert settings().recent == []


def test_what_a_long_training_made_is_not_lost_without_a_word(
    tutorial: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    answers = [False, True]

    def confirm(*words: object) -> bool:
        told.append(str(words[3]))
        return answers.pop(0)

    monkeypatch.setattr(confirm_dialog, "confirm", confirm)
    space = tutorial.workspace
    space.training.steps = 3
    commands.train(space)
    tutorial.settle()
    monkeypatch.setattr(session_list, "LONG", sum(space.sessions.seconds.values()))
    tutorial.key("Ctrl+W")
    assert space.is_open
    assert "--checkpoint" in told[0]
    tutorial.key("Ctrl+W")
    assert not space.is_open
    assert not answers
    tutorial.window.files.new()
    tutorial.key("Ctrl+W")
    assert not space.is_open, "of another document nothing ran"
