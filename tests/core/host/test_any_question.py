"""Whatever is asked about any node, wherever the debugger stands, is answered or refused: it never
ends in what nobody foresaw."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

import pytest

from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.document.requests import every_request
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Operation
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.protocol import messages as m
from gradstep.core.protocol import queries as q
from gradstep.core.protocol.jacobian_queries import FindJacobian

_STOPS, _NODES = 3, 4
_MOVES = ("step_into", "step_into", "step", "step_back", "step_out")


def moves(drawn: random.Random, operations: list[Operation]) -> Iterator[m.Control]:
    """To somewhere, in loops too, and of a loop to some iteration."""
    if drawn.random() < 0.3:
        yield m.Control(command="continue_")
    else:
        yield m.Control(command="run_to", target=drawn.choice(operations).name)
        for _ in range(drawn.randrange(6)):
            yield m.Control(command=drawn.choice(_MOVES))
    loops = [op.name for op in operations if op.type == "While"]
    if loops and drawn.random() < 0.5:
        target = f"{drawn.choice(loops)} {drawn.randrange(1, 5)}"
        yield m.Control(command="choose_iteration", target=target)


def questions(name: str, of: str) -> Iterator[m.Request]:
    yield m.Why(of=name)
    yield q.FindSmallest(of=name)
    yield q.FindSmallest(node=name)
    yield q.CheckGradients(node=name)
    yield FindJacobian(node=name)
    yield m.Read(refs=[name])
    yield q.Watch(texts=[f"norm({name})", f"grad({name})"])
    if of:
        yield m.Why(of=of, wrt=name)
        yield q.FindSmallest(of=of, wrt=name)
        yield q.FindBottlenecks(of=of, wrt=name)


@pytest.mark.parametrize(
    "name", ["while_loop", "rnn", "assign_in_loop", "cond_gradients", "queue_train_validation"]
)
def test_no_question_ends_in_what_nobody_foresaw(
    example: Callable[[str], bytes], name: str
) -> None:
    drawn, engine = random.Random(name), EngineService(CpuOnly())
    document = gradstep_file.from_bytes(example(name))
    asked = {y.short for request in every_request(document) for y in request.of}
    engine.handle(m.Open(), [example(name)])
    operations = [*within(document.graph)]
    replies = []
    for _ in range(_STOPS):
        for move in moves(drawn, operations):
            engine.handle(move, [])
        derived = [*operations, *within(engine._session.program.graph)]
        for op in drawn.sample(derived, _NODES):
            for question in questions(op.name, min(asked, default="")):
                reply, _ = engine.handle(question, [])
                unforeseen = isinstance(reply, m.Failed) and reply.error.type == "InternalError"
                assert not unforeseen, (question, engine._session.stop, reply)
                replies.append(type(reply))
    assert m.Explained in replies


def test_the_smallest_graph_leaves_out_python_that_it_does_not_need(
    example: Callable[[str], bytes],
) -> None:
    document, engine = gradstep_file.from_bytes(example("nan_gradient")), EngineService(CpuOnly())
    kinds = {
        kind.value: CodeItem(kind.value, kind, "def f(*given):\n    return given")
        for kind in CodeKind
    }
    file = gradstep_file.to_bytes(document.with_(code=kinds))
    engine.handle(m.Open(trusted=True), [file])
    engine.handle(m.Control(command="continue"), [])
    (request,) = every_request(document)
    wish = q.FindSmallest(of=request.of[0].short, wrt=request.wrt[0].short)
    reply, sent = engine.handle(wish, [])
    assert isinstance(reply, q.Smallest), reply
    assert "pyfunc" not in gradstep_file.from_bytes(bytes(sent[0])).code  # no operation calls it
