"""What a classifier says of the rows where the debugger stands, as the window asks the engine."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from gradstep.core.protocol.class_queries import RowShare
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    Classified,
    Classify,
    Failed,
    GaveWay,
    Message,
    SurfaceDrawn,
)
from gradstep.gui.model.pending_answers import PendingAnswers
from gradstep.gui.model.workspace import Workspace

WORST = 48  # rows that are shown, at most
REST = 120  # milliseconds that the debugger stands before it is asked for: steps do not wait


_SHARES: tuple[RowShare, ...] = ("held", "trained", "test")


class ClassView(QObject):
    """cell: the class, and the one that it was taken for, to which the worst rows are confined, or
    None; seen: the answer, with `pixels` of the worst rows; error: why there is none, in a line."""

    changed = Signal()
    drawn = Signal(object)  # SurfaceDrawn, while a network is trained

    def __init__(self, workspace: Workspace, parent: QObject) -> None:
        super().__init__(parent)
        self._share: RowShare = "held"
        self.cell: tuple[int, int] | None = None
        self.seen: Classified | None = None
        self.pixels: Buffer = b""
        self.error = ""
        self._workspace = workspace
        self._asked: tuple[object, ...] = ()
        self._answers = PendingAnswers(workspace)
        self._rest = QTimer(workspace, singleShot=True, interval=REST)  # goes with it
        self._rest.timeout.connect(self._ask)
        workspace.document_opened.connect(self._forget)
        workspace.bridge.event_received.connect(self._take_event)

    def look(self) -> None:
        """Ask where the debugger stands, if that is elsewhere than it was asked for last: in
        another run, or at its end, as variables are updated there."""
        if not self._workspace.training.busy and self._place() != self._asked:
            self._rest.start()

    def choose_share(self, share: RowShare) -> None:
        """Other rows."""
        self._share, self.cell = share, None
        self._ask()

    def choose_cell(self, cell: tuple[int, int] | None) -> None:
        """The worst rows of a class that were taken for another; None for all rows."""
        self.cell = cell
        self._ask()

    @property
    def share(self) -> RowShare:
        """Which rows of the data: the user's choice, or what there is."""
        return self._share if self._share in self.shares else self.shares[0]

    @property
    def shares(self) -> Sequence[RowShare]:
        """Those that there are."""
        program = self._workspace.program
        if program is None:
            return ("held", "trained", "test")
        counts = {"held": program.data.held, "trained": 1, "test": program.data.tested}
        found: list[RowShare] = [*(share for share in _SHARES if counts[share])]
        return found

    def _place(self) -> tuple[object, ...]:
        space = self._workspace
        program, stop = space.program, space.stop
        if program is None or stop is None:
            return ()
        at_end = stop.step >= len(program.steps)
        return program.number, stop.run + at_end, self.share, self.cell

    def _ask(self) -> None:
        self._answers.forget()
        self._asked = place = self._place()
        if not place:
            return
        actual, taken = self.cell or (-1, -1)
        wish = Classify(share=self.share, worst=WORST, actual=actual, taken=taken)
        self._answers.ask(wish, self._take, lambda: place == self._place())

    def _take(self, reply: Message, buffers: tuple[Buffer, ...]) -> None:
        if isinstance(reply, Classified):
            self.seen, self.error = reply, ""
            self.pixels = buffers[0] if buffers else b""
        elif isinstance(reply, Failed):
            self.seen, self.pixels = None, b""
            self.error = _sentence(reply.error.message, reply.error.hint)
        elif isinstance(reply, GaveWay):
            self._asked = ()
        self.changed.emit()

    def _take_event(self, event: object) -> None:
        if isinstance(event, SurfaceDrawn) and self.seen is not None:
            self.drawn.emit(event)

    def _forget(self) -> None:
        self._share, self.cell, self.seen, self.pixels = "held", None, None, b""
        self.error, self._asked = "", ()
        self._answers.forget()
        self.changed.emit()


def _sentence(*parts: str) -> str:
    return " ".join(f"{part[:1].upper()}{part[1:]}." for part in parts if part)
