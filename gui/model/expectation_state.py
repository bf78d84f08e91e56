"""What the open document expects of its runs, and what came when the engine last checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gradstep.core.document.document import Document
from gradstep.core.document.expectation import variations
from gradstep.core.program.trust.code_trust import came_with_program
from gradstep.core.protocol.messages import (
    CheckedExpectation,
    CheckExpectations,
    ErrorInfo,
    Expectations,
    Failed,
    Message,
)
from gradstep.gui.model.engine_sync import same_but_breakpoints

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

LIGHT = 5_000  # operations, in all runs together, that are checked unasked


class Expected(QObject):
    """Asks the engine, beside the debug session, whenever the program is another one, or is still
    that of the document after an edit: of expectations, or one that was taken back.

    checked: one for each expectation of the document, None while it is not known of this one;
    failure: why the engine could not check, if it could not.
    """

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.checked: Sequence[CheckedExpectation] | None = None
        self.failure: ErrorInfo | None = None
        self._workspace = workspace
        self._asked: tuple[Document, bool] | None = None
        workspace.document_changed.connect(self._forget_if_changed)
        workspace.program_changed.connect(self._check_later)
        workspace.debugger.kept.connect(self._check_later)

    def check(self) -> None:
        """Hold the document as it is now against its runs; `changed` follows."""
        document, trusted = self._workspace.document, self._workspace.trusted
        self._asked = document, trusted
        self._workspace.debugger.request_of(
            document,
            CheckExpectations(trusted=trusted, confined=self._workspace.confined),
            lambda reply, buffers: self._take(reply, document),
        )

    def _check_later(self) -> None:
        """Once the engine has taken the document: asking would give it an edit at once."""
        self._workspace.debugger.later(self._check_if_light)

    def _check_if_light(self) -> None:
        """If that will not keep the engine from other work."""
        now = self._workspace.document, self._workspace.trusted
        if self._workspace.program is None or not now[0].expectations or _same(self._asked, now):
            return
        self._forget()
        if _is_light(now[0]):
            self.check()

    def _take(self, reply: Message, document: Document) -> None:
        if self._asked is None or self._asked[0] is not document:
            return  # about another one
        self.checked = reply.checked if isinstance(reply, Expectations) else None
        self.failure = reply.error if isinstance(reply, Failed) else None
        if self.failure is not None:
            self._asked = None
        self.changed.emit()

    def _forget_if_changed(self) -> None:
        now = self._workspace.document, self._workspace.trusted
        if not _same(self._asked, now):
            self._forget()

    def _forget(self) -> None:
        self._asked = self.checked = self.failure = None
        self.changed.emit()


def _same(asked: tuple[Document, bool] | None, now: tuple[Document, bool]) -> bool:
    """Whether the answer for `asked` is that for `now`."""
    if asked is None:
        return False
    alike = same_but_breakpoints(asked[0], now[0]) and asked[0].expectations == now[0].expectations
    return alike and asked[1] == now[1]


def _is_light(document: Document) -> bool:
    """Whether a check takes a moment only. Nobody knows that of the user's own Python."""
    known = not document.code or came_with_program(document)
    return known and _cost(document) <= LIGHT


def _cost(document: Document) -> int:
    """Operations that a check executes, about."""
    expected = document.expectations
    runs = sum(1 + max(e.run for e in expected if e.when == w) for w in variations(expected))
    return runs * len(document.graph)
