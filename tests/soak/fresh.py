"""An engine that knows nothing of what was done before, led to where another one stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import msgspec

from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import plain
from tests.soak.faults import BrokenError, require_foreseen
from tests.soak.frames import Frame, Position, frame_of, reading, wording
from tests.soak.user import User

_GONE = ("FailedPreconditionError", "ResourceExhaustedError")


_ORDERED = ("gradients", "edges", "losses")
_encoded = partial(msgspec.msgpack.encode, enc_hook=plain)


@dataclass
class Led:
    """What it found there."""

    program: m.ProgramInfo
    stop: m.Stopped
    frame: Frame
    words: m.Message
    ordered: bool  # whether another program is to list its losses in the same order

    def program_differences(self, other: m.ProgramInfo) -> Iterator[tuple[str, Any, Any]]:
        """Names and values of what the two programs differ in."""
        for name in self.program.__struct_fields__:
            one, two = getattr(self.program, name), getattr(other, name)
            if name == "number" or (not self.ordered and name in _ORDERED):
                continue
            if _encoded(one) != _encoded(two):
                yield name, *_first_difference(one, two)


def led(user: User, position: Position | None) -> Led | None:
    """A new engine with the document of `user`: at `position`; or, where the place alone does not
    say what there is (threads, values from another session), after what the journal says. None
    where that place is not kept any more."""
    service = EngineService(CpuOnly())
    if position is None:
        requests = user.journal().replay()
    else:
        open_ = m.Open(trusted=user.trusted, recorded_limit=user.limit)
        requests = [(open_, (gradstep_file.to_bytes(user.document, readable=False),))]
        if position != Position(0, 0):
            requests.append((m.Control(command="run_to", target=str(position)), ()))
    program: m.ProgramInfo | None = None
    stop: m.Stopped | None = None
    for message, buffers in requests:
        reply, _ = service.handle(message, buffers)
        if isinstance(reply, m.Failed):
            require_foreseen([reply.error])
            if reply.error.type in _GONE:
                return None
            raise BrokenError("fresh", f"{type(message).__name__}: {reply.error.message}")
        if isinstance(reply, m.Opened):
            program, stop = reply.program, reply.stopped
        elif isinstance(reply, m.SessionList):
            program, stop = reply.stopped.program or program, reply.stopped
        elif isinstance(reply, m.Stopped):
            program, stop = reply.program or program, reply
    assert program is not None
    assert stop is not None
    reply, buffers = service.handle(reading(program, user.document))
    if isinstance(reply, m.Failed):
        raise BrokenError("fresh", f"nothing can be read: {reply.error.message}")
    words, _ = service.handle(wording(program))
    return Led(program, stop, frame_of((reply, buffers)), words, user.ordered)


def _first_difference(one: Any, two: Any) -> tuple[Any, Any]:
    """Of two lists or mappings, the first entries that differ."""
    if isinstance(one, dict) and isinstance(two, dict):
        one, two = [*one.items()], [*two.items()]
    if isinstance(one, list) and isinstance(two, list):
        pairs = zip(one, two, strict=False)
        return next(((a, b) for a, b in pairs if a != b), (len(one), len(two)))
    return one, two
