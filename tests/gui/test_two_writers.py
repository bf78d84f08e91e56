"""One file and two who write it: nobody's work is overwritten, or thrown away, unasked."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QPushButton, QWidget

from gradstep.core.document.document import CodeItem, CodeKind, Document
from gradstep.core.io.disk.file_stamp import look
from gradstep.core.io.native import gradstep_file
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs import conflict_dialog, unsaved_dialog
from gradstep.gui.dialogs.conflict_dialog import Answer
from gradstep.gui.dialogs.differences_dialog import DifferencesDialog
from gradstep.gui.frame.document_files import Files
from gradstep.gui.model.file_watch import FileWatch
from gradstep.gui.model.workspace import Workspace

MINE, THEIRS = Document(title="first"), Document(title="theirs")


def let_live(until: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not until():
        assert time.monotonic() < end
        QApplication.processEvents()
        time.sleep(0.005)


class Writer:
    """A window's workspace and its file commands, without the window."""

    def __init__(self, path: Path) -> None:
        self.space, self.window = Workspace(), QWidget()
        self.files = Files(self.space, self.window)
        self.watch = FileWatch(self.space, self.window)
        self.found: list[object] = []
        self.watch.found.connect(self.found.append)
        self.files.open(path)
        let_live(lambda: self.space.is_open)

    def write(self, title: str) -> None:
        self.space.edit("Title", self.space.document.with_(title=title))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "shared.gradstep"
    gradstep_file.save(path, MINE)
    return path


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Answer]:
    """What the user answers; asking takes the first one away."""
    answers: list[Answer] = []
    monkeypatch.setattr(conflict_dialog, "ask", lambda *_: answers.pop(0))
    return answers


@pytest.fixture
def writer(silent: None, path: Path) -> Iterator[Writer]:
    made = Writer(path)
    yield made
    made.space.close()


def test_the_second_window_is_asked(writer: Writer, path: Path, asked: list[Answer]) -> None:
    other = Writer(path)
    writer.write("from A")
    assert writer.files.save()
    other.write("from B")
    asked.append(Answer.CANCEL)
    assert not other.files.save()
    assert not asked
    assert gradstep_file.load(path).title == "from A"
    assert other.space.is_changed
    asked.append(Answer.OVERWRITE)
    assert other.files.save()
    assert gradstep_file.load(path).title == "from B"
    other.write("again")
    assert other.files.save()
    other.space.close()


def test_saving_beside_leaves_the_others_file(
    writer: Writer, path: Path, asked: list[Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    gradstep_file.save(path, THEIRS)
    writer.write("mine")
    beside = path.with_name("beside.gradstep")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(beside), ""))
    asked.append(Answer.SAVE_AS)
    assert writer.files.save()
    assert (gradstep_file.load(path).title, gradstep_file.load(beside).title) == ("theirs", "mine")
    assert writer.space.path == beside


def test_reloading_can_be_undone(writer: Writer, path: Path, asked: list[Answer]) -> None:
    gradstep_file.save(path, THEIRS)
    writer.write("mine")
    asked.append(Answer.RELOAD)
    assert not writer.files.save()
    assert writer.space.document.title == "theirs"
    assert not writer.space.is_changed
    writer.space.undo_stack.undo()
    assert writer.space.document.title == "mine"
    assert writer.space.is_changed
    assert writer.files.save()  # the user saw what is overwritten
    assert gradstep_file.load(path).title == "mine"


def test_reloaded_code_is_not_trusted_for_that(writer: Writer, path: Path) -> None:
    assert writer.space.trusted
    item = CodeItem("f", CodeKind.PYFUNC, "def f(x):\n    return x  # of somebody else\n")
    gradstep_file.save(path, Document(code={"f": item}))
    writer.files.reload()
    assert writer.space.document.code
    assert not writer.space.trusted


def test_a_change_right_before_the_replacing_is_noticed(
    writer: Writer, path: Path, asked: list[Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """After all was written beside, in the moment before it gets the name."""
    writer.write("mine")
    chmod = os.chmod

    def change(*args: object) -> None:
        monkeypatch.undo()
        monkeypatch.setattr(conflict_dialog, "ask", lambda *_: asked.pop(0))
        chmod(*args)  # type: ignore[arg-type]
        gradstep_file.save(path, THEIRS)

    monkeypatch.setattr(os, "chmod", change)
    asked.append(Answer.CANCEL)
    assert not writer.files.save()
    assert gradstep_file.load(path).title == "theirs"


def test_a_deleted_file_is_asked_about(writer: Writer, path: Path, asked: list[Answer]) -> None:
    path.unlink()
    writer.write("mine")
    asked.append(Answer.CANCEL)
    assert not writer.files.save()
    assert not path.exists()
    asked.append(Answer.OVERWRITE)
    assert writer.files.save()
    assert gradstep_file.load(path).title == "mine"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["replaced", "in place", "deleted"])
def test_a_change_is_noticed_while_the_file_is_open(writer: Writer, path: Path, how: str) -> None:
    writer.watch.look()
    let_live(lambda: writer.found[-1:] == [None])
    if how == "replaced":
        gradstep_file.save(path, THEIRS)
    elif how == "in place":
        path.write_bytes(gradstep_file.to_bytes(THEIRS))
    else:
        path.unlink()
    let_live(lambda: writer.found[-1] == look(path))
    gradstep_file.save(path, MINE)
    let_live(lambda: writer.found[-1] is None)
    gradstep_file.save(path, THEIRS)  # it is watched still
    let_live(lambda: writer.found[-1] == look(path))


@pytest.mark.parametrize("how", ["replaced", "deleted"])
def test_what_no_file_holds_is_unsaved(
    driver: Driver, path: Path, asked: list[Answer], monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    """Ctrl+S and Ctrl+W ask, without an edit having been made here."""
    window, left = driver.window, [unsaved_dialog.Answer.CANCEL, unsaved_dialog.Answer.DISCARD]
    monkeypatch.setattr(unsaved_dialog, "ask", lambda *_: left.pop(0))
    driver.open(path)

    def change() -> None:
        gradstep_file.save(path, THEIRS) if how == "replaced" else path.unlink()
        window.watch.look()

    change()
    driver.wait(window.isWindowModified, "the change to be noticed")
    assert "unsaved edits" not in window.banners.file.label.text()
    asked.append(Answer.OVERWRITE)
    driver.key("Ctrl+S")
    assert not asked
    assert gradstep_file.load(path).title == "first"
    assert not window.isWindowModified()
    change()
    driver.wait(window.isWindowModified, "the change to be noticed")
    gradstep_file.save(path, MINE)
    window.watch.look()
    driver.wait(lambda: not window.isWindowModified(), "the file to be as it was")
    path.unlink()  # and nobody told the window
    driver.key("Ctrl+W")
    assert driver.workspace.is_open
    driver.key("Ctrl+W")
    assert not left
    assert not driver.workspace.is_open


def test_own_saves_are_no_change(writer: Writer, path: Path) -> None:
    for title in "abc":
        writer.write(title)
        assert writer.files.save()
        writer.watch.look()
        let_live(lambda: writer.found[-1:] == [None])
    assert set(writer.found) == {None}


def test_what_was_seen_before_a_save_is_no_change(writer: Writer) -> None:
    """The look began before, and ended after it."""
    before = len(writer.found)
    writer.watch.look()  # its answer waits for the loop of events
    writer.write("mine")
    assert writer.files.save()
    QTest.qWait(50)
    writer.watch.look()
    let_live(lambda: len(writer.found) > before)
    assert set(writer.found) == {None}
    assert not writer.space.is_changed


def test_opening_the_same_file_anew_asks_nothing(writer: Writer, path: Path) -> None:
    gradstep_file.save(path, THEIRS)
    assert writer.files.open(path)
    let_live(lambda: writer.space.document.title == "theirs")
    assert not writer.space.is_changed


def test_keeping_mine(writer: Writer, path: Path) -> None:
    """Is unsaved work, and is asked about no more, until the file changes again."""
    gradstep_file.save(path, THEIRS)
    writer.files.keep_mine(look(path))
    assert writer.space.is_changed
    assert writer.files.save()
    assert gradstep_file.load(path).title == "first"


def test_recovered_work_asks_before_a_newer_file_goes(
    writer: Writer, path: Path, asked: list[Answer]
) -> None:
    before = look(path)
    gradstep_file.save(path, THEIRS)
    writer.space.recover(lambda: Document(title="kept"), path, path.name, before, "x.journal")
    let_live(lambda: writer.space.document.title == "kept")
    asked.append(Answer.CANCEL)
    assert not writer.files.save()
    assert gradstep_file.load(path).title == "theirs"


@pytest.mark.slow
def test_saving_takes_no_input_and_lets_the_window_live(
    writer: Writer, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    save, turns, said = gradstep_file.save, [], []

    def slow(*args: object) -> object:
        time.sleep(0.4)
        return save(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(gradstep_file, "save", slow)
    writer.space.message.connect(lambda level, text: said.append(text))
    timer = QTimer(interval=20)
    timer.timeout.connect(lambda: turns.append(writer.space.is_saving))
    timer.start()
    writer.write("mine")
    assert writer.files.save()
    timer.stop()
    assert turns.count(True) > 3
    assert said == ["Saving shared.gradstep…", "Saved shared.gradstep"]
    assert not writer.space.is_saving


@pytest.mark.slow
def test_the_window_says_it_and_shows_what_is_different(
    driver: Driver, path: Path, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The banner, the comparison and the question, by the mouse."""
    document = gradstep_file.load(examples / "tutorial.gradstep")
    gradstep_file.save(path, document)
    driver.open(path)
    commands.add_node(driver.workspace, "Tanh", (0.0, 0.0), "mine")
    gradstep_file.save(path, document.with_(title="theirs"))
    driver.window.watch.look()
    banner = driver.window.banners.file
    driver.wait(banner.isVisible, "the banner")
    assert "changed by another program, and there are unsaved edits" in banner.label.text()
    seen: list[str] = []

    def close() -> None:
        for widget in QApplication.topLevelWidgets():
            if isinstance(widget, DifferencesDialog):
                top = [widget.tree.topLevelItem(i) for i in range(widget.tree.topLevelItemCount())]
                seen.extend(item.child(0).text(0) for item in top)
                widget.reject()

    QTimer.singleShot(300, close)
    driver.click("banner.file.compare")
    assert seen == ["+ node mine (Tanh)", "~ title"]

    def cancel() -> None:
        (box,) = (w for w in QApplication.topLevelWidgets() if isinstance(w, QMessageBox))
        assert path.name in box.text()
        assert {b.text() for b in box.findChildren(QPushButton)} >= {"Overwrite", "Reload"}
        box.reject()

    QTimer.singleShot(300, cancel)
    assert not driver.window.files.save()
    driver.click("banner.file.reload")
    driver.wait(lambda: not banner.isVisible(), "the banner to go")
    assert driver.workspace.document.title == "theirs"
    monkeypatch.setattr(unsaved_dialog, "ask", lambda *_: unsaved_dialog.Answer.DISCARD)
