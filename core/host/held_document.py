"""The document that the engine holds: how it came there, by which revision it is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.io.disk.memory_budget import Budget
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.native.document_diff import Difference, apply
from gradstep.core.program.user_code import Function
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Buffer

NO_REVISION = -1


class OtherRevisionError(Exception):
    """A request is about a revision that is not held."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """An open document: its sessions, what makes another one, its custom gradients by name."""

    document: Document
    revision: int
    sessions: Sessions
    make: Callable[[], Scheduler]
    gradients: Mapping[str, Function]

    @property
    def threads(self) -> Scheduler:
        """The current session's."""
        return self.sessions.session


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
