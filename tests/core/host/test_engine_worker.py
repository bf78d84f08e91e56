"""The loop that an engine process runs, in a thread."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Any, BinaryIO

from gradstep.core.host import engine_worker
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.core.protocol import framing
from gradstep.core.protocol import messages as m

SLOW = 20.0  # seconds that a loaded machine may take


def is_soon(condition: Callable[[], bool]) -> bool:
    end = time.monotonic() + SLOW
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


def pipe() -> tuple[BinaryIO, BinaryIO]:
    """To read from, to write to."""
    reads, writes = os.pipe()
    return os.fdopen(reads, "rb"), os.fdopen(writes, "wb")


def test_the_engine_lets_go_once_after_each_opening_when_nobody_asks(monkeypatch: Any) -> None:
    released: list[float] = []
    monkeypatch.setattr(engine_worker, "REST", 0.05)
    monkeypatch.setattr(engine_worker, "release_memory", lambda: released.append(1))
    (requests, ask), (answers, answer) = pipe(), pipe()
    serving = engine_worker.Worker(requests, answer, CpuOnly())
    worker = threading.Thread(target=serving.serve)
    worker.start()
    data = (EXAMPLES / "tutorial.gradstep").read_bytes()

    def do(message: m.Message, *buffers: bytes) -> None:
        framing.write(ask, message, buffers, 1)
        ask.flush()
        assert framing.read_answer(answers) is not None

    do(m.Control(command="step"))
    time.sleep(0.2)
    assert released == []  # nothing was opened
    do(m.Open(), data)
    do(m.Control(command="step"))
    assert is_soon(lambda: len(released) == 1)
    do(m.Control(command="step"))
    time.sleep(0.2)
    assert len(released) == 1
    do(m.Open(), data)
    assert is_soon(lambda: len(released) == 2)
    ask.close()
    worker.join(SLOW)
    assert not worker.is_alive()
    for end in (requests, answers, answer):
        end.close()
