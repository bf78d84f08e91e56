"""What the window asks of several sessions: a list of them, another one, values copied."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from msgspec import structs

from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.concurrency.session_registry import Sessions, look_at_variables
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.host.program_reports import report_stop
from gradstep.core.memory_release import memo_of_document
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import (
    Assign,
    Inject,
    ManageSessions,
    ProgramInfo,
    SessionInfo,
    SessionList,
    Stopped,
)
from gradstep.core.protocol.tensor_bytes import elements

_SHOWN = 4  # elements of a variable

Make = Callable[[], Scheduler]
Tell = Callable[[DebugSession], ProgramInfo]


def manage_sessions(
    sessions: Sessions, request: ManageSessions, make: Make, tell: Tell
) -> SessionList:
    """Do what is asked, and say what there is then. make: a session before its first run; tell: of
    a program that the window may not be shown yet."""
    text = _manage(sessions, request, make)
    threads = sessions.session
    stop = report_stop(threads)
    if len(threads.states) > 1 and request.command != "list":  # another thread perhaps
        stop = structs.replace(stop, program=tell(threads.session))
    return listed(sessions, stop, text)


def listed(sessions: Sessions, stop: Stopped, text: str, held: bool = True) -> SessionList:
    """What there is, once something was done. held: as of `infos`."""
    there = infos(sessions, held)
    return SessionList(sessions=there, current=sessions.current, stopped=stop, text=text)


def _manage(sessions: Sessions, request: ManageSessions, make: Make) -> str:
    if request.command == "copy":
        return copy_variables(sessions, request.source, request.target, request.wanted)
    commands: Mapping[str, Callable[[], None]] = {
        "list": lambda: None,
        "new": lambda: sessions.new(request.name, make),
        "duplicate": lambda: sessions.duplicate(request.name, make),
        "delete": lambda: sessions.delete(request.name),
        "switch": lambda: sessions.switch(request.name),
    }
    if request.command not in commands:
        raise GradstepError(f"sessions have no command '{request.command}'", kind="ProtocolError")
    commands[request.command]()
    return ""


def assign_variable(sessions: Sessions, request: Assign, buffers: Sequence[Buffer]) -> SessionList:
    """Give a variable of the current session another value, and say so. Raises GradstepError."""
    value = sent_value(request, buffers)
    threads = sessions.session
    threads.assign({request.name: value})
    return listed(sessions, report_stop(threads), f"{request.name} is {brief(value)} from here on")


def sent_value(request: Assign | Inject, buffers: Sequence[Buffer]) -> np.ndarray:
    """The value beside a request. Raises GradstepError."""
    if not buffers or request.dtype not in {each.value for each in DType}:
        raise GradstepError("no value was sent", kind="ProtocolError")
    flat = elements(buffers[0], DType(request.dtype).numpy)
    if flat.size != math.prod(request.shape):
        raise GradstepError("the value is not of its shape", kind="ProtocolError")
    return flat.reshape(request.shape)


def copy_variables(sessions: Sessions, source: str, target: str, wanted: list[str]) -> str:
    """Copy variables, and say which."""
    pairs = sessions.copy(source, target, wanted)
    names = [new if new == old else f"{old} to {new}" for new, old in pairs.items()]
    return f"copied from {source} to {target}: {', '.join(names)}"


def infos(sessions: Sessions, held: bool = True) -> list[SessionInfo]:
    """Each session: where it stands, and what its variables hold there. held: whether that, too,
    which takes as long as there are variables."""

    def words(threads: Scheduler) -> dict[str, str]:
        return {name: brief(value) for name, value in look_at_variables(threads)}

    return [
        SessionInfo(
            name=name,
            run=threads.stop.run,
            step=threads.stop.step,
            runs=threads.stop.runs,
            held=words(threads) if held else {},
        )
        for name, threads in sessions.by_name.items()
    ]


def brief(value: np.ndarray) -> str:
    """The first elements of a value, and its shape if there are more."""
    first = value.flat[:_SHOWN]
    if first.dtype.hasobject:
        return _text(first, value.shape)
    return _same_text(first.tobytes(), first.dtype, value.shape)


@memo_of_document(1 << 14)
def _same_text(first: bytes, dtype: np.dtype, shape: tuple[int, ...]) -> str:
    """Variables are written at every stop, and few have changed since the last."""
    return _text(np.frombuffer(first, dtype), shape)


def _text(elements: np.ndarray, shape: tuple[int, ...]) -> str:
    first = np.array2string(elements, precision=5)[1:-1].split()
    if not shape:
        return first[0]
    if math.prod(shape) <= _SHOWN:
        return f"[{' '.join(first)}]"
    return f"[{' '.join(first)} …] {'×'.join(map(str, shape))}"
