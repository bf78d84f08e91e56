"""Whether the run that is looked at holds NaN or infinity.

The engine says so with a stop, or is asked until it knows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import BrokenNumbers, FindBroken, Message

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

STRIDE = 0.01  # seconds that the engine may take at a time, so that a click need not wait


class Soundness(QObject):
    """found: what was found in the run, as far as it was looked through; None before that."""

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.found: BrokenNumbers | None = None
        self._workspace = workspace
        self._round = 0
        self._soon = QTimer(self, singleShot=True, interval=0)  # values that are seen come first
        self._soon.timeout.connect(self._look)
        workspace.program_changed.connect(self._forget)
        workspace.stopped.connect(self._soon.start)

    @property
    def first(self) -> BrokenNumbers | None:
        """What was found, if anything is wrong."""
        return self.found if self.found is not None and self.found.kind else None

    def _look(self) -> None:
        self._round += 1
        stop = self._workspace.stop
        seen = stop.seen if stop is not None else None
        if seen is not None and seen.broken is not None:
            self._take(seen.broken)
            if seen.broken.complete:
                return
        if stop is not None:
            self._ask(self._round)

    def _ask(self, number: int) -> None:
        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if number == self._round and isinstance(reply, BrokenNumbers):
                self._take(reply)
                if not reply.complete:
                    self._ask(number)

        self._workspace.bridge.send(FindBroken(seconds=STRIDE), (), answered)

    def _take(self, found: BrokenNumbers) -> None:
        before, self.found = self.found, found
        was_wrong = before is not None and bool(before.kind)
        if found != before and (found.kind or was_wrong) and (found.complete or found.kind):
            self.changed.emit()

    def _forget(self) -> None:
        """It was of another program, or thread."""
        self._round += 1
        if self.found is not None:
            self.found = None
            self.changed.emit()
