"""What brings a session back after the engine process died: the document, the breakpoints and
the place where the debugger stood.

Runs are deterministic, so going to the same step of the same document gives the same values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import msgspec

from core.host.messages import (
    Control,
    Done,
    Message,
    Open,
    Opened,
    SetBreakpoints,
    Stopped,
)
from core.host.wire import Buffer


@dataclass(frozen=True, slots=True)
class Journal:
    """opened: the last document that the engine took, with the file's bytes; where: the last
    place it reported; breakpoints: the last ones it took."""

    opened: Open | None = None
    buffers: tuple[bytes, ...] = ()
    breakpoints: SetBreakpoints | None = None
    where: Stopped | None = None

    def after(self, request: Message, buffers: Sequence[Buffer], reply: Message) -> Journal:
        """The journal once `request` was answered with `reply`; a failure changes nothing."""
        if isinstance(request, Open) and isinstance(reply, Opened):
            kept = tuple(bytes(buffer) for buffer in buffers)
            return Journal(request, kept, None, reply.stopped)
        if isinstance(request, SetBreakpoints) and isinstance(reply, Done):
            return replace(self, breakpoints=request)
        if isinstance(request, Control) and isinstance(reply, Stopped):
            return replace(self, where=reply)
        return self

    def replay(self) -> list[tuple[Message, tuple[bytes, ...]]]:
        """The requests that lead a new engine to where the old one stood, in order."""
        if self.opened is None:
            return []
        requests: list[tuple[Message, tuple[bytes, ...]]] = [
            (msgspec.structs.replace(self.opened, keep_position=False), self.buffers)
        ]
        requests += [(message, ()) for message in self._way()]
        # Breakpoints come last: they must not stop the way back.
        if self.breakpoints is not None:
            requests.append((self.breakpoints, ()))
        return requests

    def _way(self) -> list[Message]:
        """From the start of the document to where the debugger stood."""
        where = self.where
        if where is None or (where.run, where.step) == (0, 0):
            way: list[Message] = []
        else:
            way = [Control(command="run_to", target=f"{where.run}:{where.step}")]
        if where is not None and where.reason == "exception":
            way.append(Control(command="step"))  # it fails again, and says so again
        return way
