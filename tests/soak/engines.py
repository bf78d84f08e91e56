"""Engines that a walk drives: a process through its client, or the service in this process."""

from __future__ import annotations

import io
import logging
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

from gradstep.core.errors import GradstepError
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_client import Answer, EngineClient
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.session_journal import SessionJournal
from gradstep.core.protocol import framing
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.error_records import unexpected_error
from gradstep.core.protocol.framing import Buffer
from tests.soak.faults import BrokenError, Counts, OverError
from tests.soak.memory import engine_of

PATIENCE = 10.0  # seconds for an answer; then a pause is asked for, and given as long again
_LOGS = (
    "gradstep",
    "gradstep.host",
)  # this process's errors, and what engines write
_TRACEBACK = "Traceback (most recent call last)"

Heard = Callable[[str], None]


class Engine(Protocol):
    """One engine and its replacements. Failed replies are answers like others."""

    def ask(self, message: m.Message, buffers: Sequence[Buffer] = ()) -> Answer: ...
    def kill(self) -> list[m.Message]: ...
    def journal(self) -> SessionJournal: ...
    def pids(self) -> list[int]: ...
    def close(self) -> None: ...


class ServiceEngine:
    """The service in this process; what is said to it and by it goes over the wire's own bytes."""

    def __init__(self, counts: Counts, heard: Heard = lambda text: None) -> None:
        self._counts, self._heard = counts, heard
        self._journal = SessionJournal()
        self._service = self._new()

    def ask(self, message: m.Message, buffers: Sequence[Buffer] = ()) -> Answer:
        began = time.monotonic()
        paused = threading.Timer(PATIENCE, self._service.pause)
        paused.start()
        try:
            reply, received = _answered(self._service, message, buffers)
        finally:
            paused.cancel()
        if time.monotonic() - began >= PATIENCE:
            raise OverError("it was paused")
        self._counts.waited(began, type(message).__name__)
        self._journal = self._journal.after(message, buffers, reply, received)
        return reply, received

    def kill(self) -> list[m.Message]:
        self._service = self._new()
        return replayed(self._service, self._journal)

    def journal(self) -> SessionJournal:
        return self._journal

    def pids(self) -> list[int]:
        return [os.getpid()]

    def close(self) -> None:
        pass

    def _new(self) -> EngineService:
        return EngineService(CpuOnly(), emit=self._emit)

    def _emit(self, event: m.Event) -> None:
        if isinstance(event, m.Output):
            self._heard(event.text)


class ProcessEngine:
    """An engine process, as the window has one."""

    def __init__(self, counts: Counts, heard: Heard = lambda text: None) -> None:
        self._counts, self._heard = counts, heard
        self._client = EngineClient(on_event=self._emit)
        self._client.start()

    def ask(self, message: m.Message, buffers: Sequence[Buffer] = ()) -> Answer:
        began = time.monotonic()
        try:
            answer = self._call(message, buffers)
        except GradstepError as error:
            if error.kind != "DeadlineExceededError":
                raise
            self._pause()
        self._counts.waited(began, type(message).__name__)
        return answer

    def _call(self, message: m.Message, buffers: Sequence[Buffer]) -> Answer:
        """The reply, also where it is Failed. Raises GradstepError after PATIENCE, BrokenError
        where the engine ended."""
        replies: list[Answer] = []
        there = threading.Event()

        def answered(*answer: object) -> None:
            replies.append(answer)  # type: ignore[arg-type]
            there.set()

        self._client.send(message, buffers, answered)
        if not there.wait(PATIENCE):
            raise GradstepError("no answer", kind="DeadlineExceededError")
        reply, received = replies[0]
        if isinstance(reply, m.Failed) and reply.error.type == "EngineDied":
            raise BrokenError("died", f"{reply.error.message}: {self._client.last_lines[-3:]}")
        return reply, received

    def _pause(self) -> None:
        """End the walk: what takes so long may be meant, as a loop without an end is. Raises
        BrokenError where a pause does not stop it."""
        try:
            self._call(m.Control(command="pause"), ())
        except GradstepError:
            self._client.kill()
            raise BrokenError(
                "hang", f"no answer in {2 * PATIENCE:.0f} s, nor to a pause"
            ) from None
        raise OverError("it was paused")

    def kill(self) -> list[m.Message]:
        """End the process as a crash would, and lead another to where it stood."""
        os.kill(self._client.pid, signal.SIGKILL)
        replies: list[m.Message] = []
        there = threading.Semaphore(0)

        def answered(reply: m.Message, buffers: tuple[Buffer, ...]) -> None:
            replies.append(reply)
            there.release()

        for _ in range(self._client.restart(answered)):
            if not there.acquire(timeout=6 * PATIENCE):
                raise BrokenError("hang", "an engine that was restarted does not come back")
        return replies

    def journal(self) -> SessionJournal:
        return self._client._journal

    def pids(self) -> list[int]:
        return [engine_of(self._client.pid)]

    def close(self) -> None:
        self._client.close()

    def _emit(self, event: m.Message) -> None:
        if isinstance(event, m.Output):
            self._heard(event.text)


def replayed(service: EngineService, journal: SessionJournal) -> list[m.Message]:
    """The replies of an engine that is led to where a journal ends."""
    return [_answered(service, *request)[0] for request in journal.replay()]


def _answered(service: EngineService, message: m.Message, buffers: Sequence[Buffer]) -> Answer:
    packet = _carried(message, buffers, framing.read_request)
    try:
        reply, sent = service.handle(packet.message, packet.buffers)
    except Exception as error:  # as the worker answers
        reply, sent = m.Failed(error=unexpected_error(error)), ()
    carried = _carried(reply, sent, framing.read_answer)
    return carried.message, carried.buffers


def _carried(
    message: m.Message,
    buffers: Sequence[Buffer],
    read: Callable[[io.BytesIO], framing.Packet | None],
) -> framing.Packet:
    stream = io.BytesIO()
    framing.write(stream, message, buffers)
    stream.seek(0)
    packet = read(stream)
    assert packet is not None
    return packet


class Tracebacks(logging.Handler):
    """Keeps the tracebacks that this process logs and that engine processes write."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        for name in _LOGS:
            logging.getLogger(name).addHandler(self)
        self._level = logging.getLogger(_LOGS[1]).level
        logging.getLogger(_LOGS[1]).setLevel(logging.INFO)

    def close(self) -> None:
        for name in _LOGS:
            logging.getLogger(name).removeHandler(self)
        logging.getLogger(_LOGS[1]).setLevel(self._level)
        super().close()

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info or _TRACEBACK in text:
            kind = "" if not record.exc_info else repr(record.exc_info[1])
            self.found.append(f"{text} {kind}".strip())
