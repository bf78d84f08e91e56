"""The document's data as the window sees it: what its files offer, and what a run is fed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gradstep.core.document.dataset import short_text
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.graph.problems import DATA, DATA_ROWS
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import BatchSeen, LookAtBatch, Message, ProblemInfo
from gradstep.gui.model.background_work import Background
from gradstep.gui.model.error_words import words

if TYPE_CHECKING:
    from gradstep.core.data.source_survey import Survey
    from gradstep.gui.model.workspace import Workspace

ROWS = 200  # of a batch that are shown, at most


class DataView(QObject):
    """batch: what the run is fed in which the debugger stands, None while that is not known; or a
    row that the user wants to see, where `is_row`;
    surveys: what files and sets offer, by their places; reading: the one that is being read."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.batch: BatchSeen | None = None
        self._mark = (-1, -1)  # run, and place in its batch
        self.surveys: dict[str, Survey] = {}
        self.reading = ""
        self.error = ""
        self.is_row = False
        self._workspace = workspace
        self._background = Background(self)
        self._number = 0
        self._asked: tuple[object, ...] = ()
        self._known: set[str] = set()
        self._opened = 0  # documents
        workspace.document_opened.connect(self._forget)
        workspace.document_changed.connect(self._forget_error)

    @property
    def problem(self) -> ProblemInfo | None:
        """Why the rows cannot be fed; None where they are, or nobody knows."""
        program = self._workspace.program
        found = program.problems if program is not None else ()
        return next((problem for problem in found if problem.type in (DATA, DATA_ROWS)), None)

    @property
    def marked(self) -> int:
        """The place of the row in `batch` that is pointed at; -1 for none."""
        run, place = self._mark
        return place if self.batch is not None and self.batch.run == run else -1

    def survey(self, place: str, then: Callable[[Survey], None]) -> None:
        """Look at what a file or a set offers, beside the main thread; `then` gets it where the
        user has not chosen another by then."""
        self._number += 1
        number, self.reading, self.error = self._number, place, ""

        def done(found: Survey) -> None:
            self.surveys[place] = found
            self._known.add(place)
            if number == self._number:
                self.reading = ""
                then(found)
                self.changed.emit()

        def failed(error: GradstepError) -> None:
            if number == self._number:
                self._fail(error)

        self.changed.emit()
        self._background.run(lambda: _survey(place), done, failed)

    def read_rows(
        self, ref: TensorRef, kind: TensorType, then: Callable[[str, Constant], None]
    ) -> None:
        """Read the rows of a column, to be packed, beside the main thread; `then` gets how they are
        to be called, and them, where that document is still open."""
        document, opened = self._workspace.document, self._opened
        self.reading, self.error = short_text(document.columns[str(ref)])[1:], ""
        self.changed.emit()

        def done(found: tuple[str, Constant]) -> None:
            if opened == self._opened:
                self.reading = ""
                then(*found)
                self.changed.emit()

        def failed(error: GradstepError) -> None:
            if opened == self._opened:
                self._fail(error)

        self._background.run(lambda: _packable(document, ref, kind), done, failed)

    def know(self, place: str) -> None:
        """Look at what a place offers that the document names, once; what is wrong with it the
        engine says."""
        if place in self._known:
            return
        self._known.add(place)

        def done(found: Survey) -> None:
            self.surveys[place] = found
            self.changed.emit()

        self._background.run(lambda: _survey(place), done, lambda error: None)

    def look(self) -> None:
        """Ask for the batch of the run in which the debugger stands, if it is another."""
        space = self._workspace
        program, stop = space.program, space.stop
        if program is None or stop is None or space.training.busy:
            return
        if self._here() == self._asked:
            return
        self._asked = self._here()
        if not program.data.rows:
            self._take(BatchSeen(run=stop.run), ())
        else:
            space.request(LookAtBatch(run=stop.run, limit=ROWS), (), self._take)

    def mark(self, place: int) -> None:
        """Point at a row of the batch of the run in which the debugger stands."""
        stop = self._workspace.stop
        self._mark = (-1 if stop is None else stop.run, place)
        self.changed.emit()

    def look_at_row(self, row: int) -> None:
        """Ask for a row of the data by its number, in place of the batch."""

        def take(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if isinstance(reply, BatchSeen):
                self.batch, self.is_row = reply, bool(reply.rows)
                self.changed.emit()

        self._asked = self._here()  # until the debugger moves on
        self._workspace.request(LookAtBatch(rows=[row]), (), take)

    def _here(self) -> tuple[object, ...]:
        """Where the debugger stands, as far as it is fed something else there."""
        program, stop = self._workspace.program, self._workspace.stop
        return () if program is None or stop is None else (program.number, stop.run, stop.batch)

    def look_again(self) -> None:
        """Whatever is known of it."""
        self._asked = ()
        self.look()

    def _take(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, BatchSeen):
            self.batch, self.is_row = reply, False
            self.changed.emit()

    def _fail(self, error: GradstepError) -> None:
        self.reading = ""
        self.error = words(error)
        self.changed.emit()

    def _forget_error(self) -> None:
        """The user does something else."""
        self.error = ""

    def _forget(self) -> None:
        self._number += 1
        self._opened += 1
        self.batch, self.reading, self.error, self._asked = None, "", "", ()
        self.is_row = False
        self.changed.emit()


def _packable(document: Document, ref: TensorRef, kind: TensorType) -> tuple[str, Constant]:
    from gradstep.core.data.array_files import Reading
    from gradstep.core.data.row_packing import read_packable

    return read_packable(document, ref, kind, Reading())


def _survey(place: str) -> Survey:
    from gradstep.core.data.array_files import Reading
    from gradstep.core.data.source_survey import survey

    return survey(place, Reading())
