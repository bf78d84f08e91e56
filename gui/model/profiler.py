"""What was measured of the open document: where the time and the bytes of a run go."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import QObject, Signal

from gradstep.core.document.document import Document
from gradstep.core.protocol.messages import (
    ErrorInfo,
    Failed,
    Message,
    PassInfo,
    Profile,
    Profiled,
    Progress,
)
from gradstep.core.protocol.vocabulary import RunMode
from gradstep.gui.model.cost_tree import Cost, apart, leaves
from gradstep.gui.model.engine_bridge import EngineState
from gradstep.gui.model.engine_sync import same_but_breakpoints
from gradstep.gui.model.pending_answers import PendingAnswers

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace

RECORDED: Final = "recorded"
FAST: Final = "fast"
TIME, BYTES = "time", "bytes"
AUTO = "auto"  # every library that is there
_SAID_ELSEWHERE = ("CancelledError", "EngineDied")  # by the user, and by the engine's state


@dataclass(frozen=True, eq=False)
class Wish:
    """What is measured: which runs of which document on which device, without which passes, and
    whether other libraries than NumPy may compute where they gain."""

    mode: RunMode
    document: Document
    device: str
    without: frozenset[str]
    kernels: bool

    @property
    def message(self) -> Profile:
        kernels = [AUTO] if self.kernels else []
        return Profile(mode=self.mode, without=sorted(self.without), kernels=kernels)

    def same(self, other: Wish) -> bool:
        """Whether the same would run for both."""
        return (
            (self.mode, self.device, self.kernels) == (other.mode, other.device, other.kernels)
            and (self.mode != FAST or self.without == other.without)
            and same_but_breakpoints(self.document, other.document)
        )


@dataclass(frozen=True, eq=False)
class Measured:
    """A profile, and of what. origins: operation -> the forward operation that it belongs to."""

    profile: Profiled
    wish: Wish
    origins: dict[str, str]

    @cached_property
    def leaves(self) -> tuple[Cost, ...]:
        """A cost for each row."""
        return leaves(self.profile.rows, self.origins)

    def parts(self, by: str) -> tuple[list[str], np.ndarray]:
        """Forward operations, repeatedly, and what each time is theirs: seconds or bytes,
        float64[n]; what is of several is split evenly."""
        costs = [*apart(self.leaves)]
        pairs = [(name, c.amount(by) / len(c.parts)) for c in costs for name in c.parts]
        return [name for name, _ in pairs], np.array([amount for _, amount in pairs])


class Profiler(QObject):
    """Asks the engine for profiles and keeps the last one of each mode.

    mode: "recorded" or "fast", the one looked at; by: "time" or "bytes"; colouring: what the
    canvas is coloured by, "" for nothing; without: names of passes to leave out of fast runs;
    kernels: whether to compute with other libraries than NumPy where these gain.
    busy: a profile is on its way; progress: how far it is; failure: why the last one failed.
    """

    changed = Signal()

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self.mode: RunMode = RECORDED
        self.by, self.colouring = TIME, ""
        self.without: frozenset[str] = frozenset()
        self.kernels = False
        self.progress = ""
        self.failure: ErrorInfo | None = None
        self._answers = PendingAnswers(workspace)
        self._workspace = workspace
        self._measured: dict[str, Measured] = {}
        workspace.document_opened.connect(self._forget)
        workspace.document_changed.connect(self._note_edit)
        workspace.program_changed.connect(self.changed)
        workspace.engine_changed.connect(self._note_engine)
        workspace.bridge.event_received.connect(self._note_progress)

    @property
    def busy(self) -> bool:
        return self._answers.is_awaited

    @property
    def measured(self) -> Measured | None:
        """The last profile in this mode."""
        return self._measured.get(self.mode)

    @property
    def passes(self) -> list[PassInfo]:
        """Those that rewrote the last fast run; none before there was one."""
        last = self._measured.get(FAST)
        return last.profile.passes if last is not None else []

    @property
    def is_stale(self) -> bool:
        """Whether the profile is of something else than what would be measured now."""
        last = self.measured
        return last is not None and not last.wish.same(self._wish())

    def measure(self) -> None:
        """Have the document, as it is now, measured in the chosen mode; an emulated device has
        nothing to measure."""
        program = self._workspace.program
        if self.busy or program is None or not program.measured:
            return
        asked = self._wish()
        self.progress, self.failure = "", None
        self._answers.ask(asked.message, lambda reply, _: self._take(asked, reply))
        self.changed.emit()

    def _wish(self) -> Wish:
        space = self._workspace
        return Wish(self.mode, space.document, space.device, self.without, self.kernels)

    def _take(self, asked: Wish, reply: Message) -> None:
        if isinstance(reply, Profiled):
            program = self._workspace.program
            steps = program.steps if program is not None else []
            origins = {step.op: step.origin for step in steps}
            self._measured[asked.mode] = Measured(reply, asked, origins)
        elif isinstance(reply, Failed) and reply.error.type not in _SAID_ELSEWHERE:
            self.failure = reply.error
        self.changed.emit()

    def choose(self, mode: RunMode | None = None, by: str = "") -> None:
        """Look at the other mode's profile, or at the other measure."""
        if mode is not None:
            self.mode, self.failure = mode, None
        self.by = by or self.by
        self.changed.emit()

    def leave_out(self, name: str, out: bool) -> None:
        """Leave a pass out of the next fast run, or not."""
        self.without = self.without | {name} if out else self.without - {name}
        self.changed.emit()

    def use_kernels(self, on: bool) -> None:
        """Compute with other libraries' kernels from the next measurement on, or not."""
        self.kernels = on
        self.changed.emit()

    def colour_by(self, what: str) -> None:
        """Colour the canvas by "time", "bytes" or "difference", or "" for not at all."""
        self.colouring = what
        self.changed.emit()

    # -- what happens elsewhere -----------------------------------------------------------------

    def _forget(self) -> None:
        """Another document: nothing is known of it, and no answer about the old one counts."""
        self._answers.forget()
        self.failure, self.without = None, frozenset()
        self._measured.clear()
        self.changed.emit()

    def _note_edit(self, changes: object) -> None:
        if self._measured or self.failure is not None:
            self.failure = None
            self.changed.emit()  # what was measured may be stale now, or no longer

    def _note_engine(self, state: EngineState) -> None:
        if self.busy and (state == "starting" or state == "dead"):
            self._answers.forget()
            self.changed.emit()

    def _note_progress(self, event: object) -> None:
        if self.busy and isinstance(event, Progress):
            self.progress = f"{100 * event.done // event.total} %" if event.total else ""
            self.changed.emit()
