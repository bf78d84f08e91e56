"""What brings a session back after the engine process died: the document, the breakpoints and
the place where the debugger stood.

Runs are deterministic, so going to the same step of the same document gives the same values. Where
threads share queues, the values hang on who moved when: all commands are given again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from core.host.messages import (
    Control,
    Done,
    ManageSessions,
    Message,
    Open,
    Opened,
    SessionList,
    SetBreakpoints,
    Stopped,
)
from core.host.wire import Buffer


@dataclass(frozen=True, slots=True)
class Journal:
    """opened: the last document that the engine took, with the file's bytes; where: the last
    place it reported; breakpoints: the last ones it took; sessions: what was asked of several
    sessions, each after what led to where the current one stood then; moves: the commands that led
    there, where there are threads."""

    opened: Open | None = None
    buffers: tuple[bytes, ...] = ()
    breakpoints: SetBreakpoints | None = None
    where: Stopped | None = None
    sessions: tuple[Message, ...] = ()
    moves: tuple[Message, ...] = ()

    def after(self, request: Message, buffers: Sequence[Buffer], reply: Message) -> Journal:
        """The journal once `request` was answered with `reply`; a failure changes nothing."""
        if isinstance(request, Open) and isinstance(reply, Opened):
            kept = tuple(bytes(buffer) for buffer in buffers)
            sessions = self.sessions if request.keep_position else ()
            return Journal(request, kept, None, reply.stopped, sessions)
        if isinstance(request, ManageSessions) and isinstance(reply, SessionList):
            return self._managed(request, reply)
        if isinstance(request, SetBreakpoints) and isinstance(reply, Done):
            return replace(self, breakpoints=request, moves=self.moves and (*self.moves, request))
        if isinstance(request, Control) and isinstance(reply, Stopped):
            before = () if request.command == "restart" else self.moves
            return replace(self, where=reply, moves=(*before, request) if reply.threads else ())
        return self

    def replay(self) -> list[tuple[Message, tuple[bytes, ...]]]:
        """The requests that lead a new engine to where the old one stood, in order."""
        if self.opened is None:
            return []
        requests: list[tuple[Message, tuple[bytes, ...]]] = [
            (msgspec.structs.replace(self.opened, keep_position=False), self.buffers)
        ]
        requests += [(message, ()) for message in (*self.sessions, *self._way())]
        # Breakpoints come last: they must not stop the way back.
        if self.breakpoints is not None:
            requests.append((self.breakpoints, ()))
        return requests

    def _managed(self, request: ManageSessions, reply: SessionList) -> Journal:
        if request.command == "list":
            return self
        stood = self.where
        if stood is not None and not self.moves:
            at = f"{stood.run}:end" if stood.reason == "end" else _position(stood)
            request = msgspec.structs.replace(request, at=at)
        asked = (*self.sessions, *self.moves, request)
        return replace(self, where=reply.stopped, sessions=asked, moves=())

    def _way(self) -> list[Message]:
        """From the start of the document to where the debugger stood."""
        where = self.where
        if self.moves:
            return [*self.moves]
        if where is None or (where.run, where.step, where.inside) == (0, 0, []):
            way: list[Message] = []
        else:
            way = [Control(command="run_to", target=_position(where))]
        if where is not None and where.reason == "exception":
            way.append(Control(command="step"))  # it fails again, and says so again
        return way


def _position(where: Stopped) -> str:
    inside = "".join(f"/{place.iteration}:{place.step}" for place in where.inside)
    return f"{where.run}:{where.step}{inside}"
