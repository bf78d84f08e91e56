"""The document that the engine holds: how it came there, by which revision it is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.history.timeline import Timeline
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.host.session_restore import Begun, Courses, courses_of
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.native.document_diff import Difference, apply
from gradstep.core.program.user_code import Function
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Buffer

NO_REVISION = -1
MOST_AT_REST = 256 << 20  # bytes


class OtherRevisionError(Exception):
    """A request is about a revision that is not held."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """An open document: its sessions, what makes another one, its custom gradients by name.

    resting: what was open before an edit after which most of the program waits for a wire or a
    feed: the edit that finishes it goes on from there, and nothing has to be made again.
    begun: courses of sessions that missed where they stood before the edit.
    """

    document: Document
    revision: int
    sessions: Sessions
    make: Callable[[], Scheduler]
    gradients: Mapping[str, Function]
    resting: Loaded | None = None
    begun: Begun = field(default_factory=dict)

    @property
    def courses(self) -> Courses:
        """How its sessions came to where they stand."""
        return courses_of(self.sessions, self.begun)

    @property
    def threads(self) -> Scheduler:
        """The current session's."""
        return self.sessions.session

    @property
    def whole(self) -> Loaded:
        """This one, or what rests while it waits."""
        return self.resting or self

    def base_of(self, program: Program) -> tuple[Loaded, Loaded | None]:
        """What goes on as `program`, which an edit has made of this one, and what rests then."""
        if not program.is_cut:
            return self.whole, None
        if self.resting is None and not self.threads.program.is_cut and self._can_rest():
            return self, self
        return self, self.resting

    def _can_rest(self) -> bool:
        """Whether its sessions take little memory without the runs that they keep."""
        return sum(timeline.nbytes_at_rest for timeline in self._timelines) <= MOST_AT_REST

    def rest(self) -> None:
        """Let go of the runs that its sessions keep."""
        for timeline in self._timelines:
            timeline.rest()

    @property
    def _timelines(self) -> list[Timeline]:
        return [s.timeline for t in self.sessions.by_name.values() for s in t.sessions]


def opened_document(request: m.Open, buffers: Sequence[Buffer]) -> Document:
    """The document of an Open, its edits made. Raises GradstepError."""
    document, behind = sent_document(buffers), list(buffers[2:])
    for members in request.edits:
        own, behind = behind[: 1 + len(members)], behind[1 + len(members) :]
        document = apply(document, Difference.from_buffers(members, own))
    return document


def sent_document(buffers: Sequence[Buffer]) -> Document:
    """The document that was sent whole. Raises GradstepError."""
    if not buffers:
        raise GradstepError("no document was sent", kind="ProtocolError")
    return gradstep_file.from_bytes(bytes(buffers[0]), budget=Budget.unlimited())


def edited_document(
    loaded: Loaded | None, base: int, members: Sequence[str], buffers: Sequence[Buffer]
) -> Document:
    """What a difference makes of the document that is held; what did not change is the very same.
    Raises OtherRevisionError, and GradstepError where the difference does not fit."""
    if loaded is None or loaded.revision != base:
        raise OtherRevisionError
    return apply(loaded.document, Difference.from_buffers(members, buffers))
