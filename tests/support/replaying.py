"""A recording of a window and its engine, played to an engine service anew: it has to agree."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from gradstep.core.host.engine_service import EngineService
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Buffer, Packet
from gradstep.core.protocol.message_recording import read_recording
from gradstep.core.protocol.tensor_bytes import unpack

# What hangs on the machine and the moment: replies, and fields of any.
MACHINE = (m.DeviceList, m.Profiled)
PASSING = frozenset({"seconds", "recorded_bytes"})
_AMPLE = 60.0  # seconds
CLOSE = 1e-4  # other processors round otherwise, and print other last digits


def differences(path: Path, service: EngineService) -> list[str]:
    """What `service` answers otherwise than it was answered when `path` was recorded. No Python of
    a document runs, whatever was allowed then."""
    recorded = read_recording(path)
    answers = {r.packet.request: r.packet for r in recorded if not r.is_request}
    found: list[str] = []
    for request in (r.packet for r in recorded if r.is_request):
        reply, buffers = service.handle(_repeatable(request.message), request.buffers)
        then = answers.get(request.request)
        if then is not None and not isinstance(then.message, MACHINE):
            where = f"#{request.request} {type(request.message).__name__}"
            found += _differing(where, then, reply, buffers)
    return found


def _repeatable(message: m.Message) -> m.Message:
    """The same request, that lets no Python of the document run, and has time enough."""
    if getattr(message, "trusted", False):
        return msgspec.structs.replace(message, trusted=False)
    if isinstance(message, m.FindBroken):
        return msgspec.structs.replace(message, seconds=_AMPLE)
    return message


def _differing(
    where: str, then: Packet, reply: m.Message, buffers: Sequence[Buffer]
) -> Iterator[str]:
    before, now = (msgspec.to_builtins(message) for message in (then.message, reply))
    yield from _unlike(where, before, now)
    if isinstance(reply, m.Values) and isinstance(then.message, m.Values):
        for old, new in zip(then.message.parts, reply.parts, strict=True):
            a, b = unpack(old, then.buffers), unpack(new, tuple(buffers))
            if not _close(a, b):
                yield f"{where}: {new.ref} is {b}, and was {a}"
    elif [*map(bytes, buffers)] != [*map(bytes, then.buffers)]:
        yield f"{where}: other buffers"


def _close(a: np.ndarray, b: np.ndarray) -> bool:
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.kind in "fc":
        return bool(np.allclose(a, b, rtol=CLOSE, atol=1e-7, equal_nan=True))
    return bool(np.array_equal(a, b))


def _unlike(where: str, before: Any, now: Any) -> Iterator[str]:
    if isinstance(before, dict) and isinstance(now, dict):
        for key in sorted((before.keys() | now.keys()) - PASSING):
            yield from _unlike(f"{where}.{key}", before.get(key), now.get(key))
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for number, (a, b) in enumerate(zip(before, now, strict=True)):
            yield from _unlike(f"{where}[{number}]", a, b)
    elif isinstance(before, float) and isinstance(now, float):
        if not math.isclose(before, now, rel_tol=CLOSE, abs_tol=1e-7):
            yield f"{where}: {now}, and was {before}"
    elif before != now:
        yield f"{where}: {str(now)[:100]}, and was {str(before)[:100]}"
