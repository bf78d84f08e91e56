"""Unsaved work on its way to disk, beside the thread that edits: handing it over costs nothing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from pathlib import Path

from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.file_claims import Claim
from gradstep.core.io.edit_journal import EditJournal, JournalNote

DELAY = 0.2  # seconds in which edits are gathered
AGAIN = 5.0  # seconds until what could not be written is tried again
PATIENCE = 10.0  # seconds that a flush may take

Wanted = tuple[Document, JournalNote] | None  # what is to be on disk; None for no journal


class Keeper:
    """Keeps the journal at `path` up with the document handed over last, from a thread of its own.

    told: called in that thread with an error when work is not being kept any more, and with None
    when it is again.
    """

    def __init__(self, path: Path, told: Callable[[GradstepError | None], None]) -> None:
        self.path = path
        self._told = told
        self._journal = EditJournal(path)
        self._claim: Claim | None = None
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._wanted: Wanted = None
        self._then: list[tuple[int, Callable[[], None]]] = []
        self._given = self._tried = self._kept = 0  # the last that was so, by number
        self._hurry = self._closing = self._failing = False

    def keep(
        self, document: Document, note: JournalNote, then: Callable[[], None] | None = None
    ) -> None:
        """Have it on disk within half a second, if the disk is no slower; `then()` is called in the
        keeper's thread when this or something later is."""
        self._hand_over((document, note), then)

    def forget(self) -> None:
        """Nothing is unsaved: remove the journal."""
        if self._wanted is not None:
            self._hand_over(None)

    def flush(self) -> bool:
        """Wait until writing all that was handed over was tried; whether it is on disk."""
        with self._changed:
            given = self._given
            self._hurry = self._tried < given
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._tried >= given, PATIENCE)
            return self._kept >= given

    def close(self, leave: bool = False) -> None:
        """End. leave: what was handed over is written and stays, for the next start to find; else
        the journal is removed."""
        if not leave:
            self.forget()
        self.flush()
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(PATIENCE)
        self._journal.leave()
        self._let_go()

    # -- inside ---------------------------------------------------------------------------------

    def _hand_over(self, wanted: Wanted, then: Callable[[], None] | None = None) -> None:
        with self._changed:
            self._wanted = wanted
            self._given += 1
            if then is not None:
                self._then.append((self._given, then))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _run(self) -> None:
        while (job := self._next()) is not None:
            number, wanted = job
            error = self._write(wanted)
            with self._changed:
                if error is None:
                    self._kept = number
                due = [call for given, call in self._then if given <= self._kept]
                self._then = [each for each in self._then if each[0] > self._kept]
            for call in due:
                call()
            self._say(error)
            with self._changed:
                self._tried = number
                self._changed.notify_all()

    def _next(self) -> tuple[int, Wanted] | None:
        """Wait for something to write, and a little longer for more; None at the end."""
        with self._changed:
            again = AGAIN if self._kept < self._tried else None
            if self._changed.wait_for(lambda: self._given > self._tried or self._closing, again):
                if self._given == self._tried:
                    return None
                self._changed.wait_for(lambda: self._hurry or self._closing, DELAY)
            self._hurry = False
            return self._given, self._wanted

    def _write(self, wanted: Wanted) -> GradstepError | None:
        """Nothing that goes wrong may end the thread."""
        try:
            if wanted is None:
                self._journal.remove()
                self._let_go()
                return None
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self._claim is None:
                self._claim = Claim.take(lock_of(self.path))
            self._journal.keep(*wanted)
        except GradstepError as error:
            return error
        except OSError as error:
            return GradstepError(f"{self.path}: {error.strerror}", kind="FileError")
        except Exception as error:
            logging.getLogger(__name__).exception("unsaved work could not be kept")
            return GradstepError(type(error).__name__, kind="InternalError")
        return None

    def _say(self, error: GradstepError | None) -> None:
        """Once when it begins to fail, and once when it goes again."""
        if (error is not None) != self._failing:
            self._failing = error is not None
            self._told(error)

    def _let_go(self) -> None:
        if self._claim is not None:
            self._claim.release()
            self._claim = None


def lock_of(journal: Path) -> Path:
    """The file that whoever writes a journal, or takes it over, holds a claim on."""
    return journal.with_suffix(".lock")
