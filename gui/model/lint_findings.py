"""What the lints say of the document and its runs: asked of the engine while somebody reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    Diagnose,
    Diagnosed,
    GaveWay,
    LintFinding,
    Message,
)
from gradstep.gui.model.engine_sync import same_but_breakpoints
from gradstep.gui.model.pending_answers import PendingAnswers
from gradstep.gui.model.settings import settings

if TYPE_CHECKING:
    from gradstep.core.document.document import Document
    from gradstep.gui.model.workspace import Workspace

PAUSE = 400  # milliseconds; who draws, or steps, does not want to be judged at each stroke


class LintFindings(QObject):
    """found: as of the last time that they were asked for; of other nodes than there are now
    nothing."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.found: Sequence[LintFinding] = ()
        self._workspace = workspace
        self._of: Document | None = None  # which they were asked of
        self._asked: tuple[object, ...] = ()
        self._answers = PendingAnswers(workspace)
        self._soon = QTimer(self, singleShot=True, interval=PAUSE)
        self._soon.timeout.connect(self._ask)
        workspace.document_opened.connect(self._forget)

    @property
    def is_idle(self) -> bool:
        """Whether nothing is about to be asked."""
        return not self._soon.isActive()

    def want(self) -> None:
        """Have them looked for, once the document and its runs rest, if either is another than the
        last time: `changed` tells."""
        space = self._workspace
        if space.stop is None:
            return
        same = self._of is not None and same_but_breakpoints(self._of, space.document)
        if not same or self._place() != self._asked:
            self._soon.start()

    def _place(self) -> tuple[object, ...]:
        """What the answer hangs on, besides the document."""
        stop = self._workspace.stop
        ended = stop is not None and stop.reason == "end"
        runs = 0 if stop is None else stop.runs
        return self._workspace.program, runs, ended, *settings().lints_off

    def _ask(self) -> None:
        self._of = self._workspace.document
        place = self._asked = self._place()

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if isinstance(reply, Diagnosed):
                self._take(reply.findings)
            elif isinstance(reply, GaveWay):
                self._asked = ()

        message = Diagnose(off=settings().lints_off)
        self._answers.ask_alone(message, answered, lambda: place == self._place())

    def _take(self, found: Sequence[LintFinding]) -> None:
        if list(found) != list(self.found):
            self.found = found
            self.changed.emit()

    def _forget(self) -> None:
        """It was of another document."""
        self._soon.stop()
        self._of, self._asked = None, ()
        self._answers.forget()
        self._take(())
