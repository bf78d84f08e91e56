"""The variants of all gradients as the window sees them: asked for when they are looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    CompareVariants,
    ErrorInfo,
    Failed,
    GradientVariants,
    Message,
)
from gradstep.gui.model.pending_answers import PendingAnswers

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

_MEASURED = 128  # elements of all gradients, by differences


class VariantComparison(QObject):
    """found: the newest answer, shown until there is another; None while there is none. failure:
    why there is none. is_measured: whether numeric gradients are asked for, too; they come after
    the others, which nobody waits for.

    stale: what was found is about another program, or another run."""

    changed = Signal()
    stale = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.found: GradientVariants | None = None
        self.failure: ErrorInfo | None = None
        self.is_measured = True
        self._workspace = workspace
        self._answers = PendingAnswers(workspace)
        workspace.document_opened.connect(self._forget)
        workspace.bridge.died.connect(self._forget)
        workspace.program_changed.connect(self._note_change)
        workspace.stopped.connect(self._note_change)
        self._about: tuple[object, int] | None = None

    def require(self) -> None:
        """Ask, unless what was asked last is about what there is now."""
        here = self._here
        if here is not None and not self._is_current:
            self._about = here
            self._ask(0)

    def measure(self, wanted: bool) -> None:
        """Ask for numeric gradients, too, or no longer."""
        self.is_measured, self._about = wanted, None
        self.require()

    @property
    def _here(self) -> tuple[object, int] | None:
        """The program, and the run at whose start gradients are looked at."""
        program, stop = self._workspace.program, self._workspace.stop
        return None if program is None or stop is None else (program, stop.run)

    @property
    def shown(self) -> GradientVariants | None:
        """What was found, while there is a program that it may be about."""
        return None if self._workspace.program is None else self.found

    @property
    def said(self) -> str:
        """Why nothing can be shown; "" where something can."""
        space = self._workspace
        error = self.failure if space.program is not None else space.debugger.failure
        return "" if error is None else ". ".join(filter(None, (error.message, error.hint)))

    def _ask(self, elements: int) -> None:
        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if isinstance(reply, GradientVariants):
                self.found = reply
            elif not elements:
                self.found = None  # else what was found before the numbers stays
            self.failure = reply.error if isinstance(reply, Failed) else None
            self.changed.emit()
            if self.found is not None and self.is_measured and not elements:
                self._ask(_MEASURED)

        self._answers.ask_alone(CompareVariants(elements=elements), answered)

    @property
    def _is_current(self) -> bool:
        here, about = self._here, self._about
        return (
            about is not None and here is not None and here[0] is about[0] and here[1] == about[1]
        )

    def _note_change(self) -> None:
        if not self._is_current:
            self.stale.emit()

    def _forget(self, *_: object) -> None:
        self._answers.forget()
        self._about = self.found = self.failure = None
        self.changed.emit()
