"""The process of a pool: does what it is asked, one thing after the other, until its input ends."""

from __future__ import annotations

import importlib
import os
import queue
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from gradstep.core.errors import GradstepError
from gradstep.core.host.process.standard_streams import take_over_stdio
from gradstep.core.host.workers.work_link import WorkLink, linked
from gradstep.core.host.workers.worker_messages import Begin, Done, News, NotDone, Order, Stop, Work
from gradstep.core.program import sandbox
from gradstep.core.protocol import framing
from gradstep.core.protocol.error_records import info_of, unexpected_error
from gradstep.core.protocol.message_base import Message

if TYPE_CHECKING:
    from gradstep.core.host.device_services import DeviceServices


def run_worker(devices: Callable[[], DeviceServices]) -> int:
    """Serve until whoever started this process says no more; the exit status. devices: see
    gradstep.core.host.workers.work_link."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C is for who started it
    orders, answers = take_over_stdio()
    if not _begin(orders, answers):
        return 1
    _Worker(orders, answers, devices).serve()
    return 0


def _begin(orders: BinaryIO, answers: BinaryIO) -> bool:
    """Confine this process, if it is to be, before there are threads; whether it may go on."""
    packet = framing.read_one_of(orders, Order)
    if packet is None or not isinstance(packet.message, Begin):
        return False
    wish = packet.message
    try:
        if wish.confined:
            sandbox.confine(wish.profile, wish.read, wish.write)
    except GradstepError as error:
        framing.write(answers, NotDone(error=info_of(error)))
        return False
    return True


class _Worker:
    def __init__(
        self, orders: BinaryIO, answers: BinaryIO, devices: Callable[[], DeviceServices]
    ) -> None:
        self._orders, self._answers, self._devices = orders, answers, devices
        self._queue: queue.SimpleQueue[Work] = queue.SimpleQueue()
        self._stop = threading.Event()
        threading.Thread(target=self._listen, daemon=True).start()

    def serve(self) -> None:
        """Never returns but by the end of the process."""
        link = WorkLink(self._stop.is_set, self._report, self._devices)
        while True:
            work = self._queue.get()
            with linked(link):
                answer = _answer(work)
            self._say(answer)

    def _listen(self) -> None:
        """When whoever asked has gone, nobody needs the answer."""
        with suppress(GradstepError, OSError):
            while (packet := framing.read_one_of(self._orders, Order)) is not None:
                if isinstance(packet.message, Work):
                    self._stop.clear()
                    self._queue.put(packet.message)
                elif isinstance(packet.message, Stop):
                    self._stop.set()
        os._exit(0)

    def _report(self, news: dict[str, Any]) -> None:
        self._say(News(what=news))

    def _say(self, message: Message) -> None:
        try:
            framing.write(self._answers, message)
        except OSError:
            os._exit(0)


def _answer(work: Work) -> Done | NotDone:
    try:
        function = getattr(importlib.import_module(work.module), work.function)
        return Done(result=function(*work.arguments))
    except GradstepError as error:
        return NotDone(error=info_of(error))
    except MemoryError:
        return NotDone(error=info_of(_no_memory()))
    except Exception as error:
        return NotDone(error=unexpected_error(error))


def _no_memory() -> GradstepError:
    return GradstepError(
        "there is not enough memory for this",
        kind="ResourceExhaustedError",
        hint="use fewer --workers, or smaller tensors",
    )
