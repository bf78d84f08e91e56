"""Reading a file beside the main thread: which one it is, until it is shown or given up.

What comes with the program is read here. Any other file is read, and its types inferred, by a
process of its own, which is ended when nobody waits for it any more.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from gradstep.core.document.document import Document
from gradstep.core.document.placeholder_substitution import with_placeholders
from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.memory_budget import DEFAULT
from gradstep.core.ops.typing.inference import Inference, infer_declared
from gradstep.core.program.trust.code_fingerprint import fingerprint
from gradstep.core.program.trust.example_index import is_bundled
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.foreseen import DrawAhead, foresee
from gradstep.gui.model.initial_folding import fold_scopes

if TYPE_CHECKING:
    from gradstep.core.host.file_reader import FileReader

AGAIN = 1000  # milliseconds after a file was read until a process waits for the next


class Reader(QObject):
    """Only what was asked for last is handed over.

    name: of the file that is being read; "" for none. stacked: whether equal blocks will be shown
    as one box. draw_ahead: of the canvas that will show it; None where nothing is drawn.
    """

    changed = Signal()
    stacked = True
    draw_ahead: DrawAhead | None = None

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.name = ""
        self._number = 0
        self._background = Background(self)
        self._process: FileReader | None = None  # which reads
        self._waiting: FileReader | None = None  # which is there for the next file
        self._prepare = QTimer(self, singleShot=True, interval=AGAIN)
        self._prepare.timeout.connect(self._start_waiting)
        self._is_ready = False

    def be_ready(self) -> None:
        """From here on a process waits for the next file: none takes the time to start."""
        self._is_ready = True
        if self._process is None:  # else when that has read
            self._start_waiting()

    def take(self, process: FileReader) -> None:
        """A process that was started for the next file."""
        self._waiting = process

    def read(
        self,
        path: Path,
        then: Callable[[Document, Inference], None],
        failed: Callable[[GradstepError], None],
        limit: int = DEFAULT,
        first: Callable[[], None] = lambda: None,
    ) -> None:
        """Read a file of any supported format, as it is first shown; its types are inferred.
        limit: bytes of memory that it may take (gradstep.core.io.disk.memory_budget); first:
        called beside the main thread before the file is read."""
        self._give_up()
        try:
            work = self._work(path, limit)
        except GradstepError as error:
            failed(error)
            return

        def looked_at() -> tuple[Document, Inference]:
            first()
            return work()

        self._begin(path.name, looked_at, then, failed)

    def restore(
        self,
        name: str,
        load: Callable[[], Document],
        then: Callable[[Document, Inference], None],
        failed: Callable[[GradstepError], None],
    ) -> None:
        """As `read`, of what this program wrote itself: `load` gives it, beside the main thread."""

        def work() -> tuple[Document, Inference]:
            document = load()
            return document, infer_fed(document)

        self._give_up()
        self._begin(name, work, then, failed)

    def _begin(
        self,
        name: str,
        work: Callable[[], tuple[Document, Inference]],
        then: Callable[[Document, Inference], None],
        failed: Callable[[GradstepError], None],
    ) -> None:
        self._number += 1
        number = self._number

        def loaded(found: tuple[Document, Inference]) -> None:
            if number == self._number:
                self._done()
                then(*found)

        def gave_up(error: GradstepError) -> None:
            if number == self._number:
                self._done()
                self.stop()
                failed(error)

        stacked, draw = self.stacked, self.draw_ahead

        def foreseen() -> tuple[Document, Inference]:
            found = work()
            foresee(*found, stacked, draw)
            return found

        self.name = name
        self.changed.emit()
        self._background.run(foreseen, loaded, gave_up)

    def stop(self) -> None:
        """What is being read is not waited for any more."""
        self._number += 1
        self._give_up()
        if self.name:
            self.name = ""
            self.changed.emit()

    def close(self) -> None:
        """End the processes: nothing is read any more."""
        self._is_ready = False
        self._prepare.stop()
        self._give_up()
        if self._waiting is not None:
            self._waiting.close()
            self._waiting = None

    def _work(self, path: Path, limit: int) -> Callable[[], tuple[Document, Inference]]:
        if is_bundled(path):
            return lambda: _read_here(path)
        from gradstep.core.host.file_reader import FileReader

        process = self._process = self._waiting or FileReader()
        self._waiting = None

        def work() -> tuple[Document, Inference]:
            document, inference = process.read(path, limit)
            return _as_shown(document), inference

        return work

    def _give_up(self) -> None:
        if self._process is not None:
            self._process.kill()
        self._done()

    def _done(self) -> None:
        if self._process is not None and self._is_ready:
            self._prepare.start()
        self._process = None

    def _start_waiting(self) -> None:
        from gradstep.core.host.file_reader import FileReader

        if self._waiting is None and self._is_ready:
            self._waiting = FileReader()


def first_seen(path: Path) -> Document:
    """The document in a file of any format, as it is first shown. Raises GradstepError."""
    from gradstep.core.host.file_reader import FileReader

    document, _ = FileReader().read(path)
    return _as_shown(document)


def _as_shown(document: Document) -> Document:
    """As it is first shown. Its fingerprint, by which trust is asked, is taken here, where nobody
    waits for it."""
    shown = fold_scopes(document)
    with suppress(GradstepError):
        fingerprint(shown)
    return shown


def infer_fed(document: Document) -> Inference:
    """Types and problems of the document's graph, as it is fed."""
    return infer_declared(with_placeholders(document).graph)


def _read_here(path: Path) -> tuple[Document, Inference]:
    from gradstep.core.io.open_document import read

    document = _as_shown(read(path))
    return document, infer_fed(document)
