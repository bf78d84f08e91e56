"""A query over all runs as the window sees it: what is asked, how far it is, what was found."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    ErrorInfo,
    Failed,
    FindMoments,
    Message,
    MomentRow,
    Moments,
    Progress,
)
from gradstep.core.protocol.vocabulary import WhichMoment
from gradstep.gui.model.pending_answers import PendingAnswers

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

MOST = 10_000  # rows


class RunQuery(QObject):
    """text, which: what was asked last. found: the answer; None while there is none. failure: why
    there is none. share: how much of the runs is done; seconds: what it took. Of another program
    than that which is there now nothing is found."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.text, self.which = "", "first"
        self.found: Moments | None = None
        self.failure: ErrorInfo | None = None
        self.share, self.seconds = 0.0, 0.0
        self._workspace = workspace
        self._answers = PendingAnswers(workspace)
        workspace.bridge.event_received.connect(self._note_progress)
        workspace.document_opened.connect(self._forget_all)
        workspace.program_changed.connect(self._forget)
        workspace.bridge.died.connect(self._forget)

    @property
    def is_busy(self) -> bool:
        """Whether an answer is on its way."""
        return self._answers.is_awaited

    @property
    def rows(self) -> Sequence[MomentRow]:
        """What was found."""
        return () if self.found is None else self.found.rows

    def ask(self, text: str, which: WhichMoment = "first") -> None:
        """Ask the engine, as of where the debugger stands."""
        self._forget()
        self.text, self.which, self.share = text, which, 0.0
        began = time.monotonic()

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            self.seconds = time.monotonic() - began
            self.found = reply if isinstance(reply, Moments) else None
            self.failure = reply.error if isinstance(reply, Failed) else None
            self.changed.emit()

        self._answers.ask(FindMoments(text=text, which=which, most=MOST), answered)
        self.changed.emit()

    def cancel(self) -> None:
        """End what is on its way."""
        if self.is_busy:
            self._workspace.control("pause")

    def _note_progress(self, event: object) -> None:
        if self.is_busy and isinstance(event, Progress) and event.total:
            self.share = event.done / event.total
            self.changed.emit()

    def _forget(self, *_: object) -> None:
        self._answers.forget()
        self.found = self.failure = None
        self.changed.emit()

    def _forget_all(self, *_: object) -> None:
        self.text, self.which = "", "first"
        self._forget()
