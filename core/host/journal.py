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
from core.host.permission import Permission
from core.host.wire import Buffer

Asked = tuple[Message, tuple[bytes, ...]]


@dataclass(frozen=True, slots=True)
class Journal:
    """opened: the last document that the engine took, with the file's bytes; where: the last
    place it reported; breakpoints: the last ones it took; sessions: what was asked of several
    sessions, each after what led to where the current one stood then, and edits that came after
    (what was copied between sessions before, was copied from other runs); moves: the commands that
    led there since the last edit, where there are threads: those before it go with the document."""

    opened: Open | None = None
    buffers: tuple[bytes, ...] = ()
    breakpoints: SetBreakpoints | None = None
    where: Stopped | None = None
    sessions: tuple[Asked, ...] = ()
    moves: tuple[Message, ...] = ()

    def after(self, request: Message, buffers: Sequence[Buffer], reply: Message) -> Journal:
        """The journal once `request` was answered with `reply`; a failure changes nothing."""
        if isinstance(request, Open) and isinstance(reply, Opened):
            kept = tuple(bytes(buffer) for buffer in buffers)
            if request.keep_position and self.opened is not None:
                return self._edited(request, kept, reply.stopped)
            return Journal(request, kept, None, reply.stopped)
        if isinstance(request, ManageSessions) and isinstance(reply, SessionList):
            return self._managed(request, reply)
        if isinstance(request, SetBreakpoints) and isinstance(reply, Done):
            return replace(self, breakpoints=request, moves=self.moves and (*self.moves, request))
        if isinstance(request, Control) and isinstance(reply, Stopped):
            if request.command == "restart":
                return self._restarted(request, reply)
            return replace(self, where=reply, moves=(*self.moves, request) if reply.threads else ())
        return self

    def permitted(self, permission: Permission) -> Journal:
        """The same, where the document's Python may do this from now on."""

        def permitted(request: Message) -> Message:
            if not isinstance(request, Open):
                return request
            confined = permission is Permission.CONFINED
            return msgspec.structs.replace(request, trusted=permission.runs, confined=confined)

        opened = None if self.opened is None else permitted(self.opened)
        assert opened is None or isinstance(opened, Open)
        sessions = tuple((permitted(message), buffers) for message, buffers in self.sessions)
        return replace(self, opened=opened, sessions=sessions)

    def replay(self) -> list[Asked]:
        """The requests that lead a new engine to where the old one stood, in order."""
        if self.opened is None:
            return []
        opened = msgspec.structs.replace(self.opened, keep_position=False)
        requests: list[Asked] = [(opened, self.buffers), *self.sessions]
        requests += [(message, ()) for message in self._way()]
        # Breakpoints come last: they must not stop the way back.
        if self.breakpoints is not None:
            requests.append((self.breakpoints, ()))
        return requests

    def _edited(self, request: Open, buffers: tuple[bytes, ...], stood: Stopped) -> Journal:
        if self.sessions:
            before = (*self.sessions, *self._asked_moves())
            if isinstance(before[-1][0], Open):
                before = before[:-1]
            sessions = (*before, (request, buffers))
            return replace(self, sessions=sessions, where=stood, breakpoints=None, moves=())
        assert self.opened is not None
        if stood.threads:
            commands = [(m.command, m.target) for m in self.moves if isinstance(m, Control)]
            request = msgspec.structs.replace(request, way=[*self.opened.way, *commands])
        return Journal(request, buffers, None, stood)

    def _restarted(self, request: Control, stood: Stopped) -> Journal:
        """Forgets all moves, and what was copied between sessions, but not whose move it is."""
        current = next((thread.name for thread in stood.threads if thread.current), "")
        moves = (Control(command="thread", target=current),) if current else ()
        if self.sessions:
            sessions: tuple[Asked, ...] = (*self.sessions, (request, ()))
            return replace(self, where=stood, sessions=sessions, moves=moves)
        opened = self.opened and msgspec.structs.replace(self.opened, way=[])
        return replace(self, opened=opened, where=stood, moves=moves)

    def _managed(self, request: ManageSessions, reply: SessionList) -> Journal:
        if request.command == "list":
            return self
        stood = self.where
        if stood is not None and not self.moves:
            at = f"{stood.run}:end" if stood.reason == "end" else _position(stood)
            request = msgspec.structs.replace(request, at=at)
        asked = (*self.sessions, *self._asked_moves(), (request, ()))
        return replace(self, where=reply.stopped, sessions=asked, moves=())

    def _asked_moves(self) -> list[Asked]:
        return [(message, ()) for message in self.moves]

    def _way(self) -> list[Message]:
        """From the start of the document to where the debugger stood."""
        where = self.where
        if self.moves:
            return [*self.moves]
        if where is None or (where.threads and self.opened is not None and self.opened.way):
            return []
        at_start = (where.run, where.step, where.inside) == (0, 0, [])
        way: list[Message] = []
        if not at_start or self.sessions:
            way = [Control(command="run_to", target=_position(where))]
        if where.reason == "exception":
            way.append(Control(command="step"))  # it fails again, and says so again
        return way


def _position(where: Stopped) -> str:
    inside = "".join(f"/{place.iteration}:{place.step}" for place in where.inside)
    return f"{where.run}:{where.step}{inside}"
