"""Unsaved work on disk within half a second of each edit; and finding it again."""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QObject

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io import edit_journal
from gradstep.core.io.disk import atomic_write, in_place_write
from gradstep.core.io.disk.file_claims import Claim
from gradstep.core.io.edit_journal import JournalNote
from gradstep.core.io.native.journal_writer import Keeper, lock_of
from gradstep.gui.model.settings import settings, state_folder
from gradstep.gui.model.thread_calls import ThreadCalls
from gradstep.gui.model.workspace import UNTITLED, Workspace

NOT_KEPT = "Unsaved work is not being kept"
KEPT_AGAIN = "Unsaved work is kept again"


@dataclass
class Recovered:
    """Unsaved work that a window left behind when it ended badly.

    name:   what it was called, by its file or by what it was made from; UNTITLED for neither.
    digest: of what the document's own file held for that window; see
    gradstep.core.io.disk.file_stamp.
    """

    copy: Path
    path: Path | None
    when: datetime
    name: str = UNTITLED
    digest: str = ""
    _claim: Claim | None = field(default=None, compare=False)

    def take(self) -> bool:
        """Make it this process's: no other offers it meanwhile. False where one has it already."""
        try:
            self._claim = self._claim or Claim.take(lock_of(self.copy))
        except OSError:
            return False
        return self._claim is not None and self.copy.exists()

    def read(self) -> Document:
        """The document. Raises GradstepError."""
        return edit_journal.read(self.copy)[1]

    def leave(self) -> None:
        """Let others have it."""
        if self._claim is not None:
            self._claim.release()
            self._claim = None

    def discard(self) -> None:
        """Delete it, unless another process has it now."""
        if self.take():
            self.copy.unlink(missing_ok=True)
        self.leave()


class Autosave(QObject):
    """Keeps the open document in a journal while it has unsaved edits. An edit costs the window's
    thread the handing over of a frozen document."""

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        name = f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(6)}.journal"
        self._calls = ThreadCalls(self)
        self._keeper = Keeper(folder() / name, self._calls.keep(self._tell))
        self._is_over = False
        workspace.document_changed.connect(self._keep)
        workspace.file_changed.connect(self._keep)
        workspace.document_opened.connect(self._keep)

    @property
    def journal(self) -> Path:
        """Where unsaved work of this window is, while there is any."""
        return self._keeper.path

    def save_now(self) -> bool:
        """Wait until all that is unsaved is on disk; whether it is."""
        return self._keeper.flush()

    def take_over(self, found: Recovered) -> None:
        """The document that is open now is `found`, which goes once this journal has it."""
        held = self._calls.keep(found.discard, once=True)
        self._keeper.keep(self._workspace.document, self._note(), held)

    def close(self, leave: bool = False) -> None:
        """The window ends. leave: with unsaved work, for the next start to offer."""
        if not self._is_over:
            self._is_over = True
            self._keeper.close(leave)

    def _keep(self, *_: object) -> None:
        if self._is_over:
            return
        if self._workspace.is_changed:
            self._keeper.keep(self._workspace.document, self._note())
        else:
            self._keeper.forget()

    def _note(self) -> JournalNote:
        workspace = self._workspace
        path = "" if workspace.path is None else str(workspace.path.absolute())
        digest = "" if workspace.disk is None else workspace.disk.digest
        return JournalNote(path, workspace.name, digest, workspace.recovered_from)

    def _tell(self, error: GradstepError | None) -> None:
        if error is None:
            self._workspace.say(KEPT_AGAIN)
        else:
            self._workspace.say(
                f"{NOT_KEPT} ({error.message}). Save the document, or free some space; it is tried "
                "again.",
                "warning",
            )


def left_behind() -> list[Recovered]:
    """What windows that are gone did not save, the latest first."""
    notes = {path: _read_note(path) for path in folder().glob("*.journal")}
    held_elsewhere = {note.before for note in notes.values()}
    found = []
    for path, note in notes.items():
        own = Path(note.path) if note.path else None
        name = own.name if own is not None else note.name or UNTITLED
        one = Recovered(path, own, datetime.fromtimestamp(_time(path)), name, note.digest)
        if not one.take():
            continue  # its window is still there
        if path.name in held_elsewhere:
            one.discard()
        else:
            one.leave()
            found.append(one)
    return sorted(found, key=lambda one: one.when, reverse=True)


def tidy(folders: Iterable[Path]) -> None:
    """Complete or remove what processes that died left half done, in these folders of documents and
    in Gradstep's own. Touches no Qt object."""
    in_place_write.finish()
    for each in {folder(), *folders}:
        atomic_write.remove_parts(each)
    for lock in folder().glob("*.lock"):
        if not lock.with_suffix(".journal").exists() and (claim := Claim.take(lock)) is not None:
            claim.release()


def places() -> set[Path]:
    """Folders in which Gradstep wrote, as far as it remembers."""
    from gradstep.core.program.trust.code_trust import store

    return {store().path.parent, *(path.parent for path in settings().recent)}


def folder() -> Path:
    """Where unsaved work is."""
    return state_folder() / "unsaved"


def _time(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _read_note(path: Path) -> JournalNote:
    try:
        return edit_journal.read_note(path)
    except GradstepError:
        return JournalNote()
