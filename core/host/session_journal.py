"""What brings a session back after its engine died: document, breakpoints, and position.

Runs are deterministic, so going to the same step of the same document gives the same values. Where
there are several sessions, variables that were given values, or threads that share queues, the
engine said how it came there when it last was given a document or asked for a session; the commands
since then are given again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from msgspec.structs import replace as replace_fields

from gradstep.core.program.trust.permission_levels import Permission
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    Assign,
    Control,
    Done,
    Edit,
    Edited,
    Inject,
    ManageBranches,
    ManageSessions,
    Message,
    Open,
    Opened,
    SessionList,
    SetBreakpoints,
    Stopped,
    Train,
    Trained,
    TrainingProgress,
)
from gradstep.core.protocol.stopped_position import current_thread, position_of

_OF_SESSIONS = (ManageSessions, ManageBranches, Assign, Inject)


@dataclass(frozen=True, slots=True)
class SessionJournal:
    """opened: the last document that the engine took, with the file's bytes, and with those of the
    edits that it took since; courses: what the engine said last of how its sessions came to where
    they stand; where: the last place it reported; restarted: whether the current session has been
    restarted since; breakpoints: the last ones it took; moves: the commands since, where there are
    threads."""

    opened: Open | None = None
    document: bytes = b""
    edits: tuple[bytes, ...] = ()
    courses: bytes = b""
    breakpoints: SetBreakpoints | None = None
    where: Stopped | None = None
    restarted: bool = False
    moves: tuple[Message, ...] = ()

    def after(
        self,
        request: Message,
        buffers: Sequence[Buffer],
        reply: Message,
        received: Sequence[Buffer] = (),
    ) -> SessionJournal:
        """The journal once `request` was answered with `reply` and its buffers; a failure changes
        nothing."""
        told = b"".join(map(bytes, received[:1]))
        if isinstance(request, Open) and isinstance(reply, Opened):
            document, *edits = map(bytes, (*buffers[:1], *buffers[2:]))
            return SessionJournal(request, document, tuple(edits), told, where=reply.stopped)
        if isinstance(request, Edit) and isinstance(reply, Edited) and self.opened is not None:
            opened = _edited(self.opened, request)
            more = (*self.edits, *map(bytes, buffers))
            where = replace_fields(reply.stopped, seen=None)
            return SessionJournal(opened, self.document, more, told, where=where)
        if isinstance(request, _OF_SESSIONS) and isinstance(reply, SessionList):
            if isinstance(request, ManageSessions) and request.command == "list":
                return self
            where = replace_fields(reply.stopped, seen=None)
            moves = self._set_before(where)
            return replace(self, where=where, courses=told, restarted=False, moves=moves)
        if isinstance(request, SetBreakpoints) and isinstance(reply, Done):
            shared = self.where is not None and self.where.threads
            return replace(
                self, breakpoints=request, moves=(*self.moves, request) if shared else ()
            )
        if isinstance(request, Control) and isinstance(reply, Stopped):
            return self._moved(request, reply)
        if isinstance(request, Train) and isinstance(reply, Trained):
            return replace(self, where=replace_fields(reply.stopped, seen=None))
        return self

    def on_the_way(self, event: Message) -> SessionJournal:
        """The journal once the engine told how far it has trained."""
        if not isinstance(event, TrainingProgress) or self.where is None:
            return self
        run = event.first + event.count  # which it has begun by then, or ended before
        return replace(
            self, where=replace_fields(self.where, reason="step", run=run, step=0, inside=[])
        )

    def permitted(self, permission: Permission) -> SessionJournal:
        """The same, where the document's Python may do this from now on."""
        if self.opened is None:
            return self
        confined = permission is Permission.CONFINED
        opened = replace_fields(self.opened, trusted=permission.runs, confined=confined)
        return replace(self, opened=opened)

    def replay(self) -> list[tuple[Message, tuple[bytes, ...]]]:
        """The requests that lead a new engine to where the old one stood, in order."""
        if self.opened is None:
            return []
        open_ = replace_fields(self.opened, keep_position=False)
        sent = (self.document, self.courses, *self.edits)
        requests: list[tuple[Message, tuple[bytes, ...]]] = [(open_, sent)]
        requests += [(message, ()) for message in self._way()]
        # Breakpoints come last: they must not stop the way back.
        if self.breakpoints is not None:
            requests.append((self.breakpoints, ()))
        return requests

    def _moved(self, request: Control, reply: Stopped) -> SessionJournal:
        reply, request = replace_fields(reply, seen=None), replace_fields(request, look=None)
        moves: tuple[Message, ...] = (*self.moves, request)
        restarted = request.command == "restart"
        if restarted:  # forgets all moves but those on other branches, and not whose it is
            whose = Control(command="thread", target=current_thread(reply.threads))
            before = self.moves if reply.branches else self._set_before(reply)
            moves = (*before, request, whose)
        return replace(
            self,
            where=reply,
            restarted=self.restarted or restarted,
            moves=moves if reply.threads else (),
        )

    def _set_before(self, where: Stopped) -> tuple[Message, ...]:
        """With what the moves from a place on begin: the breakpoints at which they stop."""
        return (self.breakpoints,) if where.threads and self.breakpoints is not None else ()

    def _way(self) -> list[Message]:
        """From where the document and its sessions begin to where the debugger stood."""
        where = self.where
        if where is None or where.threads:
            return [*self.moves]
        way: list[Message] = []
        if self.courses and self.restarted:
            way.append(Control(command="restart"))
        elsewhere = self.courses or (where.run, where.step, where.inside) != (0, 0, [])
        if elsewhere and "run_to" in where.legal:
            way.append(Control(command="run_to", target=position_of(where)))
        if where.reason == "exception":
            way.append(Control(command="step"))  # it fails again, and says so again
        chosen = ((shown.loop, shown.iteration + 1) for shown in where.loops if shown.chosen)
        way += [Control(command="iteration", target=f"{loop} {n}") for loop, n in chosen]
        return way


def _edited(opened: Open, edit: Edit) -> Open:
    """What opens the document with that edit, too, as it is to be run since."""
    return replace_fields(
        opened,
        trusted=edit.trusted,
        confined=edit.confined,
        device=edit.device,
        recorded_limit=edit.recorded_limit,
        revision=edit.revision,
        edits=[*opened.edits, edit.members],
    )
