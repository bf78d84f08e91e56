"""Unsaved work on disk, so that a crash costs at most a minute; and finding it again."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import msgspec
from PySide6.QtCore import QLockFile, QObject, QTimer

from core.errors import GradstepError
from core.io import atomic, store
from gui.settings import state_folder
from gui.workspace import UNTITLED, Workspace

INTERVAL = 60_000  # milliseconds
EDITS = 20


class _Note(msgspec.Struct, frozen=True):
    """Beside each copy: whose it is."""

    path: str = ""  # the document's own file; empty for one that was never saved
    name: str = ""  # what that one is called: by the graph that was imported, perhaps


@dataclass(frozen=True)
class Recovered:
    """Unsaved work that a window left behind when it ended badly. name: what it was called, by
    its file or by what it was made from; UNTITLED for neither."""

    copy: Path
    path: Path | None
    when: datetime
    name: str = UNTITLED

    def discard(self) -> None:
        """Delete it."""
        for file in (self.copy, _note_of(self.copy), _lock_of(self.copy)):
            file.unlink(missing_ok=True)


class Autosave(QObject):
    """Keeps a copy of the open document while it has unsaved edits."""

    def __init__(self, workspace: Workspace, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._workspace = workspace
        self._edits = 0
        self._copy = _folder() / f"{os.getpid()}-{id(self):x}.gradstep"
        self._lock = QLockFile(str(_lock_of(self._copy)))
        self._lock.setStaleLockTime(0)
        self._timer = QTimer(self, interval=INTERVAL)
        self._timer.timeout.connect(self.save_now)
        self._timer.start()
        workspace.document_changed.connect(self._count)
        workspace.file_changed.connect(self._forget_when_saved)
        workspace.document_opened.connect(self._forget_when_saved)

    def save_now(self) -> bool:
        """Write the copy if there is anything unsaved; whether all is kept now. A disk that cannot
        take it is not worth an interruption: the next attempt follows."""
        self._edits = 0
        if not self._workspace.is_changed:
            return True
        try:
            self._copy.parent.mkdir(parents=True, exist_ok=True)
            if not self._lock.isLocked():
                self._lock.tryLock(0)
            path = self._workspace.path
            own = "" if path is None else str(path.absolute())
            note = _Note(own, self._workspace.name)
            atomic.replace_file(_note_of(self._copy), msgspec.json.encode(note))
            atomic.replace_file(
                self._copy, store.to_bytes(self._workspace.document, readable=False)
            )
        except (GradstepError, OSError):
            import logging

            logging.getLogger(__name__).warning("unsaved work could not be copied", exc_info=True)
            return False
        return True

    def close(self) -> None:
        """The window ends well: nothing is left behind."""
        self._timer.stop()
        self._forget()

    def _count(self) -> None:
        self._edits += 1
        if self._edits >= EDITS:
            self.save_now()

    def _forget_when_saved(self) -> None:
        if not self._workspace.is_changed:
            self._forget()

    def _forget(self) -> None:
        self._edits = 0
        self._lock.unlock()
        for file in (self._copy, _note_of(self._copy)):
            file.unlink(missing_ok=True)


def left_behind() -> Iterator[Recovered]:
    """What windows that are gone did not save, the latest first."""
    copies = sorted(_folder().glob("*.gradstep"), key=_time, reverse=True)
    for copy in copies:
        lock = QLockFile(str(_lock_of(copy)))
        lock.setStaleLockTime(0)
        if not lock.tryLock(0):
            continue  # its window is still there
        lock.unlock()
        note = _read_note(copy)
        path = Path(note.path) if note.path else None
        name = path.name if path is not None else note.name or UNTITLED
        yield Recovered(copy, path, datetime.fromtimestamp(_time(copy)), name)


def _folder() -> Path:
    return state_folder() / "unsaved"


def _note_of(copy: Path) -> Path:
    return copy.with_suffix(".json")


def _lock_of(copy: Path) -> Path:
    return copy.with_suffix(".lock")


def _time(copy: Path) -> float:
    try:
        return copy.stat().st_mtime
    except OSError:
        return 0.0


def _read_note(copy: Path) -> _Note:
    try:
        return msgspec.json.decode(_note_of(copy).read_bytes(), type=_Note)
    except (OSError, msgspec.DecodeError):
        return _Note()
