"""Unsaved work survives: each edit is on disk within a second, and offered after a bad end."""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QApplication

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.io import edit_journal
from gradstep.core.io.disk.file_claims import Claim
from gradstep.core.io.edit_journal import EditJournal, JournalNote
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.native.journal_writer import lock_of
from gradstep.gui import commands
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs import confirm_dialog
from gradstep.gui.frame import open_windows
from gradstep.gui.model import autosave
from gradstep.gui.model.workspace import Workspace

pytestmark = pytest.mark.new_window  # a window's journal is of its whole life


def journals() -> list[Path]:
    return sorted(autosave.folder().glob("*.journal"))


def add(space: Workspace, name: str) -> None:
    commands.add_node(space, "Tanh", (0.0, 0.0), name)


def leave(name: str, document: Document, note: JournalNote) -> Path:
    """What a window that was killed left behind."""
    autosave.folder().mkdir(parents=True, exist_ok=True)
    writing = EditJournal(autosave.folder() / f"{name}.journal")
    writing.keep(document, note)
    writing.leave()
    return writing.path


@pytest.fixture
def left(tmp_path: Path, examples: Path) -> Path:
    document = gradstep_file.load(examples / "tutorial.gradstep")
    kept = document_edits.add_operation(document, "Tanh", (0.0, 0.0), "kept")[0]
    return leave("left", kept, JournalNote(str(tmp_path / "mine.gradstep")))


@pytest.fixture
def space(silent: None) -> Iterator[Workspace]:
    """A document without a window, whose edits are kept."""
    space = Workspace()
    space.open_document(Document())
    yield space
    space.close()


@pytest.fixture
def kept(space: Workspace) -> Iterator[autosave.Autosave]:
    keeping = autosave.Autosave(space)
    yield keeping
    keeping.close()


def in_journal(keeping: autosave.Autosave) -> bytes:
    return gradstep_file.to_bytes(edit_journal.read(keeping.journal)[1])


@pytest.mark.slow
def test_each_edit_is_on_disk_within_a_second(space: Workspace, kept: autosave.Autosave) -> None:
    for number in range(3):
        add(space, f"t{number}")
        end = time.monotonic() + 1
        while not (
            kept.journal.exists() and in_journal(kept) == gradstep_file.to_bytes(space.document)
        ):
            assert time.monotonic() < end
            time.sleep(0.02)


def test_undo_and_redo_are_kept_like_edits(space: Workspace, kept: autosave.Autosave) -> None:
    add(space, "a")
    add(space, "b")
    space.undo_stack.undo()
    assert kept.save_now()
    assert in_journal(kept) == gradstep_file.to_bytes(space.document)
    space.undo_stack.redo()
    commands.move_nodes(space, {"a": (8.0, 9.0)})
    assert kept.save_now()
    assert in_journal(kept) == gradstep_file.to_bytes(space.document)
    space.undo_stack.setIndex(0)
    assert kept.save_now()
    assert not kept.journal.exists()


def test_an_edit_costs_the_window_next_to_nothing(
    space: Workspace, kept: autosave.Autosave, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing of it is done on the window's thread."""
    import threading

    threads = set()
    begin = EditJournal.keep

    def keep(self: EditJournal, document: Document, note: JournalNote) -> None:
        threads.add(threading.current_thread())
        begin(self, document, note)

    monkeypatch.setattr(EditJournal, "keep", keep)
    add(space, "a")
    assert kept.save_now()
    assert threads
    assert threading.main_thread() not in threads


def test_a_full_disk_is_said_once_and_tried_again(
    space: Workspace, kept: autosave.Autosave, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[str, str]] = []
    space.message.connect(lambda *words: said.append(words))
    add(space, "a")
    assert kept.save_now()

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("gradstep.core.io.native.journal_writer.AGAIN", 0.05)
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        for name in "bcd":
            add(space, name)
            assert not kept.save_now()
            QApplication.processEvents()
        assert [level for level, _ in said] == ["warning"]
        assert "No space left" in said[0][1]
        assert "a" in edit_journal.read(kept.journal)[1].graph
    end = time.monotonic() + 5
    while len(said) < 2 and time.monotonic() < end:
        QApplication.processEvents()
    assert said[1:] == [("info", autosave.KEPT_AGAIN)]
    assert in_journal(kept) == gradstep_file.to_bytes(space.document)


def test_two_windows_never_take_each_others(space: Workspace, kept: autosave.Autosave) -> None:
    other = autosave.Autosave(space)
    add(space, "a")
    assert kept.save_now()
    assert other.save_now()
    assert len({kept.journal, other.journal, *journals()}) == 2
    assert autosave.left_behind() == []
    other.close(leave=True)
    (found,) = autosave.left_behind()
    assert found.copy == other.journal
    assert found.take()
    assert autosave.left_behind() == []
    assert not autosave.Recovered(found.copy, None, found.when).take()
    found.discard()
    assert journals() == [kept.journal]


def test_what_was_recovered_and_is_kept_again_is_offered_once(left: Path) -> None:
    """A crash between the two: the newer one holds all of it."""
    leave("newer", Document(), JournalNote(before=left.name))
    (found,) = autosave.left_behind()
    assert found.copy.name == "newer.journal"
    assert not left.exists()


@pytest.mark.slow
def test_nothing_is_kept_of_what_is_saved(tutorial: Driver, tmp_path: Path) -> None:
    tutorial.window.autosave.save_now()
    assert journals() == []
    add(tutorial.workspace, "t")
    tutorial.window.autosave.save_now()
    assert len(journals()) == 1
    tutorial.workspace.path = tmp_path / "t.gradstep"
    assert tutorial.window.files.save()
    tutorial.window.autosave.save_now()
    assert journals() == []
    add(tutorial.workspace, "u")
    tutorial.window.autosave.save_now()
    tutorial.window.discard()
    assert journals() == []
    assert list(autosave.folder().iterdir()) == []


@pytest.mark.slow
def test_the_end_of_the_session_leaves_the_work(tutorial: Driver) -> None:
    add(tutorial.workspace, "t")
    open_windows.end_all()
    (found,) = autosave.left_behind()
    assert "t" in found.read().graph


@pytest.mark.slow
def test_recovered_work_comes_back_as_unsaved_work_of_its_file(
    driver: Driver, left: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From its first byte on the new journal names the one whose work it holds."""
    seen: set[str] = set()
    begin = EditJournal.keep
    monkeypatch.setattr(
        EditJournal,
        "keep",
        lambda self, document, note: (seen.add(note.before), begin(self, document, note)),
    )
    driver.window.workspace.document_opened.connect(driver.window.autosave.save_now)
    driver.window.offer_recovery()
    banner = driver.window.banners.recovery
    assert banner.isVisible()
    assert "mine.gradstep" in banner.label.text()
    driver.click("banner.recovery.open")
    driver.wait(lambda: driver.workspace.is_open, "the recovered document")
    assert "kept" in driver.workspace.document.graph
    assert driver.workspace.path == tmp_path / "mine.gradstep"
    assert driver.window.isWindowModified()
    driver.wait(lambda: not left.exists(), "the copy to go")
    assert "kept" in edit_journal.read(driver.window.autosave.journal)[1].graph
    assert seen == {left.name}


@pytest.mark.slow
def test_recovered_and_killed_before_anything_newer_is_on_disk(
    driver: Driver, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that takes nothing: the copy stays, for the next start."""

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(EditJournal, "_begin", full)
        driver.window.offer_recovery()
        driver.click("banner.recovery.open")
        driver.wait(lambda: driver.workspace.is_open, "the recovered document")
        assert not driver.window.autosave.save_now()
        driver.settle()
        assert "kept" in edit_journal.read(left)[1].graph
        assert autosave.left_behind() == []  # this process has it


def test_all_that_was_left_is_offered_one_after_the_other(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = [False, True, True]
    monkeypatch.setattr(confirm_dialog, "confirm", lambda *_: answers.pop(0))
    for name in ("one.pb", "two.pb"):
        leave(name[:3], Document(note=name), JournalNote(name=name))
    driver.window.offer_recovery()
    text = driver.window.banners.recovery.label.text
    assert "1 more follows." in text()
    first = "one.pb" if "one.pb" in text() else "two.pb"
    driver.click("banner.recovery.discard")
    assert first in text(), "it was a click beside the other button"
    assert len(journals()) == 2
    driver.click("banner.recovery.discard")
    assert first not in text()
    assert "follows" not in text()
    assert driver.window.banners.recovery.isVisible()
    driver.click("banner.recovery.discard")
    assert journals() == []
    assert not driver.window.banners.recovery.isVisible()
    assert not driver.workspace.is_open


@pytest.mark.slow
def test_where_there_is_unsaved_work_it_gets_a_window_of_its_own(
    tutorial: Driver, left: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Beside:
        autosave, files = "its own", SimpleNamespace()

    taken: list[object] = []
    Beside.files.recover = lambda found, keep, then: taken.append((found.copy, keep)) or True
    monkeypatch.setattr(tutorial.window, "open_beside", lambda: Beside)
    add(tutorial.workspace, "t")
    tutorial.window.offer_recovery()
    tutorial.click("banner.recovery.open")
    assert taken == [(left, "its own")]
    assert "t" in tutorial.workspace.document.graph


@pytest.mark.slow
def test_recovered_work_on_an_imported_graph_keeps_its_name(driver: Driver) -> None:
    leave("x", Document(), JournalNote(name="resnet.pb"))
    driver.window.offer_recovery()
    assert "resnet.pb" in driver.window.banners.recovery.label.text()
    driver.click("banner.recovery.open")
    driver.wait(lambda: driver.workspace.is_open, "the recovered document")
    assert (driver.workspace.name, driver.workspace.path) == ("resnet.pb", None)
    driver.window.autosave.save_now()
    (copy,) = {*journals()} - {autosave.folder() / "x.journal"}
    assert edit_journal.read_note(copy).name == "resnet.pb"


def test_damaged_work_is_said_and_stays(driver: Driver, left: Path) -> None:
    left.write_bytes(left.read_bytes()[:40])
    driver.window.offer_recovery()
    driver.click("banner.recovery.open")
    driver.wait(driver.window.banners.message.isVisible, "a message")
    assert "no unsaved work that can be read" in driver.window.banners.message.label.text()
    assert left.exists()


def test_a_claimed_journal_is_somebodys(left: Path) -> None:
    claim = Claim.take(lock_of(left))
    assert claim is not None
    assert autosave.left_behind() == []
    claim.release()
    assert [found.copy for found in autosave.left_behind()] == [left]


def test_what_died_half_done_is_removed(left: Path, tmp_path: Path) -> None:
    part = tmp_path / f".a.gradstep.{'0' * 16}.gradstep-part"
    part.write_bytes(b"half")
    stale = autosave.folder() / "gone.lock"
    stale.touch()
    autosave.tidy([tmp_path])
    assert not part.exists()
    assert not stale.exists()
    assert left.exists()
