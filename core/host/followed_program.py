"""The programs that the engine told of last, put together of what it says."""

from __future__ import annotations

from msgspec import structs

from gradstep.core.protocol.messages import (
    Edited,
    Message,
    Opened,
    ProgramInfo,
    SessionList,
    Stopped,
)
from gradstep.core.protocol.program_change import (
    HELD,
    OtherProgramError,
    apply_change,
    held_program,
)


class FollowedProgram:
    """Is to see every reply of an engine that may tell of a program, in their order."""

    def __init__(self) -> None:
        self._held: list[ProgramInfo] = []  # the latest first

    def complete(self, reply: Message) -> Message:
        """`reply`, with the whole program where it says what changed of that. Raises
        OtherProgramError where that is not known."""
        if isinstance(reply, Edited):
            base = next((p for p in self._held if p.number == reply.change.base), None)
            if base is None:
                raise OtherProgramError
            reply = Opened(program=apply_change(base, reply.change), stopped=reply.stopped)
        elif isinstance(reply, Opened) and reply.program is not None:
            reply = structs.replace(reply, program=held_program(reply.program))
        told = reply.stopped if isinstance(reply, SessionList) else reply
        if isinstance(told, Opened | Stopped) and told.program is not None:
            others = (p for p in self._held if p.number != told.program.number)
            self._held = [told.program, *others][:HELD]  # a reply may be seen twice
        return reply
