"""Nothing that the user waits for waits for a question that takes long: the question gives way, and
is asked again."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any, BinaryIO

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.why import nonfinite_origins
from gradstep.core.checks.why.operand_trial import Trial
from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.host.engine_worker import Worker
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol import framing
from gradstep.core.protocol import messages as m
from tests.support.drawn_share import share

SLOW = 20.0  # seconds that a loaded machine may take
LONG = 30  # steps on the way back to NaN


@cache
def document() -> bytes:
    """y is NaN far from where that began, and so is its gradient."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[2])
        y = tf.log(x, name="log")
        for _ in range(LONG):
            y = y * 1.5
        tf.reduce_sum(y * tf.sqrt(x), name="y")
    found = Document(
        graph=builder.build(),
        feeds={"x": Constant(np.array([-1, 1], np.float32))},
        request=GradientRequest.to("y", "x"),
        fetches=(TensorRef("y"),),
    )
    return gradstep_file.to_bytes(found)


class Asked:
    """A worker in a thread, which is asked without waiting for its answers."""

    def __init__(self) -> None:
        (self._requests, self._ask), (self._answers, self._answer) = _pipe(), _pipe()
        self.worker = Worker(self._requests, self._answer, CpuOnly())
        self._thread = threading.Thread(target=self.worker.serve)
        self._thread.start()
        self._number = 0
        self.order: list[int] = []  # in which it answered

    def send(self, message: m.Message, *buffers: bytes) -> int:
        number = self._number = self._number + 1  # the worker's thread may send the next
        framing.write(self._ask, message, buffers, number)
        self._ask.flush()
        return number

    def replies(self, count: int) -> dict[int, m.Message]:
        found: dict[int, m.Message] = {}
        while len(found) < count:
            packet = framing.read_answer(self._answers)
            assert packet is not None
            if packet.request != framing.EVENT:
                assert packet.request not in found
                found[packet.request] = packet.message
                self.order.append(packet.request)
        return found

    def do(self, message: m.Message, *buffers: bytes) -> m.Message:
        number = self.send(message, *buffers)
        return self.replies(1)[number]

    def close(self) -> None:
        self._ask.close()
        self._thread.join(SLOW)
        for end in (self._requests, self._answers, self._answer):
            end.close()
        assert not self._thread.is_alive()


def _pipe() -> tuple[BinaryIO, BinaryIO]:
    reads, writes = os.pipe()
    return os.fdopen(reads, "rb"), os.fdopen(writes, "wb")


@contextmanager
def opened() -> Iterator[Asked]:
    asked = Asked()
    try:
        asked.do(m.Open(), document())
        yield asked
    finally:
        asked.close()


COMMANDS: Sequence[m.Message] = (
    m.Control(command="step"),
    m.Control(command="step_back"),
    m.Control(command="continue_"),
    m.Control(command="run_to", target="0:20"),
    m.Inject(name="log:0", dtype="float32", shape=[2], branch=""),
)
SLOW_QUESTIONS: Sequence[m.Question] = (
    m.Why(of="y"),
    m.Why(of="y", wrt="x"),
    m.Why(of="y", wrt="log"),
    m.FindBottlenecks(wrt="log"),
    m.CheckGradients(),
    m.FindJacobian(node="y"),
    m.Diagnose(),
)
QUESTIONS: Sequence[m.Message] = (
    m.Why(of="y"),
    m.Why(of="y", wrt="x"),
    m.Diagnose(),
    m.CheckGradients(),
    m.FindJacobian(node="y"),
    m.FindMoments(text='isnan(x["y"])'),
    m.Read(refs=["y:0"]),
)


def told(message: m.Message) -> bytes:
    """All of it, as bytes: NaN is NaN there."""
    return msgspec.msgpack.encode(message)


def buffers_of(message: m.Message) -> tuple[bytes, ...]:
    return (np.ones(2, np.float32).tobytes(),) if isinstance(message, m.Inject) else ()


@settings(deadline=None, max_examples=share(8))
@given(st.lists(st.sampled_from([*COMMANDS, *QUESTIONS]), min_size=2, max_size=8))
def test_answers_are_those_of_who_is_asked_one_thing_after_the_other(
    messages: list[m.Message],
) -> None:
    quiet = EngineService(CpuOnly())
    quiet.handle(m.Open(), [document()])
    expected = [quiet.handle(each, buffers_of(each))[0] for each in messages]
    with opened() as asked:
        numbers = [asked.send(each, *buffers_of(each)) for each in messages]
        found = asked.replies(len(messages))
        for place, (each, number) in enumerate(zip(messages, numbers, strict=True)):
            if not isinstance(found[number], m.GaveWay):
                assert told(found[number]) == told(expected[place]), each
                continue
            assert isinstance(each, m.Question)
            behind = [
                n
                for n, b in zip(numbers, messages, strict=True)
                if n > number and isinstance(b, tuple(each.gives_way_to))
            ]
            before = asked.order[: asked.order.index(number)]
            assert each in QUESTIONS
            assert behind, "it gave way to nobody"
            assert behind[0] in before
            assert behind[1:2] not in ([n] for n in before), "it is told at once"
            # Asked again, where all has come to.
            assert told(asked.do(each)) == told(quiet.handle(each)[0])


def test_a_command_waits_for_one_step_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    with opened() as asked:
        asked.do(m.Control(command="continue_"))

        class Noticed(Trial):
            def __init__(self, *about: Any) -> None:
                super().__init__(*about)
                tried.append(1)
                if len(tried) == LONG // 2:
                    asked.send(m.Control(command="step"))
                    while not asked.worker._is_awaited([m.Command]):
                        threading.Event().wait(0.001)

        monkeypatch.setattr(nonfinite_origins, "Trial", Noticed)
        why = asked.send(m.Why(of="y"))
        found = asked.replies(2)
        assert isinstance(found[why], m.GaveWay)
        assert isinstance(found[why + 1], m.Stopped)
        assert len(tried) == LONG // 2
        assert asked.order[-2:] == [why + 1, why], "the command is answered first"
        assert isinstance(asked.do(m.Why(of="y")), m.Explained)


@settings(deadline=None, max_examples=share(8))
@given(st.data())
def test_what_was_given_up_anywhere_is_answered_as_if_it_had_not_been(data: st.DataObject) -> None:
    """What it was about to make is not there half made: neither gradients, nor plans, nor runs."""
    services = [EngineService(CpuOnly()), EngineService(CpuOnly())]
    for service in services:
        service.handle(m.Open(), [document()])
        service.handle(m.Control(command="continue_"))
    quiet, disturbed = services
    looks = [0]

    def is_awaited(kinds: object) -> bool:
        looks[0] -= 1
        return looks[0] == 0

    disturbed._is_awaited = is_awaited
    for _ in range(data.draw(st.integers(1, 4))):
        question = data.draw(st.sampled_from([*SLOW_QUESTIONS]))
        looks[0] = data.draw(st.integers(1, 3 * LONG))
        disturbed.handle(question)
        looks[0] = 0
        assert told(disturbed.handle(question)[0]) == told(quiet.handle(question)[0])


@pytest.mark.parametrize("question", [m.Why(of="y"), m.Diagnose(), m.FindMoments(text="x")])
def test_what_the_user_did_not_ask_gives_way_to_values_that_are_looked_at(
    question: m.Question, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A check or a search that the user began does not: it would begin again at each selection."""
    read = m.Read(refs=["y:0"])
    with opened() as asked:
        asked.do(m.Control(command="continue_"))
        handle = asked.worker._service.handle

        def busy(message: m.Message, buffers: Sequence[Any] = ()) -> Any:
            if message == question and len(asked.order) == 2:  # an answer to each of those before
                asked.send(read)
                while not asked.worker._is_awaited([m.Glance]):
                    threading.Event().wait(0.001)
            return handle(message, buffers)

        monkeypatch.setattr(asked.worker._service, "handle", busy)
        first = asked.send(question)
        found = asked.replies(2)
        assert isinstance(found[first + 1], m.Values)
        gives_way = not isinstance(question, m.FindMoments)
        assert isinstance(found[first], m.GaveWay) == gives_way
        assert asked.order[-2:] == ([first + 1, first] if gives_way else [first, first + 1])
        assert not isinstance(asked.do(question), m.GaveWay)


def test_what_waits_behind_a_command_is_not_given_up() -> None:
    with opened() as asked:
        asked.do(m.Control(command="continue_"))
        step, why = asked.send(m.Control(command="step")), asked.send(m.Why(of="y"))
        found = asked.replies(2)
        assert isinstance(found[step], m.Stopped)
        assert isinstance(found[why], m.Explained)


def test_a_pause_gives_a_question_up_for_good(monkeypatch: pytest.MonkeyPatch) -> None:
    with opened() as asked:
        asked.do(m.Control(command="continue_"))

        class Paused(Trial):
            def __init__(self, *about: Any) -> None:
                if not asked.worker._service._interrupted.is_set():
                    asked.send(m.Control(command="pause"))
                    asked.worker._service._interrupted.wait(SLOW)
                super().__init__(*about)

        monkeypatch.setattr(nonfinite_origins, "Trial", Paused)
        found = asked.do(m.Why(of="y"))
        assert isinstance(found, m.Failed)
        assert found.error.type == "CancelledError"
        assert isinstance(asked.replies(1).popitem()[1], m.Stopped)


def test_commands_give_way_to_nothing() -> None:
    is_awaited = [True]
    service = EngineService(CpuOnly(), is_awaited=lambda kinds: is_awaited[0])
    service.handle(m.Open(), [document()])
    assert isinstance(service.handle(m.Control(command="continue_"))[0], m.Stopped)
    assert isinstance(service.handle(m.Read(refs=["y:0"]))[0], m.Values)
    for question in (m.Why(of="y"), m.FindBottlenecks(wrt="x")):  # neither is begun at all
        assert service.handle(question) == (m.GaveWay(), ())
    is_awaited[0] = False
    assert isinstance(service.handle(m.Why(of="y"))[0], m.Explained)
