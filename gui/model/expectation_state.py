"""What the open document expects of its runs, and what came when the engine last checked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

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


@dataclass(eq=False)
class _Check:
    """What was asked, and what came."""

    document: Document
    trusted: bool
    checked: Sequence[CheckedExpectation] | None = None
    failure: ErrorInfo | None = None

    def is_of(self, document: Document, trusted: bool) -> bool:
        """Whether the answer is that for these."""
        mine = self.document
        alike = same_but_breakpoints(mine, document) and mine.expectations == document.expectations
        return alike and self.trusted == trusted


class Expected(QObject):
    """Asks the engine, beside the debug session, whenever the program is another one.

    What came is kept through an edit: where that is taken back before the engine has it, there is
    no other program.
    """

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._last: _Check | None = None
        self._holds = False  # whether that is of the document as it is now
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self._check_if_light)
        workspace.document_changed.connect(self._note_edit)
        workspace.document_opened.connect(self._forget)
        workspace.program_changed.connect(self._soon.start)

    @property
    def checked(self) -> Sequence[CheckedExpectation] | None:
        """One for each expectation of the document; None while it is not known of this one."""
        return self._last.checked if self._last is not None and self._holds else None

    @property
    def failure(self) -> ErrorInfo | None:
        """Why the engine could not check, if it could not."""
        return self._last.failure if self._last is not None and self._holds else None

    def check(self) -> None:
        """Hold the document as it is now against its runs; `changed` follows."""
        document, trusted = self._workspace.document, self._workspace.trusted
        asked = self._last = _Check(document, trusted)
        self._holds = True
        self._workspace.debugger.request_of(
            document,
            CheckExpectations(trusted=trusted, confined=self._workspace.confined),
            lambda reply, buffers: self._take(reply, asked),
        )

    def _check_if_light(self) -> None:
        """Once the engine has taken the document, if that will not keep it from other work."""
        document = self._workspace.document
        self._look()
        if self._workspace.program is None or not document.expectations:
            return
        if (not self._holds or self.failure is not None) and _is_light(document):
            self.check()

    def _take(self, reply: Message, asked: _Check) -> None:
        asked.checked = reply.checked if isinstance(reply, Expectations) else None
        asked.failure = reply.error if isinstance(reply, Failed) else None
        if asked is self._last and self._holds:
            self.changed.emit()

    def _note_edit(self) -> None:
        self._look()
        last, document = self._last, self._workspace.document
        if last is not None and not self._holds and same_but_breakpoints(last.document, document):
            self._soon.start()  # other expectations alone make no other program

    def _look(self) -> None:
        """Whether what came is of the document as it is now."""
        space, last, held = self._workspace, self._last, self._holds
        self._holds = last is not None and last.is_of(space.document, space.trusted)
        if self._holds != held:
            self.changed.emit()

    def _forget(self) -> None:
        self._last, self._holds = None, False
        self.changed.emit()


def _is_light(document: Document) -> bool:
    """Whether a check takes a moment only. Nobody knows that of the user's own Python."""
    known = not document.code or came_with_program(document)
    return known and _cost(document) <= LIGHT


def _cost(document: Document) -> int:
    """Operations that a check executes, about."""
    expected = document.expectations
    runs = sum(1 + max(e.run for e in expected if e.when == w) for w in variations(expected))
    return runs * len(document.graph)
