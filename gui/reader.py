"""Reading a file beside the main thread: which one it is, until it is shown or given up."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from core.errors import GradstepError
from core.io.document import Document
from core.io.fed import with_placeholders
from core.ops.infer import Inference, declared
from gui.background import Background
from gui.first_view import folded


class Reader(QObject):
    """Only what was asked for last is handed over.

    name: of the file that is being read; "" for none.
    """

    changed = Signal()

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.name = ""
        self._number = 0
        self._background = Background(self)

    def read(
        self,
        path: Path,
        then: Callable[[Document, Inference], None],
        failed: Callable[[GradstepError], None],
        load: Callable[[Path], Document] | None = None,
    ) -> None:
        """Read a file of any supported format, as it is first shown; its types are inferred. load:
        what reads it in place of that, beside the main thread."""
        self._number += 1
        number = self._number

        def work() -> tuple[Document, Inference]:
            document = (load or first_seen)(path)
            return document, inferred(document)

        def loaded(found: tuple[Document, Inference]) -> None:
            if number == self._number:
                then(*found)

        def gave_up(error: GradstepError) -> None:
            if number == self._number:
                self.stop()
                failed(error)

        self.name = path.name
        self.changed.emit()
        self._background.run(work, loaded, gave_up)

    def stop(self) -> None:
        """What is being read is not waited for any more."""
        self._number += 1
        if self.name:
            self.name = ""
            self.changed.emit()


def first_seen(path: Path) -> Document:
    """The document in a file of any format, as it is first shown. Raises GradstepError."""
    from core.io.open import read

    return folded(read(path))


def inferred(document: Document) -> Inference:
    """Types and problems of the document's graph, as it is fed."""
    return declared(with_placeholders(document).graph)
