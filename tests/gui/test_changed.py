"""Whether a document is 'changed': if, and only if, it holds work that its file does not."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

import hypothesis.strategies as st
import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from PySide6.QtWidgets import QApplication, QFileDialog, QWidget

from gradstep.core.document import document_edits
from gradstep.core.document.document import Document
from gradstep.core.io import edit_journal
from gradstep.core.io.disk.file_stamp import look
from gradstep.core.io.edit_journal import EditJournal, JournalNote
from gradstep.core.io.native import gradstep_file
from gradstep.gui import commands
from gradstep.gui.actions import action_record
from gradstep.gui.automation.driver import Driver
from gradstep.gui.dialogs import unsaved_dialog
from gradstep.gui.frame.document_files import Files
from gradstep.gui.model.autosave import Autosave, Recovered
from gradstep.gui.model.workspace import Workspace

NAMES = st.sampled_from(["a", "b", "s/c"])


def work_in(document: Document) -> bytes:
    """All that the document's file would hold, but for what is only looked at."""
    view = replace(document.view, collapsed=frozenset())
    return gradstep_file.to_bytes(document.with_(breakpoints=(), view=view))


def document_with(*names: str) -> Document:
    document = Document()
    for name in names:
        document, _ = document_edits.add_operation(document, "VariableV2", (0.0, 0.0), name)
    return document


def left_by_a_window(folder: Path, path: Path | None) -> Recovered:
    copy = folder / "copy.journal"
    writing = EditJournal(copy)
    writing.keep(document_with("kept"), JournalNote(str(path or "")))
    writing.leave()
    digest = "" if path is None else look(path).digest
    return Recovered(copy, path, datetime.now(), digest=digest)


class Changing(RuleBasedStateMachine):
    """The window's file commands, on two files, in any order. `held` is what the disk holds of the
    open document; None for recovered work, which it holds only in part."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        self.paths = [Path(self.folder.name) / f"{name}.gradstep" for name in "xy"]
        for number, path in enumerate(self.paths):
            gradstep_file.save(path, document_with(*("a", "d", "e")[number:]))
        self.space, self.window = Workspace(), QWidget()
        self.files = Files(self.space, self.window)
        self.autosave = Autosave(self.space, self.window)
        self.answer = unsaved_dialog.Answer.DISCARD
        self.asked = False
        self.chosen = self.paths[0]
        self.patch = pytest.MonkeyPatch()
        self.patch.setattr(unsaved_dialog, "ask", self._ask)
        self.patch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(self.chosen), ""))
        self.held: bytes | None = work_in(Document())
        self.new()

    def _ask(self, *_: object) -> unsaved_dialog.Answer:
        self.asked = True
        return self.answer

    # -- files --------------------------------------------------------------------------------

    @rule()
    def new(self) -> None:
        self.files.new()
        self.held = work_in(Document())

    @rule(which=st.integers(0, 1))
    def open(self, which: int) -> None:
        self._load(lambda: self.files.open(self.paths[which]))
        self.held = work_in(gradstep_file.load(self.paths[which]))

    @precondition(lambda self: self.space.is_open)
    @rule()
    def close(self) -> None:
        self.files.close()
        self.held = work_in(Document())

    @precondition(lambda self: self.space.is_open)
    @rule(which=st.integers(0, 1))
    def save_as(self, which: int) -> None:
        self.chosen = self.paths[which]
        assert self.files.save_as()
        self.held = work_in(gradstep_file.load(self.chosen))

    @precondition(lambda self: self.space.path)
    @rule()
    def save(self) -> None:
        assert self.files.save()
        self.held = work_in(gradstep_file.load(self.space.path))

    @rule(which=st.none() | st.integers(0, 1))
    def recover(self, which: int | None) -> None:
        path = None if which is None else self.paths[which]
        found = left_by_a_window(Path(self.folder.name), path)
        self._load(lambda: self.files.recover(found, self.autosave))
        assert self.autosave.save_now()
        self._let_live(lambda: not found.copy.exists())
        self.held = None

    @precondition(lambda self: self.space.is_open)
    @rule(answer=st.sampled_from(unsaved_dialog.Answer))
    def leave(self, answer: unsaved_dialog.Answer) -> None:
        """The question comes if there is something to lose, and only then."""
        self.answer, self.asked, self.chosen = answer, False, self.paths[0]
        changed = self.space.is_changed
        left = self.files.may_leave()
        assert self.asked == changed
        assert left == (not changed or answer is not unsaved_dialog.Answer.CANCEL)
        if changed and answer is unsaved_dialog.Answer.SAVE:
            self.held = work_in(gradstep_file.load(self.space.path))
        self.answer = unsaved_dialog.Answer.DISCARD

    # -- edits --------------------------------------------------------------------------------

    @precondition(lambda self: self.space.is_open)
    @rule(name=NAMES)
    def add(self, name: str) -> None:
        commands.add_node(self.space, "VariableV2", (0.0, 0.0), name)

    @precondition(lambda self: self.space.document.graph.operations)
    @rule(data=st.data())
    def remove(self, data: st.DataObject) -> None:
        commands.remove_nodes(self.space, [self._some(data)])

    @precondition(lambda self: self.space.document.graph.operations)
    @rule(data=st.data(), x=st.integers(0, 1))
    def move(self, data: st.DataObject, x: int) -> None:
        commands.move_nodes(self.space, {self._some(data): (80.0 * x, 0.0)})

    @precondition(lambda self: self.space.document.graph.operations)
    @rule(data=st.data())
    def toggle_breakpoint(self, data: st.DataObject) -> None:
        before = self.space.is_changed
        commands.toggle_breakpoint(self.space, self._some(data))
        assert self.space.is_changed == before
        assert action_record.can_save(self.space) or self.space.document is self.space.on_disk

    @precondition(lambda self: self.space.is_open)
    @rule()
    def fold(self) -> None:
        before, view = self.space.is_changed, self.space.document.view
        folded = replace(view, collapsed=view.collapsed ^ {"s"})
        self.space.edit("Fold", self.space.document.with_(view=folded))
        assert self.space.is_changed == before

    @rule()
    def undo(self) -> None:
        self.space.undo_stack.undo()

    @rule()
    def redo(self) -> None:
        self.space.undo_stack.redo()

    # -- what holds ---------------------------------------------------------------------------

    @invariant()
    def unsaved_work_is_on_disk(self) -> None:
        assert self.autosave.save_now()
        assert self.autosave.journal.exists() == self.space.is_changed
        if self.space.is_changed:
            note, kept = edit_journal.read(self.autosave.journal)
            assert gradstep_file.to_bytes(kept) == gradstep_file.to_bytes(self.space.document)
            assert note.path == (str(self.space.path) if self.space.path else "")

    @invariant()
    def changed_means_that_the_file_lacks_work(self) -> None:
        lacks = self.held is None or work_in(self.space.document) != self.held
        assert self.space.is_changed == lacks

    def _some(self, data: st.DataObject) -> str:
        return data.draw(st.sampled_from(sorted(self.space.document.graph.operations)))

    def _load(self, begin: Callable[[], object]) -> None:
        opened: list[bool] = []
        connection = self.space.document_opened.connect(lambda: opened.append(True))
        begin()
        self._let_live(lambda: bool(opened))
        self.space.document_opened.disconnect(connection)
        QApplication.processEvents()

    def _let_live(self, until: Callable[[], bool]) -> None:
        end = time.monotonic() + 30
        while not until() and time.monotonic() < end:
            QApplication.processEvents()
        assert until()

    def teardown(self) -> None:
        self.patch.undo()
        self.autosave.close()
        self.space.close()
        self.folder.cleanup()


@pytest.mark.slow
def test_changed(silent: None) -> None:
    run_state_machine_as_test(
        Changing, settings=hypothesis_settings(max_examples=12, stateful_step_count=25)
    )


@pytest.fixture
def left(tmp_path: Path) -> Recovered:
    """Unsaved work that a window left behind."""
    return left_by_a_window(tmp_path, tmp_path / "mine.gradstep")


@pytest.mark.slow
def test_after_a_recovery_other_documents_are_as_saved(
    driver: Driver, left: Recovered, examples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unsaved_dialog, "ask", lambda *_: unsaved_dialog.Answer.DISCARD)
    driver.window.banners.offer(left, lambda: driver.window.recover(left), left.discard)
    driver.click("banner.recovery.open")
    driver.wait(lambda: driver.workspace.is_open, "the recovered document")
    assert driver.window.isWindowModified()
    assert driver.window.autosave.save_now()
    driver.wait(lambda: not left.copy.exists(), "the copy to go")
    for name in ("nan_gradient", "tutorial"):
        driver.open(examples / f"{name}.gradstep")
        assert not driver.window.isWindowModified()
        assert driver.window.files.may_leave()


@pytest.mark.slow
def test_recovered_work_is_kept_again_before_its_copy_goes(driver: Driver, left: Recovered) -> None:
    driver.window.recover(left)
    driver.wait(lambda: driver.workspace.is_open, "the recovered document")
    assert left.copy.exists() or driver.window.autosave.journal.exists()
    driver.wait(lambda: not left.copy.exists(), "the copy to go")
    assert "kept" in edit_journal.read(driver.window.autosave.journal)[1].graph


@pytest.mark.slow
def test_a_breakpoint_can_be_saved_and_asks_nothing(tutorial: Driver, tmp_path: Path) -> None:
    path = tmp_path / "mine.gradstep"
    gradstep_file.save(path, tutorial.workspace.document)
    tutorial.open(path)
    tutorial.workspace.select(["e"])
    tutorial.key("F9")
    assert not tutorial.window.isWindowModified()
    assert tutorial.window.files.may_leave()
    tutorial.key("Ctrl+S")
    assert {b.target for b in gradstep_file.load(path).breakpoints} == {"e"}
    assert not tutorial.window.actions_["file.save"].isEnabled()


def test_work_that_is_taken_back_by_hand_is_none(silent: None) -> None:
    space = Workspace()
    space.open_document(document_with("d"))
    commands.add_node(space, "VariableV2", (0.0, 0.0), "a")
    assert space.is_changed
    commands.remove_nodes(space, ["a"])
    assert not space.is_changed
    space.close()
