"""Documents and their files: new, open, save, close, and what may be lost on the way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.file_stamp import FileChangedError, OnDisk, look
from gradstep.core.io.disk.memory_budget import DEFAULT, OverBudgetError, enough_for
from gradstep.core.io.formats.gradstep_document import SUFFIX
from gradstep.core.io.left_out import left_out_sentence
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.gui.dialogs import confirm_dialog, conflict_dialog, file_filters, unsaved_dialog
from gradstep.gui.dialogs.file_choice import ask_open, ask_save, remember_folder
from gradstep.gui.dialogs.large_file_dialog import LargeFileDialog
from gradstep.gui.model.autosave import Autosave, Recovered
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.file_loader import first_seen
from gradstep.gui.model.responsive_wait import wait_for
from gradstep.gui.model.settings import settings
from gradstep.gui.model.workspace import Failed, Workspace

Reading = Callable[[Failed, int], None]  # who hears of a failure; bytes that it may take


class Files(QObject):
    """The window's file commands. Each returns whether it went through."""

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(window)
        self._workspace, self._window = workspace, window
        self._background = Background(self)

    def new(self) -> bool:
        """An empty document."""
        if not self.may_leave():
            return False
        self._workspace.open_document(Document())
        return True

    def open(
        self,
        path: Path | None = None,
        then: Callable[[], None] = lambda: None,
        limit: int = DEFAULT,
    ) -> bool:
        """Show a file, asking which one if need be. limit: bytes of memory that it may take until
        the user is asked."""
        if not (self._may_end_runs() if self._is_shown(path) else self.may_leave()):
            return False
        if path is None:
            path = ask_open(self._window, "open", "Open", file_filters.open_filter())
            if path is None:
                return False
        if not path.exists():
            settings().drop_recent(path)
        chosen = path.absolute()

        def opened() -> None:
            if EXAMPLES not in chosen.parents:
                settings().add_recent(chosen)
                remember_folder("open", chosen)
            then()

        self._within_memory(
            chosen.name,
            lambda failed, limit: self._workspace.open_path(chosen, opened, failed, limit),
            limit,
        )
        return True

    def recover(
        self, found: Recovered, autosave: Autosave, then: Callable[[], None] = lambda: None
    ) -> bool:
        """Show unsaved work again, as unsaved work of its own file. Its copy goes when this
        window's journal has it, so that it is on disk at every moment."""
        if not (self.may_leave() and found.take()):
            return False

        def opened() -> None:
            autosave.take_over(found)
            then()

        disk = OnDisk(found.digest) if found.path is not None else None
        self._workspace.recover(
            found.read, found.path, found.name, disk, found.copy.name, opened, found.leave
        )
        return True

    def save(self) -> bool:
        """Write the document to its file, or to a new one."""
        path = self._workspace.path
        return self._write(path, self._workspace.disk) if path is not None else self.save_as()

    def save_as(self) -> bool:
        """Write the document to a file that the user names."""
        start = self._workspace.path or Path(self._workspace.name).with_suffix(SUFFIX)
        named, complete = file_filters.save_filter(), file_filters.with_own_suffix
        path = ask_save(self._window, "save", "Save as", start, named, complete)
        return path is not None and self._write(path)

    def export(self, picture: Callable[[str], bytes]) -> bool:
        """Write the graph in another format, or as a picture: `picture(suffix)` is its file. Other
        formats are written beside the main thread; whether it began."""
        from gradstep.core.data.first_batch import write_exported
        from gradstep.core.io.disk import atomic_write
        from gradstep.core.io.format_table import format_written_as, suffix_written

        start = Path(self._workspace.name).with_suffix(".png")
        named, complete = file_filters.export_filter(), file_filters.with_suffix_of
        path = ask_save(self._window, "export", "Export", start, named, complete)
        if path is None:
            return False
        suffix = suffix_written(path)
        try:
            if format_written_as(suffix).is_drawn:
                atomic_write.replace_file(path, picture(suffix))
                self._exported(path)
                return True
        except GradstepError as error:
            self._workspace.complain(error)
            return False
        document = self._workspace.document
        self._workspace.say(f"Exporting to {path}")
        self._background.run(
            partial(write_exported, path, document),
            lambda lacks: self._exported(path, lacks),
            self._workspace.complain,
        )
        return True

    def _exported(self, path: Path, lacks: Sequence[str] = ()) -> None:
        """lacks: what the file is without, in words."""
        self._workspace.say(f"Exported to {path}")
        if lacks:
            self._workspace.say(left_out_sentence(path.name, lacks), "warning")

    def close(self) -> bool:
        """Show the start page."""
        if not self.may_leave():
            return False
        self._workspace.close_document()
        return True

    def may_leave(self) -> bool:
        """Whether the document, and what was trained here, may be given up."""
        return self._may_lose_edits() and self._may_end_runs()

    def _may_lose_edits(self) -> bool:
        """Whether the document may be given up: it is saved, or the user says so."""
        workspace = self._workspace
        self._look()
        if not workspace.is_changed:
            return True
        answer = unsaved_dialog.ask(self._window, workspace.name, workspace.found_on_disk)
        if answer is unsaved_dialog.Answer.SAVE:
            return self.save()
        return answer is unsaved_dialog.Answer.DISCARD

    def _is_shown(self, path: Path | None) -> bool:
        """Whether it is the file that is open, without an edit: opening it shows what it holds now,
        which is what was asked for."""
        workspace = self._workspace
        return path is not None and path.absolute() == workspace.path and not workspace.has_edits

    def _may_end_runs(self) -> bool:
        """Whether what was trained here may go: it took no time, or the user says so."""
        workspace = self._workspace
        return not workspace.sessions.took_long() or confirm_dialog.confirm(
            self._window,
            "Trained values",
            f"Close {workspace.name}, and lose what its variables have learned?",
            "A document keeps what variables start with, and not what runs make of them. To keep "
            "it, open the document in another window (File > New window) and take the values "
            "there by Sessions > Copy values…; gradstep train --checkpoint DIR keeps those of a "
            "training.",
            "Close",
            "Keep it open",
        )

    def _look(self) -> None:
        """See what the file holds now: not every file system tells that it was changed."""
        path, known = self._workspace.path, self._workspace.disk
        if path is not None and known is not None:
            self._workspace.notice_file(wait_for(lambda: look(path, known)))

    def _within_memory(self, name: str, read: Reading, limit: int = DEFAULT) -> None:
        """Read a file, and ask before it takes more memory than files do."""

        def failed(error: GradstepError) -> None:
            if not isinstance(error, OverBudgetError):
                self._workspace.complain(error)
                return
            more = partial(self._within_memory, name, read, enough_for(error))
            LargeFileDialog(self._workspace, name, error, more, self._window).open()

        read(failed, limit)

    def reload(self) -> None:
        """Show what the file holds now in place of the edits; undo brings these back."""
        self._with_file(self._workspace.reload)

    def compare(self) -> None:
        """Show what the file holds otherwise than the window."""
        from gradstep.core.io.native.diff_sentences import changes
        from gradstep.gui.dialogs.differences_dialog import DifferencesDialog

        workspace = self._workspace

        def show(document: Document, _: OnDisk) -> None:
            found = wait_for(lambda: changes(document, workspace.document))
            DifferencesDialog(workspace, workspace.name, found, self._window).exec()

        self._with_file(show)

    def keep_mine(self, disk: OnDisk) -> None:
        """The user knows that the file holds something else, and goes on here."""
        self._workspace.keep_mine(disk)

    def _with_file(self, do: Callable[[Document, OnDisk], None]) -> None:
        path = self._workspace.path
        if path is None:
            return

        def read() -> tuple[OnDisk, Document]:
            return look(path), first_seen(path)

        try:
            disk, document = wait_for(read, partial(self._remark, f"Reading {path.name}…"))
        except GradstepError as error:
            self._workspace.complain(error)
        else:
            do(document, disk)

    def _write(self, path: Path, expected: OnDisk | None = None) -> bool:
        """expected: what the file must hold still; whatever it is where none is given."""
        workspace, document = self._workspace, self._workspace.document
        try:
            disk = self._save(path, document, expected)
        except FileChangedError as error:
            return self._settle(path, error.found)
        except GradstepError as error:
            error.hint = error.hint or "choose another place with Save as…"
            workspace.complain(error)
            return False
        workspace.saved(path.absolute(), disk, document)
        settings().add_recent(path)
        workspace.say(f"Saved {path.name}")
        return True

    def _save(self, path: Path, document: Document, expected: OnDisk | None) -> OnDisk:
        """For ten thousand nodes it takes most of a second: the window is painted meanwhile."""
        from gradstep.core.io.native import gradstep_file

        self._workspace.is_saving = True
        try:
            return wait_for(
                lambda: gradstep_file.save(path, document, expected),
                partial(self._remark, f"Saving {path.name}…"),
            )
        finally:
            self._workspace.is_saving = False

    def _settle(self, path: Path, found: OnDisk) -> bool:
        """Somebody else changed the file: what the user wants. Whether the document is saved."""
        answers = conflict_dialog.Answer
        answer = answers.COMPARE
        while answer is answers.COMPARE:
            answer = conflict_dialog.ask(self._window, path.name, found.is_there)
            if answer is answers.COMPARE:
                self.compare()
        if answer is answers.OVERWRITE:
            return self._write(path, found)
        if answer is answers.SAVE_AS:
            return self.save_as()
        if answer is answers.RELOAD:
            self.reload()
        return False

    def _remark(self, text: str) -> None:
        self._workspace.say(text)
