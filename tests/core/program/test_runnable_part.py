"""What is still being drawn does not keep the rest from running."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document import document_edits, value_edits
from gradstep.core.document.document import Document
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef, predecessors
from gradstep.core.host import program_reports
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.ops.build.builder import GraphBuilder, call
from gradstep.core.ops.typing.missing_inputs import find_waiting
from gradstep.core.program.derive import derive
from gradstep.core.program.runnable_part import drop_unfinished
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.tensor_bytes import unpack
from tests.fuzz.wires import moves

EXAMPLES = Path(__file__).parents[3] / "assets" / "examples"
TUTORIAL = EXAMPLES / "tutorial.gradstep"


def opened(service: EngineService, document: Document, keep: bool = False) -> m.Opened:
    request = m.Open(trusted=True, device="cpu", keep_position=keep)
    reply, _ = service.handle(request, [gradstep_file.to_bytes(document, readable=False)])
    assert isinstance(reply, m.Opened), reply
    return reply


def at_the_end(service: EngineService, reply: m.Opened) -> None:
    """Run to the end of the run, without a failure."""
    if reply.program.steps:
        stopped, _ = service.handle(m.Control(command="continue_"))
        assert isinstance(stopped, m.Stopped), stopped
        assert stopped.error is None, stopped.error


def values(service: EngineService, names: list[str]) -> dict[str, tuple[str, bytes]]:
    reply, buffers = service.handle(m.Read(refs=names, limit=64))
    assert isinstance(reply, m.Values), reply
    return {p.ref: (p.state, unpack(p, buffers).tobytes()) for p in reply.parts}


def service() -> EngineService:
    return EngineService(CpuOnly())


def add_and_wire(document: Document, type: str, *sources: str) -> tuple[Document, str]:
    document, name = document_edits.add_operation(document, type, (0, 0))
    for index, source in enumerate(sources):
        document = document_edits.connect(document, TensorRef(source), Edge(name, index))
    return document, name


def test_an_open_input_leaves_all_that_is_finished_running() -> None:
    document, x = add_and_wire(Document(), "Placeholder")
    document, y = add_and_wire(document, "Square", x)
    document, z = add_and_wire(document, "Add", y)  # its second input is open
    document, w = add_and_wire(document, "Neg", z)
    engine = service()
    reply = opened(engine, document)
    assert {step.op for step in reply.program.steps} == {y}  # a feed stands for x
    at_the_end(engine, reply)
    assert values(engine, [f"{y}:0"])[f"{y}:0"][0] == "known"
    assert [(p.node, p.type) for p in reply.program.problems] == [(z, "unconnected")]
    assert str(find_waiting(document.graph, [TensorRef(x)])[w]) == f"input 'y' of {z}"


def test_a_placeholder_that_is_not_fed_holds_up_only_what_needs_it() -> None:
    document, x = add_and_wire(Document(), "Placeholder")
    document, y = add_and_wire(document, "Square", x)
    document, n = add_and_wire(document, "Placeholder")
    document, _ = add_and_wire(document, "Mul", y, n)
    document = document.with_(feeds={f"{x}:0": document.feeds[f"{x}:0"]})
    engine = service()
    reply = opened(engine, document)
    assert {step.op for step in reply.program.steps} == {y}
    at_the_end(engine, reply)
    (problem,) = reply.program.problems
    assert (problem.node, problem.type, problem.severity) == (n, "unfed", "info")


def test_what_is_asked_for_and_unfinished_runs_as_far_as_it_can() -> None:
    tutorial = gradstep_file.load(TUTORIAL)
    document = document_edits.disconnect(
        tutorial, Edge("a", 1)
    )  # a = d * ?, and the loss behind it
    engine = service()
    reply = opened(engine, document)
    steps = {step.op for step in reply.program.steps}
    assert {"d", "e"} <= steps
    assert not {"a", "loss"} & steps
    at_the_end(engine, reply)
    waits = [p for p in reply.program.problems if p.type == "waiting"]
    assert [(p.node, p.severity) for p in waits] == [("a", "info")]
    assert "the gradient of 'loss' waits for a" in waits[0].message


def test_gradients_that_wait_for_a_feed_are_told_from_none() -> None:
    tutorial = gradstep_file.load(TUTORIAL)
    stopped = replace(tutorial.request, stopped_edges=frozenset({Edge("e", 1)}))
    document = tutorial.with_(feeds={}, request=stopped)
    program = opened(service(), document).program
    assert program.waiting["c:0"] in {"waits for a feed of data", "waits for a feed of labels"}
    assert not {"c:0", "k:0"} & program.gradients.keys()
    assert "k:0" not in program.waiting  # it is None, fed or not
    at = [(edge.op, edge.index) for edge in program.waiting_edges]
    assert ("e", 0) in at
    assert ("e", 1) not in at
    fed = opened(service(), tutorial).program
    assert (fed.waiting, fed.waiting_edges) == ({}, [])


def test_gradients_that_do_not_need_it_are_there() -> None:
    document, v = add_and_wire(Document(), "VariableV2")
    document, y = add_and_wire(document, "Square", v)
    document, z = add_and_wire(document, "Neg")
    request = GradientRequest((TensorRef(y),), (TensorRef(v), TensorRef(z)))
    reply = opened(service(), document.with_(request=request))
    assert f"{v}:0" in reply.program.gradients
    assert f"{z}:0" not in reply.program.gradients


def test_a_gradient_through_what_is_not_fed_waits_and_the_others_come() -> None:
    """∂(x·v + v²)/∂v needs x, which nothing feeds; that of v² alone does not."""
    document, v = add_and_wire(Document(), "VariableV2")
    document, x = add_and_wire(document, "Placeholder")
    document, xv = add_and_wire(document, "Mul", x, v)
    document, vv = add_and_wire(document, "Square", v)
    document = document.with_(
        feeds={}, request=GradientRequest((TensorRef(vv),), (TensorRef(v),)), targets=(xv,)
    )
    engine = service()
    reply = opened(engine, document)
    at_the_end(engine, reply)
    holder = reply.program.gradients[f"{v}:0"]
    assert values(engine, [holder])[holder][0] == "known"


def test_the_place_is_kept_while_one_builds_on() -> None:
    tutorial = gradstep_file.load(TUTORIAL)
    engine = service()
    opened(engine, tutorial)
    stopped, _ = engine.handle(m.Control(command="run_to", target="a"))
    assert isinstance(stopped, m.Stopped)
    before = values(engine, ["d:0", "e:0"])
    document, _ = add_and_wire(tutorial, "Add", "d")
    reply = opened(engine, document, keep=True)
    assert (reply.stopped.op, reply.stopped.run) == ("a", stopped.run)
    assert values(engine, ["d:0", "e:0"]) == before
    assert before["d:0"][0] == "known"


# -- any edits -----------------------------------------------------------------------------------

TYPES = ("Placeholder", "Const", "VariableV2", "Add", "Mul", "Neg", "Square", "MatMul", "AddN")


@st.composite
def drawings(draw: st.DrawFn) -> list[Document]:
    """Documents, each an edit away from the one before: nodes added, wired, unplugged, unfed."""
    documents = [Document()]
    for _ in range(draw(st.integers(3, 14))):
        documents.append(_edited(draw, documents[-1]))
    return documents


def _edited(draw: st.DrawFn, document: Document) -> Document:
    names = sorted(document.graph.operations)
    kind = draw(st.sampled_from(("add", "add", "wire", "wire", "wire", "unplug", "unfeed", "ask")))
    if kind == "add" or len(names) < 2:
        return document_edits.add_operation(document, draw(st.sampled_from(TYPES)), (0, 0))[0]
    name = draw(st.sampled_from(names))
    count = len(document.graph[name].inputs)
    if kind == "unfeed":
        return document.with_(feeds={k: v for k, v in document.feeds.items() if k != f"{name}:0"})
    if kind == "ask":
        wrt = [n for n in names if document.graph[n].type == "VariableV2"]
        return document_edits.set_request(document, [name], wrt)
    if not count:
        return document
    edge = Edge(name, draw(st.integers(0, count - 1)))
    if kind == "unplug":
        return document_edits.disconnect(document, edge)
    try:
        return document_edits.connect(document, TensorRef(draw(st.sampled_from(names))), edge)
    except GradstepError:
        return document


def finished(document: Document) -> set[str]:
    """Operations that wait for nothing, and that nothing is wrong with; but for placeholders, as
    a feed takes their place."""
    fed = {TensorRef.parse(name) for name in document.feeds}
    waits = find_waiting(document.graph, fed)
    program = derive(document)
    wrong = {p.node for p in program.problems if p.severity == "error"}
    broken = {n for n in document.graph.operations if document.graph.ancestors([n]) & wrong}
    placeholders = {op.name for op in document.graph if op.type == "Placeholder"}
    return document.graph.operations.keys() - waits.keys() - broken - placeholders


@pytest.mark.slow
@given(drawings())
def test_whatever_is_finished_has_a_step_and_keeps_its_value(documents: list[Document]) -> None:
    engine, before, old = service(), {}, None
    for document in documents:
        reply = opened(engine, document, keep=old is not None)
        wanted = finished(document)
        asked = document.request.of
        steps = {step.op for step in reply.program.steps}
        if not asked:
            assert wanted <= steps
        at_the_end(engine, reply)
        now = values(engine, [f"{name}:0" for name in sorted(wanted & steps)])
        for ref, kept in now.items():
            if old is not None and ref in before and same_above(old, document, ref):
                assert kept == before[ref]
        before, old = now, document


def same_above(old: Document, new: Document, ref: str) -> bool:
    """Whether an edit touched nothing that a tensor is computed from."""
    name = TensorRef.parse(ref).op
    if name not in old.graph:
        return False
    above = new.graph.ancestors([name])
    fed = {n: new.feeds.get(f"{n}:0") for n in above} == {n: old.feeds.get(f"{n}:0") for n in above}
    return fed and all(old.graph.operations.get(n) is new.graph[n] for n in above)


# -- every wire, unplugged and moved -------------------------------------------------------------


SMALL = (
    *("gather", "gather_nd", "variable_copies", "custom_grad_identity", "nan_gradient"),
    *("tutorial", "queue_deadlock", "stop_gradient", "two_networks", "while_loop"),
)


@pytest.mark.parametrize("example", SMALL)
@pytest.mark.slow
def test_every_wire_unplugged_or_moved_leaves_the_engine_answering(example: str) -> None:
    """Each fifth move is tried: of all wires some."""
    engine = service()
    moved = [*moves(example)][::5]
    for document in moved:
        reply = opened(engine, document)
        internal = [p for p in reply.program.problems if "could not be" in p.message]
        assert not internal
        stopped, _ = engine.handle(m.Control(command="continue_"))
        error = stopped.error if isinstance(stopped, m.Stopped) else None
        assert error is None or error.type != "InternalError"
    assert len(moved) > 2


def test_what_waits_costs_no_more_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where many tensors are fetched, as the gradients by many variables are."""
    compared = 0

    def count(one: TensorRef, other: object) -> bool:
        nonlocal compared
        compared += 1
        return isinstance(other, TensorRef) and (one.op, one.index) == (other.op, other.index)

    build = GraphBuilder()
    fetches = tuple(call("Neg", build.constant(1.0)).ref for _ in range(300))
    document = Document(graph=build.build(), fetches=fetches)
    program = derive(document_edits.add_operation(document, "Tanh", (0, 0))[0])
    monkeypatch.setattr(TensorRef, "__eq__", count)
    assert drop_unfinished(program).fetches == fetches
    assert compared < 20 * len(fetches)


@pytest.mark.parametrize("part", ["find_waiting", "_loops", "held_up", "problems_of", "_losses"])
def test_a_part_that_cannot_be_told_costs_no_step(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise KeyError(part)

    monkeypatch.setattr(program_reports, part, broken)
    engine = service()
    reply = opened(engine, gradstep_file.load(TUTORIAL))
    at_the_end(engine, reply)
    assert len(reply.program.steps) > 20
    assert "could not be told" in reply.program.problems[-1].message
    assert values(engine, ["loss:0"])["loss:0"][0] == "known"


def test_a_constant_that_a_wire_was_drawn_to_breaks_nothing_else(service: EngineService) -> None:
    """In a branch, where numbers say which side was taken: what it gives has no type."""
    document = gradstep_file.load(EXAMPLES / "cond_gradients.gradstep")
    document = document_edits.connect(
        document, TensorRef("choose/switch_t"), Edge("choose/Const", 0)
    )
    document = value_edits.set_attr(document, "choose/Const", "dtype", DType.INT32)
    reply = opened(service, document)
    assert any(problem.node == "choose/Const" for problem in reply.program.problems)
    assert len(reply.program.steps) > 10


@st.composite
def unfinished(draw: st.DrawFn) -> tuple[Graph, list[str], list[str]]:
    """A graph of sums, some of them open, some fed, with control inputs; what is asked for."""
    ops: list[Operation] = [Operation("p", "Placeholder"), Operation("v", "VariableV2")]
    for number in range(draw(st.integers(1, 14))):
        names = [op.name for op in ops]
        refs = st.one_of(st.none(), *[st.sampled_from(names).map(TensorRef)] * 4)
        inputs = tuple(draw(st.lists(refs, min_size=0, max_size=3)))
        waits = tuple(draw(st.lists(st.sampled_from(names), max_size=2, unique=True)))
        ops.append(Operation(f"n{number}", "AddN", inputs, waits))
    some = st.lists(st.sampled_from([op.name for op in ops]), unique=True)
    return Graph.of(draw(st.permutations(ops))), draw(some), draw(some)


@given(unfinished())
def test_what_is_run_instead_is_what_comes_last_before_what_waits(
    drawn: tuple[Graph, list[str], list[str]],
) -> None:
    graph, asked, fed = drawn
    feeds = {TensorRef(name): np.zeros(()) for name in fed}
    program = Program(graph=graph, forward=graph, request=GradientRequest(), feeds=feeds)
    program = replace(program, targets=tuple(asked))
    waits = find_waiting(graph, feeds)
    held = [name for name in asked if name in waits]
    needed = graph.ancestors(held)
    before = (predecessors(op) for op in graph if op.name in needed and op.name in waits)
    last = [name for name in chain.from_iterable(before) if name not in waits]
    wanted = [name for name in asked if name not in waits] + last
    assert [*drop_unfinished(program).targets] == [*dict.fromkeys(wanted)]
