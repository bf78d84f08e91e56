"""The loop that an engine process runs, in a thread."""

from __future__ import annotations

import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, BinaryIO

import pytest

from gradstep.core import garbage_collection
from gradstep.core.engine.plan.steps import Step
from gradstep.core.host import engine_worker
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
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


@contextmanager
def served() -> Iterator[Callable[..., None]]:
    """Who asks a worker in a thread, and waits for the answer."""
    (requests, ask), (answers, answer) = pipe(), pipe()
    worker = threading.Thread(target=engine_worker.Worker(requests, answer, CpuOnly()).serve)
    worker.start()

    def do(message: m.Message, *buffers: bytes) -> None:
        framing.write(ask, message, buffers, 1)
        ask.flush()
        assert framing.read_answer(answers) is not None

    try:
        yield do
    finally:
        ask.close()
        worker.join(SLOW)
        for end in (requests, answers, answer):
            end.close()
    assert not worker.is_alive()


def test_programs_before_do_not_stay_where_nobody_rests(monkeypatch: Any) -> None:
    monkeypatch.setattr(garbage_collection, "_FEW", 1 << 62)  # whatever other tests have left
    monkeypatch.setattr(engine_worker, "REST", SLOW)
    assert not gc.isenabled(), "else it is not the engine that collects"
    keep_opening()


def keep_opening() -> None:
    data = (EXAMPLES / "lstm.gradstep").read_bytes()  # the plan of a loop is in cycles
    with served() as do:
        do(m.Open(), data)
        do(m.Control(command="step"))
        held = steps()
        for _ in range(3):
            do(m.Open(), data)
        do(m.Control(command="step"))  # the answer before went ahead of the collection
        assert steps() <= 2 * held


def test_the_next_edit_is_prepared_when_nobody_asks(monkeypatch: Any) -> None:
    """Up to the next request, and on from there after it."""
    made: list[int] = []
    prepare = EngineService.prepare

    def noted(service: EngineService) -> bool:
        made.append(1)
        return prepare(service)

    monkeypatch.setattr(EngineService, "prepare", noted)
    data = (EXAMPLES / "tutorial.gradstep").read_bytes()
    with served() as do:
        do(m.Open(), data)
        assert is_soon(lambda: len(made) >= 2)  # the last says that there is no more
        before = len(made)
        do(m.Control(command="step"))
        assert is_soon(lambda: len(made) > before)


def test_an_edit_after_that_finds_it_made() -> None:
    service, data = EngineService(CpuOnly()), (EXAMPLES / "gan.gradstep").read_bytes()
    service.handle(m.Open(), [data])
    plan = service._threads.session.plan
    assert "users" not in vars(plan)
    while service.prepare():
        pass
    assert vars(plan)["users"] == replace(plan).users
    assert not service.prepare()


def test_a_session_may_come_while_an_edit_is_prepared(caplog: pytest.LogCaptureFixture) -> None:
    service, data = EngineService(CpuOnly()), (EXAMPLES / "gan.gradstep").read_bytes()
    service.handle(m.Open(), [data])
    assert service.prepare(), "there is more to be found"
    plan = service._threads.session.plan
    service.handle(m.ManageSessions(command="new", name="b"))
    while service.prepare():
        pass
    assert not caplog.records
    assert "users" in vars(plan)


def steps() -> int:
    return sum(isinstance(one, Step) for one in gc.get_objects())


@pytest.mark.slow
def test_the_engine_lets_go_once_after_each_opening_when_nobody_asks(monkeypatch: Any) -> None:
    released: list[float] = []
    monkeypatch.setattr(engine_worker, "REST", 0.05)
    monkeypatch.setattr(engine_worker, "release_memory", lambda: released.append(1))
    data = (EXAMPLES / "tutorial.gradstep").read_bytes()
    with served() as do:
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
