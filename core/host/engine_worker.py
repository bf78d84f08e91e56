"""The engine process: requests come in on standard input, answers go out on standard output.

One thread reads, so that a pause reaches a run in progress, and a question that takes long hears of
what it gives way to; the main thread executes, one request after another. User code and C libraries
print to a different standard output than the one the answers go to, and read from an empty standard
input.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import queue
import signal
import threading
import time
from collections import Counter
from collections.abc import Sequence
from typing import BinaryIO

from gradstep.core.errors import GradstepError
from gradstep.core.garbage_collection import collect_if_little, collect_rarely, keep_what_is_loaded
from gradstep.core.host.device_services import CpuOnly, DeviceServices
from gradstep.core.host.engine_service import EngineService, Terminal
from gradstep.core.host.process.event_outlet import Outlet
from gradstep.core.host.process.logging_setup import start_logging
from gradstep.core.host.process.standard_streams import take_over_stdio
from gradstep.core.host.process.supervisor import GRACE
from gradstep.core.memory_release import release_memory
from gradstep.core.protocol import framing
from gradstep.core.protocol.error_records import info_of, unexpected_error
from gradstep.core.protocol.message_base import ASIDE, Question, Request, kind_of
from gradstep.core.protocol.messages import (
    Control,
    Event,
    Failed,
    FileRows,
    GaveWay,
    Message,
    Open,
)

PAUSE = 0.1  # seconds without a request after which the window seems to have all it wants
REST = 1.0  # and after which nobody is waiting
_log = logging.getLogger("gradstep.host")


def main(devices: DeviceServices | None = None, terminal: Terminal | None = None) -> int:
    """Serve the process that started this one until it closes our standard input."""
    faulthandler.enable()
    if not start_logging("engine"):
        logging.basicConfig(format="%(message)s")  # on standard error, which the window keeps
    collect_rarely()
    keep_what_is_loaded()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for the window; its end ends us
    requests, answers = take_over_stdio()
    Worker(requests, answers, devices or CpuOnly(), terminal).serve()
    return 0


class Worker:
    """One engine service between a stream of requests and a stream of answers."""

    def __init__(
        self,
        requests: BinaryIO,
        answers: BinaryIO,
        devices: DeviceServices,
        terminal: Terminal | None = None,
    ) -> None:
        self._requests = requests
        self._answers = answers
        self._writing = threading.Lock()
        self._waiting: queue.SimpleQueue[framing.Packet | None] = queue.SimpleQueue()
        self._finished = threading.Event()
        self._has_opened = False
        self._came = Counter[type[Request]]()  # by kind, counted by one thread alone
        self._begun = Counter[type[Request]]()  # and by the other
        self._gave_way: list[tuple[Question, int]] = []  # until what that was for is answered
        self._outlet = Outlet(self._emit)
        offer = self._outlet.offer
        self._service = EngineService(devices, offer, collect_if_little, terminal, self._is_awaited)

    def serve(self) -> None:
        """Answer requests until their stream ends or nobody reads the answers."""
        threading.Thread(target=self._read, name="requests", daemon=True).start()
        try:
            while (packet := self._next()) is not None:
                self._answer(packet)
        except BrokenPipeError:
            pass  # the window is gone; there is nobody to tell
        self._finished.set()

    def _next(self) -> framing.Packet | None:
        """The next request; None after the last. When nobody waits for an answer, the next edit is
        prepared, and, once another document is open, what the one before has left goes."""
        for seconds, work in ((PAUSE, self._prepare), (REST, self._release)):
            try:
                return self._waiting.get(timeout=seconds)
            except queue.Empty:
                work()
        return self._waiting.get()

    def _prepare(self) -> None:
        while self._waiting.empty() and self._service.prepare():
            pass

    def _release(self) -> None:
        if self._has_opened:
            release_memory()
            self._has_opened = False

    def _read(self) -> None:
        try:
            while True:
                try:
                    packet = framing.read_request(self._requests)
                except framing.UnreadableMessageError as error:
                    packet = framing.Packet(error.request, error.bare())  # is answered with it
                if packet is None:
                    break
                if isinstance(packet.message, Control) and packet.message.command == "pause":
                    self._service.pause()  # now; its reply waits for the run to stop
                if isinstance(packet.message, FileRows):
                    self._service.supply(packet.message, packet.buffers)  # a request waits for it
                self._came.update(_kinds(packet.message))
                self._waiting.put(packet)
        except (GradstepError, OSError) as error:
            _log.error("%s", error)
        self._service.pause()
        self._waiting.put(None)
        if not self._finished.wait(GRACE):
            os._exit(0)  # the main thread is in user code that does not return

    def _answer(self, packet: framing.Packet) -> None:
        buffers: tuple[framing.Buffer, ...] = ()
        reply: Message
        start = time.perf_counter()
        kinds = _kinds(packet.message)
        self._begun.update(kinds)
        try:
            if isinstance(packet.message, GradstepError):
                raise packet.message
            reply, buffers = self._service.handle(packet.message, packet.buffers)
        except GradstepError as error:
            reply = Failed(error=info_of(error))
        except BrokenPipeError:
            raise
        except BaseException as error:  # what user code raises does not end the engine
            reply = Failed(error=unexpected_error(error))
        has_opened = isinstance(packet.message, Open)
        self._has_opened |= has_opened
        self._outlet.flush()
        size = 0
        if isinstance(reply, GaveWay) and isinstance(packet.message, Question):
            self._gave_way.append((packet.message, packet.request))
        else:
            size = self._reply(reply, buffers, packet.request)
        if kinds:
            self._tell_given_up(kinds)
        if _log.isEnabledFor(logging.DEBUG):
            _log.debug(
                "#%d %s, %d bytes: answered with %s, %d bytes, in %.1f ms",
                packet.request,
                kind_of(packet.message),
                packet.size,
                kind_of(reply),
                size,
                1000 * (time.perf_counter() - start),
            )

    def _reply(self, message: Message, buffers: tuple[framing.Buffer, ...], request: int) -> int:
        """Bytes that it took. Of what cannot be written nothing is, and the answer is why."""
        try:
            return self._send(message, buffers, request)
        except OSError:
            raise
        except GradstepError as error:
            failed = info_of(error)
        except Exception as error:  # as what no encoding has
            failed = unexpected_error(error)
        return self._send(Failed(error=failed), (), request)

    def _is_awaited(self, kinds: Sequence[type[Request]]) -> bool:
        """Whether a request of one of these waits."""
        return any(self._came[kind] > self._begun[kind] for kind in kinds)

    def _tell_given_up(self, kinds: Sequence[type[Request]]) -> None:
        """The debugger stands where those who asked what gave way to these may want to again."""
        given_up, self._gave_way = self._gave_way, []
        for question, request in given_up:
            if any(kind in question.gives_way_to for kind in kinds):
                self._send(GaveWay(), (), request)
            else:
                self._gave_way.append((question, request))

    def _emit(self, event: Event) -> None:
        self._send(event, (), framing.EVENT)

    def _send(self, message: Message, buffers: tuple[framing.Buffer, ...], request: int) -> int:
        """Bytes that it took."""
        with self._writing:
            return framing.write(self._answers, message, buffers, request)


def _kinds(message: object) -> list[type[Request]]:
    """Of those that a question gives way to."""
    return [kind for kind in ASIDE if isinstance(message, kind)]
