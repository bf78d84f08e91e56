"""Whatever is asked about a loop without end can be given up."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.cancellation import Cancelled, cancelled_when, check_cancelled
from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Expectation
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.native.document_diff import differences
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol import messages as m

Y = TensorRef("forever/Exit")
SOON = 0.1  # seconds until it is given up


def endless() -> Document:
    """y = x + 0 + 0 + …, and its gradient."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[])
        tf.while_loop(lambda j: j >= 0.0, lambda j: j + 0.0, [x], name="forever")
    return Document(
        graph=builder.build(),
        feeds={"x": Constant(np.float32(1))},
        request=GradientRequest.to(str(Y), "x"),
        fetches=(Y,),
        expectations=(Expectation("never known", f'x["{Y}"]', value=Constant(np.float32(1))),),
    )


@contextmanager
def paused_soon(service: EngineService) -> Iterator[None]:
    """What is asked inside ends then, and not much later."""
    timer = threading.Timer(SOON, service.pause)
    started = time.monotonic()
    timer.start()
    yield
    assert SOON <= time.monotonic() - started < SOON + 5
    timer.join()
    service.handle(m.Control(command="pause"))


@pytest.mark.parametrize(
    "request_",
    [
        m.Why(of=str(Y), wrt="x"),
        m.CheckGradients(),
        m.CompareVariants(elements=8),
        m.Profile(),
        m.CheckExpectations(),
        m.Expect(what=[f'x["{Y}"]']),
    ],
    ids=lambda request: type(request).__name__,
)
def test_what_runs_beside_the_debugger(service: EngineService, request_: m.Message) -> None:
    sent = gradstep_file.to_bytes(endless())
    service.handle(m.Open(), (sent,))
    with paused_soon(service):
        reply, _ = service.handle(request_, (sent,))
    assert isinstance(reply, m.Failed), reply
    assert reply.error.type == "CancelledError"
    assert isinstance(service.handle(m.Control(command="step"))[0], m.Stopped)


def test_an_initial_operation(service: EngineService) -> None:
    """The document is open then, without it."""
    document = replace(endless(), init="forever/Exit", fetches=())
    with paused_soon(service):
        reply, _ = service.handle(m.Open(), (gradstep_file.to_bytes(document),))
    assert isinstance(reply, m.Opened)
    [problem] = reply.program.problems
    assert problem.message.startswith("the initial operation was cancelled")


def test_neither_opening_nor_an_edit_is_given_up(service: EngineService) -> None:
    """A pause is for what runs: where these end, one can stand."""
    document = replace(endless(), fetches=())
    fed = replace(document, feeds={"x": Constant(np.ones(2, np.float32))})  # all is compiled anew
    service.pause()
    reply, _ = service.handle(m.Open(revision=1), (gradstep_file.to_bytes(document),))
    assert isinstance(reply, m.Opened)
    members, told = differences(document, fed).to_buffers()
    reply, _ = service.handle(m.Edit(base=1, revision=2, members=members), told)
    assert isinstance(reply, m.Edited)
    service.handle(m.Control(command="pause"))


def test_where_nobody_asks_nothing_is_cancelled() -> None:
    check_cancelled()
    with cancelled_when(lambda: True):
        with cancelled_when(lambda: False):
            check_cancelled()
        with pytest.raises(Cancelled):
            Session(endless().graph).run([Y], {"x": np.float32(1)})
    check_cancelled()


@pytest.mark.parametrize("fast", [False, True])
def test_a_session_that_has_run_before_is_asked_like_a_new_one(fast: bool) -> None:
    """In a loop that would come to its end."""
    builder = GraphBuilder()
    with builder.as_default():
        n = builder.placeholder("n", "int32", ())
        last = tf.while_loop(lambda i: i < n, lambda i: i + 1, [0], name="loop")
    session, asked = Session(builder.build(), fast=fast), itertools.count()
    for _ in range(2):
        with cancelled_when(lambda: False):
            session.run([last.ref], {"n": 1})
    with cancelled_when(lambda: next(asked) > 20), pytest.raises(Cancelled):
        session.run([last.ref], {"n": 50})


def test_a_long_way_back_to_nan_can_be_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not after the last of its steps, but at one of them."""
    builder, asked = GraphBuilder(), itertools.count()
    with builder.as_default():
        y = tf.log(builder.placeholder("x", shape=[2]))
        for _ in range(100):
            y = y * 1.5
        tf.identity(y, name="y")
    document = Document(
        graph=builder.build(),
        feeds={"x": Constant(np.array([-1, 1], np.float32))},
        fetches=(TensorRef("y"),),
    )
    service = EngineService(CpuOnly())
    service.handle(m.Open(), [gradstep_file.to_bytes(document)])
    service.handle(m.Control(command="continue_"))
    monkeypatch.setattr(service._interrupted, "is_set", lambda: next(asked) > 20)
    reply, _ = service.handle(m.Why(of="y"))
    assert isinstance(reply, m.Failed)
    assert reply.error.type == "CancelledError"
