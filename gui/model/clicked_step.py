"""The step whose point was clicked, and what the engine says made it different."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    CompareStep,
    ErrorInfo,
    Failed,
    LeaveOut,
    LeftOut,
    Message,
    Request,
    RowsWeighed,
    StepCompared,
    WeighRows,
)
from gradstep.gui.model.pending_answers import PendingAnswers

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

BEFORE = 8  # steps that it is held against
SOON = 0.5  # seconds in which rows are looked at unasked
ALL = 1e9


class ClickedStep(QObject):
    """step: -1 for none, and while the debugger stands elsewhere; batch: what it was fed, in words.
    compared, weighed, left: the answers, None while they are not known; failures: what could not
    be told. weighing: whether rows are being looked at."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._workspace = workspace
        self._answers = PendingAnswers(workspace)
        self._begin(-1)
        workspace.stopped.connect(self._note_stop)
        workspace.program_changed.connect(self.forget)
        workspace.document_opened.connect(self.forget)

    def look(self, step: int) -> None:
        """Ask what made the step different at whose end the debugger stands."""
        space = self._workspace
        program, stop = space.program, space.stop
        if program is None or stop is None or space.training.busy:
            return
        if (stop.run, stop.step) != (step, len(program.steps)):
            return
        self._begin(step, stop.batch)
        self._ask(CompareStep(run=step, before=BEFORE))
        if program.data.rows:
            self.weigh(SOON)
        self.changed.emit()

    def weigh(self, seconds: float = ALL) -> None:
        """Look at rows one by one, about so long."""
        self.weighing = True
        self._ask(WeighRows(run=self.step, seconds=seconds))
        self.changed.emit()

    def leave_out(self, place: int) -> None:
        """Make the step again without a row of its batch, beside the session."""
        self._ask(LeaveOut(run=self.step, places=[place]))

    def forget(self) -> None:
        """No step was clicked."""
        if self.step >= 0:
            self._begin(-1)
            self.changed.emit()

    def _begin(self, step: int, batch: str = "") -> None:
        self._answers.forget()
        self.step, self.batch, self.weighing = step, batch, False
        self.compared: StepCompared | None = None
        self.weighed: RowsWeighed | None = None
        self.left: LeftOut | None = None
        self.failures: list[ErrorInfo] = []

    def _note_stop(self) -> None:
        stop = self._workspace.stop
        if stop is None or stop.run != self.step:
            self.forget()

    def _ask(self, request: Request) -> None:
        self._answers.ask(request, self._take)

    def _take(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, StepCompared):
            self.compared = reply
        elif isinstance(reply, RowsWeighed):
            self.weighed, self.weighing = reply, False
        elif isinstance(reply, LeftOut):
            self.left = reply
        elif isinstance(reply, Failed):
            self.weighing = False
            if reply.error not in self.failures:
                self.failures.append(reply.error)
        self.changed.emit()
