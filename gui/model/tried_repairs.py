"""Edits that may mend something, each tried in the engine: what the run would be with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Failed, Message, RemedyInfo, Tried, TryEdit
from gradstep.gui.model.pending_answers import PendingAnswers

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace


class TriedRepairs(QObject):
    """title: of what is to be mended; remedies: the edits; found: what came of each, or why it
    cannot be tried, None while it is on its way."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._answers = PendingAnswers(workspace)
        self.title = ""
        self.remedies: tuple[RemedyInfo, ...] = ()
        self.found: list[Tried | str | None] = []
        workspace.document_opened.connect(self.end)

    def end(self) -> None:
        """Nobody looks at what was to be tried: what has not been begun is not."""
        self._answers.forget()
        self.title, self.remedies, self.found = "", (), []
        self.changed.emit()

    def ask(self, title: str, remedies: Sequence[RemedyInfo], of: str = "", wrt: str = "") -> None:
        """Try them, one after the other, in the run that the debugger stands in; `changed` tells of
        each. of, wrt: what is looked at, as of TryEdit."""
        self.end()
        self.title, self.remedies = title, tuple(remedies)
        self.found = [None] * len(self.remedies)
        self.changed.emit()
        self._try(0, of, [wrt] if wrt else [])

    def _try(self, number: int, of: str, wrt: list[str]) -> None:
        """That one, and then those behind it."""
        if number == len(self.remedies):
            return

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if isinstance(reply, Tried):
                self.found[number] = reply
            elif isinstance(reply, Failed):
                self.found[number] = reply.error.message
            self._try(number + 1, of, wrt)
            self.changed.emit()

        one = self.remedies[number]
        request = TryEdit(kind=one.kind, names=one.names, of=of, wrt=wrt)
        self._answers.ask(request, answered)
