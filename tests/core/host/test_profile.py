"""Profiles as the window asks for them: what they say, and that they leave no trace."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.host.engine_client import EngineClient
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.tensor_bytes import unpack
from gradstep.main import Gradstep

Bytes = Callable[[str], bytes]


def asked(service: EngineService, **request: object) -> m.Profiled:
    reply, _ = service.handle(m.Profile(**request))  # type: ignore[arg-type]
    assert isinstance(reply, m.Profiled), reply
    return reply


def refused(service: EngineService, **request: object) -> m.ErrorInfo:
    reply, _ = service.handle(m.Profile(**request))  # type: ignore[arg-type]
    assert isinstance(reply, m.Failed), reply
    return reply.error


def opened(service: EngineService, data: bytes, **options: object) -> m.Opened:
    reply, _ = service.handle(m.Open(**options), [data])  # type: ignore[arg-type]
    assert isinstance(reply, m.Opened), reply
    return reply


def test_a_recorded_profile_has_a_row_for_each_step(service: EngineService, example: Bytes) -> None:
    program = opened(service, example("tutorial")).program
    found = asked(service, runs=2)
    assert (found.mode, found.runs, found.device, found.text) == ("recorded", 2, "cpu", "")
    assert [(r.op, r.type, r.phase, r.origin) for r in found.rows] == [
        (s.op, s.type, s.phase, s.origin) for s in program.steps
    ]
    assert not any(made.on for made in found.passes)


def test_every_operation_of_the_program_is_accounted_for(
    service: EngineService, example: Bytes
) -> None:
    """Each has a row, is part of another's, or a pass says what became of it."""
    program = opened(service, example("tutorial")).program
    found = asked(service, mode="fast", runs=1)
    rows = {name for row in found.rows for name in (row.op, *row.also)}
    gone = {name for made in found.passes for name in made.gone}
    assert {step.op for step in program.steps} <= rows | gone
    assert all(made.gone_count == len(made.gone) for made in found.passes)


def test_the_session_goes_on_as_if_nothing_had_been_measured(
    service: EngineService, example: Bytes
) -> None:
    def second_run(profiling: bool) -> list[object]:
        opened(service, example("tutorial"))
        service.handle(m.Control(command="continue_"))
        if profiling:
            asked(service, runs=2)
            asked(service, mode="fast", runs=2)
        service.handle(m.Control(command="run_to", target="1:20"))
        reply, buffers = service.handle(m.Read(refs=["c:0", "loss:0", "c/Adam:0"]))
        assert isinstance(reply, m.Values)
        return [unpack(part, buffers).tobytes() for part in reply.parts]

    assert second_run(profiling=True) == second_run(profiling=False)


def test_random_numbers_are_not_used_up(service: EngineService) -> None:
    b = GraphBuilder()
    b.one("RandomUniform", b.constant([3]), name="r", dtype=DType.FLOAT32)
    data = gradstep_file.to_bytes(Document(b.build()))

    def drawn(profiling: bool) -> bytes:
        opened(service, data)
        for mode in ("recorded", "fast") if profiling else ():
            asked(service, mode=mode, runs=3)
        service.handle(m.Control(command="continue_"))
        reply, buffers = service.handle(m.Read(refs=["r:0"]))
        assert isinstance(reply, m.Values)
        return unpack(reply.parts[0], buffers).tobytes()

    assert drawn(profiling=True) == drawn(profiling=False)


def test_what_the_program_prints_while_it_is_measured_is_not_shown(
    service: EngineService, pyfunc: Bytes, events: list[m.Message]
) -> None:
    source = "def f(x):\n    print('here')\n    return x\n"
    opened(service, pyfunc(source), trusted=True)
    asked(service, runs=2)
    assert not [event for event in events if isinstance(event, m.Output)]


def test_a_pass_can_be_left_out(service: EngineService, example: Bytes) -> None:
    opened(service, example("tutorial"))
    found = asked(service, mode="fast", runs=1, without=["simpler forms"])
    assert [made.name for made in found.passes if not made.on] == ["simpler forms"]
    assert "gradients/e_grad/Identity" in {row.op for row in found.rows}


def test_a_run_that_cannot_be_fast_is_recorded_and_says_so(service: EngineService) -> None:
    b = GraphBuilder()
    b.one("Assign", b.variable("n", shape=()), 5.0, name="set")
    opened(service, gradstep_file.to_bytes(Document(b.build())))
    found = asked(service, mode="fast", runs=1)
    assert found.mode == "recorded"
    assert "no value" in found.text
    assert not any(made.on for made in found.passes)


@pytest.mark.parametrize(
    ("request_", "words"),
    [
        ({"mode": "slow"}, "no mode 'slow'"),
        ({"runs": -1}, "-1 runs"),
        ({"mode": "fast", "without": ["dead cod"]}, "no pass 'dead cod'"),
    ],
)
def test_what_cannot_be_asked_for(
    service: EngineService, example: Bytes, request_: dict[str, object], words: str
) -> None:
    opened(service, example("tutorial"))
    assert words in refused(service, **request_).message


def test_without_a_document(service: EngineService) -> None:
    assert refused(service).type == "FailedPreconditionError"


def test_an_emulated_device_has_no_times(example: Bytes) -> None:
    service = EngineService(Gradstep().devices())
    opened(service, example("tutorial"), device="emulate:jax")
    error = refused(service)
    assert "has no times" in error.message
    assert error.hint


def test_a_failing_step_is_named(service: EngineService, example: Bytes) -> None:
    opened(service, example("gather"))
    assert refused(service).node == "b"


@pytest.mark.slow
def test_measuring_can_be_cancelled(
    service: EngineService, pyfunc: Bytes, events: list[m.Message]
) -> None:
    source = "import time\n\ndef f(x):\n    time.sleep(0.05)\n    return x\n"
    opened(service, pyfunc(source), trusted=True)
    timer = threading.Timer(0.3, service.pause)
    timer.start()
    error = refused(service, runs=1000)
    timer.join()
    service.handle(m.Control(command="pause"))
    assert error.type == "CancelledError"
    told = [event for event in events if isinstance(event, m.Progress)]
    assert told
    assert all(event.done <= event.total for event in told)


def test_through_the_pipe(client: EngineClient, example: Bytes) -> None:
    client.call(m.Open(), [example("tutorial")], timeout=30)
    reply, _ = client.call(m.Profile(mode="fast", runs=2), timeout=30)
    assert isinstance(reply, m.Profiled)
    assert reply.rows
    assert reply.passes[0].steps_before > 0
