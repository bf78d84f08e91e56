"""The engine's answers, in process: the tutorial as the window would play it."""

from __future__ import annotations

import gc
import re
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.notation.step_notation import Notation, Sentence
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.breaks.breakpoints import Breakpoint
from gradstep.core.document import document_edits
from gradstep.core.document.document import CodeItem, CodeKind, Document, Optimizer
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Constant, Edge, Graph, Operation, TensorRef
from gradstep.core.host.device_services import CpuOnly
from gradstep.core.host.engine_service import EngineService
from gradstep.core.io.native import gradstep_file
from gradstep.core.io.tensorflow.graphdef_import import from_pb
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.tensor_bytes import unpack
from tests.support import gradient_facts as facts

Ask = Callable[..., m.Message]


@pytest.fixture
def ask(service: EngineService) -> Ask:
    def ask(message: m.Message, *buffers: bytes) -> m.Message:
        return service.handle(message, buffers)[0]

    return ask


@pytest.fixture
def values(service: EngineService) -> Callable[..., dict[str, list[float]]]:
    """Values of tensors by name; those that are not known are left out."""

    def read(*refs: str, run: int = -1, step: int = -1) -> dict[str, list[float]]:
        reply, buffers = service.handle(m.Read(refs=list(refs), run=run, step=step))
        assert isinstance(reply, m.Values)
        known = [part for part in reply.parts if part.state == "known"]
        return {part.ref: unpack(part, buffers).tolist() for part in known}

    return read


@pytest.fixture
def opened(ask: Ask, example: Callable[[str], bytes]) -> m.Opened:
    reply = ask(m.Open(), example("tutorial"))
    assert isinstance(reply, m.Opened)
    return reply


def control(ask: Ask, command: str, target: str = "") -> m.Stopped:
    reply = ask(m.Control(command=command, target=target))
    assert isinstance(reply, m.Stopped), reply
    return reply


def failure(reply: m.Message) -> m.ErrorInfo:
    assert isinstance(reply, m.Failed)
    return reply.error


def test_steps_are_put_into_words_where_they_are_asked_for(ask: Ask, opened: m.Opened) -> None:
    names = [step.op for step in opened.program.steps]
    reply = ask(m.Notate(ops=["a", "nowhere", *names]))
    assert isinstance(reply, m.Notated)
    assert [said.op for said in reply.steps] == ["a", *names]
    assert all(said.text for said in reply.steps)
    assert (reply.steps[0].text, reply.steps[0].operands) == (
        "a = d ⊙ e", {"a": "a:0", "d": "d:0", "e": "e:0"},
    )  # fmt: skip
    assert reply.problems == []


def test_opening_puts_no_step_into_words(
    ask: Ask, example: Callable[[str], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """But the next one: who has ten thousand of them looks at thirty."""
    said: list[str] = []
    sentence = Notation.sentence
    monkeypatch.setattr(
        Notation, "sentence", lambda self, op: said.append(op.name) or sentence(self, op)
    )
    reply = ask(m.Open(), example("tutorial"))
    assert isinstance(reply, m.Opened)
    assert said == [reply.stopped.op]


def test_a_step_that_cannot_be_put_into_words_is_a_problem_at_its_node(
    ask: Ask, opened: m.Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Notation, op: Operation) -> Sentence:
        raise KeyError(op.name)

    monkeypatch.setattr(Notation, "sentence", broken)
    reply = ask(m.Notate(ops=["a"]))
    assert isinstance(reply, m.Notated)
    assert [said.text for said in reply.steps] == ["Mul a"]
    [problem] = reply.problems
    assert (problem.node, problem.severity) == ("a", "warning")
    assert "what Mul does could not be told" in problem.message


def test_what_is_wrong_with_an_operation_is_said_once(
    ask: Ask, example: Callable[[str], bytes]
) -> None:
    """Not again of its step, which cannot be put into words as it is wrong."""
    document = gradstep_file.from_bytes(example("straight_through"))
    graph = document.graph.operations
    wrong = replace(graph["plain/axes"], inputs=(TensorRef("plain/v"),))
    file = gradstep_file.to_bytes(document.with_(graph=Graph({**graph, wrong.name: wrong})))
    opened = ask(m.Open(), file)
    assert isinstance(opened, m.Opened)
    said = [p.message for p in opened.program.problems if p.node == wrong.name]
    assert said.count("Const takes 0 inputs (), not 1") == 1
    notated = ask(m.Notate(ops=[wrong.name]))
    assert isinstance(notated, m.Notated)
    assert [step.text for step in notated.steps] == ["Const plain/axes"]
    assert notated.problems == []


@pytest.mark.parametrize("wrong", [GradstepError("no"), ZeroDivisionError()])
def test_a_move_is_told_whatever_is_wrong_with_what_there_is_to_see(
    ask: Ask, opened: m.Opened, monkeypatch: pytest.MonkeyPatch, wrong: Exception
) -> None:
    def broken(*_: object) -> None:
        raise wrong

    look = m.Look(refs=["d:0"], survey=0.001)
    reply = ask(m.Control(command="step", look=look))
    assert isinstance(reply, m.Stopped)
    assert reply.seen is not None
    assert [part.ref for part in reply.seen.parts] == ["d:0"]
    monkeypatch.setattr("gradstep.core.host.stop_view.read", broken)
    reply = ask(m.Control(command="step", look=look))
    assert isinstance(reply, m.Stopped)
    assert (reply.step, reply.seen) == (2, None)


def test_of_what_is_looked_at_a_stop_says_what_it_does(
    ask: Ask, monkeypatch: pytest.MonkeyPatch, opened: m.Opened
) -> None:
    """Where something is wrong with one it is all left to who asks for that by itself."""
    ops = ["a", "d", "gone"]
    looked = m.Control(command="step", look=m.Look(ops=ops))
    reply, said = ask(looked), ask(m.Notate(ops=ops))
    assert isinstance(reply, m.Stopped)
    assert isinstance(said, m.Notated)
    assert reply.seen is not None
    assert reply.seen.steps == said.steps
    assert [step.op for step in said.steps] == ["a", "d"]
    monkeypatch.setattr(Notation, "sentence", lambda self, op: {}[op])
    reply = ask(looked)
    assert isinstance(reply, m.Stopped)
    assert reply.seen is not None
    assert reply.seen.steps == []


def test_opening_describes_the_program(opened: m.Opened) -> None:
    program, here = opened.program, opened.stopped
    assert (here.reason, here.run, here.step) == ("entry", 0, 0)
    assert {step.phase for step in program.steps} == {"forward", "backward", "update"}
    [multiply] = [step for step in program.steps if step.op == "a"]
    assert (multiply.type, multiply.origin, multiply.outputs) == ("Mul", "a", ["a:0"])
    assert set(program.gradients) >= {"c:0", "k:0", "a:0", "d:0", "e:0", "loss:0"}
    assert {(edge.op, edge.index) for edge in program.edges} >= {("a", 0), ("a", 1), ("e", 0)}
    assert program.slots == {"c": ["c/Adam", "c/Adam_1"], "k": ["k/Adam", "k/Adam_1"]}
    assert (program.device, program.measured, program.problems) == ("cpu", True, [])
    computed = {ref for step in program.steps for ref in step.outputs}
    assert computed.issuperset(program.gradients.values())  # what is named can be read


def test_stepping_forwards_and_backwards(ask: Ask, opened: m.Opened, values: Callable) -> None:
    seen = []
    here = opened.stopped
    while here.reason != "end":
        assert "step" in here.legal
        seen.append((here.run, here.step, here.phase, here.node, here.text))
        here = control(ask, "step")
    assert seen[0][2] == "forward"
    assert seen[-1][2] == "update"
    assert values("loss:0")["loss:0"] == pytest.approx([0.66369414])
    back = []
    while "step_back" in here.legal:
        here = control(ask, "step_back")
        back.append((here.run, here.step, here.phase, here.node, here.text))
    assert back == seen[::-1]
    assert values("loss:0", "c:0") == {"c:0": pytest.approx([0.06, -0.04])}


def test_values_are_those_of_the_step_asked_for(
    ask: Ask, opened: m.Opened, values: Callable
) -> None:
    control(ask, "continue_")
    control(ask, "continue_")
    first = values("c:0", run=0, step=0)["c:0"]
    assert first == pytest.approx([0.06, -0.04])
    assert values("c:0", run=1, step=0) == values("c:0", run=0, step=10_000)
    assert values("c:0")["c:0"] != values("c:0", run=1, step=0)["c:0"]
    assert values("loss:0", run=0, step=0) == {}


def test_breakpoints_of_the_document_and_of_the_window(
    ask: Ask, example: Callable[[str], bytes]
) -> None:
    document = gradstep_file.from_bytes(example("tutorial")).with_(breakpoints=(Breakpoint("a"),))
    ask(m.Open(), gradstep_file.to_bytes(document))
    assert control(ask, "continue_").op == "a"
    assert ask(m.SetBreakpoints(breakpoints=[m.BreakpointSpec(target="loss")])) == m.Done()
    control(ask, "restart")
    stop = control(ask, "continue_")
    assert (stop.op, stop.reason) == ("loss", "breakpoint")
    bad = m.SetBreakpoints(breakpoints=[m.BreakpointSpec(target="a", condition="import os")])
    assert failure(ask(bad)).type == "ExpressionError"
    unknown = m.SetBreakpoints(breakpoints=[m.BreakpointSpec(target="a", kind="moon")])
    assert "moon" in failure(ask(unknown)).message


def test_a_bad_breakpoint_in_the_file_does_not_keep_it_shut(
    ask: Ask, example: Callable[[str], bytes]
) -> None:
    bad = Breakpoint("a", condition="value ===")
    document = gradstep_file.from_bytes(example("tutorial")).with_(breakpoints=(bad,))
    reply = ask(m.Open(), gradstep_file.to_bytes(document))
    assert isinstance(reply, m.Opened)
    assert [problem.type for problem in reply.program.problems] == ["ExpressionError"]


def test_gather_stops_with_the_offending_index(ask: Ask, example: Callable[[str], bytes]) -> None:
    ask(m.Open(), example("gather"))
    stop = control(ask, "continue_")
    assert (stop.reason, stop.op) == ("exception", "b")
    assert stop.error is not None
    assert stop.error.message == "indices[2] = 6 is not in [0, 5)"
    assert (stop.error.node, stop.error.index) == ("b", [2])


_ON_THE_WAY = ("d", "e", "a", "loss")


def table(ask: Ask, **question: Any) -> m.GradientTable:
    reply = ask(m.CheckGradients(**question))
    assert isinstance(reply, m.GradientTable)
    return reply


def test_the_native_gradients_are_what_the_numbers_say(ask: Ask, opened: m.Opened) -> None:
    found = table(ask)
    assert found.supports == "native"
    assert [(row.name, row.index) for row in found.rows] == [
        ("c", [0]),
        ("c", [1]),
        ("k", [0]),
        ("k", [1]),
    ]
    natives = [row.native for row in found.rows]
    assert natives == pytest.approx([0.567514, -0.994362, 0.514158, -0.950707], abs=1e-6)
    assert [row.numeric for row in found.rows] == pytest.approx(natives, abs=1e-5)
    assert all(row.agrees and row.override is None for row in found.rows)


def test_the_articles_override_is_not_what_the_numbers_say(
    ask: Ask, example: Callable[[str], bytes]
) -> None:
    ask(m.Open(trusted=True), example("override_add"))
    found = table(ask)
    overridden = [row.override for row in found.rows]
    assert overridden == pytest.approx([0.711478, -2.078167, 0.545007, -1.863385], abs=1e-6)
    assert found.supports == "native"
    assert not any(row.agrees for row in found.rows)
    [node] = [n for n in found.nodes if not n.agrees]
    assert (node.node, node.gradient, node.agrees) == ("e", "CustomAdd", False)
    assert "(grad, grad, None)" in node.fix


def test_variants_of_what_is_asked_for(ask: Ask, example: Callable[[str], bytes]) -> None:
    ask(m.Open(trusted=True), example("override_add"))
    found = ask(m.CompareVariants(elements=64))
    assert isinstance(found, m.GradientVariants)
    assert [(row.of, row.wrt, len(row.cells)) for row in found.rows] == [
        ("loss", "c", 6),
        ("loss", "k", 6),
    ]
    assert {cell.node for row in found.rows for cell in row.cells if not cell.same} == {"e"}
    assert found.text.startswith(
        "As it stands and with overrides only, the gradient parts from native at e (PyFunc): "
    )


def test_the_right_override_is_supported(ask: Ask, example: Callable[[str], bytes]) -> None:
    document = gradstep_file.from_bytes(example("override_add"))
    right = CodeItem(
        "CustomAdd", CodeKind.GRADIENT, "def f(op, grad):\n    return grad, grad, None"
    )
    ask(m.Open(trusted=True), gradstep_file.to_bytes(document_edits.set_code(document, right)))
    found = table(ask)
    assert found.supports == "both"
    assert all(row.agrees for row in found.rows)
    assert [(n.node, n.agrees) for n in found.nodes] == [(name, True) for name in _ON_THE_WAY]
    [node] = [n for n in found.nodes if n.node == "e"]
    assert {t.verdict for t in node.tensors} == {"ok"}
    assert [(t.name, t.input) for t in node.tensors] == [("c", 0), ("k", 1), ("d", 2)]


def test_one_node_is_checked_alone_on_the_way_or_not(
    ask: Ask, example: Callable[[str], bytes]
) -> None:
    ask(m.Open(trusted=True), example("override_add"))
    [node] = table(ask, node="e").nodes
    assert node.verdict == "wrong"
    worst = node.tensors[0]
    assert (worst.verdict, worst.method) == ("wrong", "central differences")
    assert worst.difference == pytest.approx(abs(worst.analytic - worst.numeric))
    [node] = table(ask, node="d", second_order=True).nodes
    assert node.verdict == "ok"
    assert [t.order for t in node.tensors] == [1, 1, 2, 2]
    assert failure(ask(m.CheckGradients(node="data"))).message.startswith("'data' (Placeholder)")
    assert failure(ask(m.CheckGradients(node="ee"))).hint == "did you mean e?"


def test_why_follows_the_gradient(ask: Ask, example: Callable[[str], bytes]) -> None:
    ask(m.Open(), example("stop_gradient"))
    reply = ask(m.Why(of="loss", wrt="w1"))
    assert isinstance(reply, m.Explained)
    assert (reply.explanation.state, reply.explanation.cause) == ("none", "stopped")
    assert reply.explanation.node == "y"
    assert failure(ask(m.Why(of="los", wrt="w1"))).hint == "did you mean loss?"


def test_why_uses_the_values_of_the_run(ask: Ask) -> None:
    """d(p log p)/dp at p = [0, 1], built in the window and never run."""
    builder = GraphBuilder()
    p = builder.variable("p", shape=[2])
    builder.one("Mul", p, builder.one("Log", p, name="log"), name="y")
    document = Document(builder.build(), initial={"p": Constant(np.array([0, 1], np.float32))})
    ask(m.Open(), gradstep_file.to_bytes(document))
    reply = ask(m.Why(of="y", wrt="p"))
    assert isinstance(reply, m.Explained)
    found = reply.explanation
    assert (found.state, found.node, found.index) == ("nan", "log", [0])


def test_what_all_of_a_gradient_passes(ask: Ask, opened: m.Opened) -> None:
    """Of what the document differentiates, unless something is named."""
    reply = ask(m.FindBottlenecks(wrt="k"))
    assert isinstance(reply, m.Bottlenecks)
    assert (reply.of, reply.passes, reply.cut) == ("loss", ["a", "e"], ["e<1"])
    reply = ask(m.FindBottlenecks(wrt="c", of="a"))
    assert isinstance(reply, m.Bottlenecks)
    assert (reply.passes, reply.cut) == ([], ["d<1", "e<0"])
    assert failure(ask(m.FindBottlenecks(wrt="kk"))).hint == "did you mean k?"


def test_what_gradients_pass_that_a_graph_has_itself(ask: Ask) -> None:
    """There is no function here that would derive them."""
    document = from_pb(facts.graph_bytes("article"), "article.pb")
    ask(m.Open(), gradstep_file.to_bytes(document))
    reply = ask(m.FindBottlenecks(wrt="k"))
    assert isinstance(reply, m.Bottlenecks), reply
    assert (reply.of, reply.cut) == ("loss", ["k/read<0"])
    assert reply.passes[-2:] == ["e", "k/read"]


def test_no_gradient_passes_anything_where_none_is_asked_for(
    ask: Ask, example: Callable[[str], bytes]
) -> None:
    build = GraphBuilder()
    build.placeholder("x", shape=())
    ask(m.Open(), gradstep_file.to_bytes(Document(build.build())))
    said = failure(ask(m.FindBottlenecks(wrt="x")))
    assert said.message == "no gradient is asked for"
    assert said.hint == "choose what to differentiate, and with respect to what"


def diverging() -> Document:
    """y = sum(log(w) w), by descent at a rate at which w becomes negative in run 2, and NaN."""
    builder = GraphBuilder()
    w = builder.variable("w", shape=[2])
    product = builder.one("Mul", builder.one("Log", w, name="log"), w, name="product")
    builder.one("Sum", product, np.array([0], np.int32), name="y")
    first = Constant(np.array([3, 1], np.float32))
    return Document(
        builder.build(),
        request=GradientRequest.to("y", "w"),
        initial={"w": first},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 2.0}),),
    )


def test_nan_is_found_and_explained_through_runs(ask: Ask) -> None:
    """Found in the run that stands, explained by the run that made it, which can be gone to."""
    ask(m.Open(), gradstep_file.to_bytes(diverging()))
    for _ in range(4):
        ask(m.Control(command="continue_"))
    found = ask(m.FindBroken(seconds=60.0))
    assert isinstance(found, m.BrokenNumbers)
    assert (found.run, found.complete, found.kind, found.node) == (3, True, "nan", "w")
    assert (found.step, found.reached) == (0, True)
    for question in (m.Why(of="y"), m.Why(of="y", wrt="w")):
        reply = ask(question)
        assert isinstance(reply, m.Explained)
        told = reply.explanation
        assert (told.state, told.cause, told.node) == ("nan", "log_of_negative", "log")
        assert "in run 2" in told.text
    stop = ask(m.Control(command="run_to", target=told.chain[0].position))
    assert isinstance(stop, m.Stopped)
    assert stop.run == 1
    there = ask(m.FindBroken(seconds=60.0))
    assert isinstance(there, m.BrokenNumbers)
    assert (there.run, there.op, there.position) == (1, "log", told.chain[0].position)


def test_a_short_look_is_gone_on_with(ask: Ask, opened: m.Opened) -> None:
    ask(m.Control(command="continue_"))
    found = ask(m.FindBroken(seconds=0.0))
    assert isinstance(found, m.BrokenNumbers)
    while not found.complete:
        found = ask(m.FindBroken(seconds=0.0))
        assert isinstance(found, m.BrokenNumbers)
    assert found.kind == ""


def test_moments_of_all_runs(ask: Ask, opened: m.Opened) -> None:
    for _ in range(3):
        ask(m.Control(command="continue_"))
    found = ask(m.FindMoments(text='x["c"] > 0', which="every", most=2))
    assert isinstance(found, m.Moments)
    assert (len(found.rows), found.count, found.runs) == (2, 4, 3)  # as it began, and as run
    assert found.rows[0].position == "0:0"
    stop = ask(m.Control(command="run_to", target=found.rows[1].position))
    assert isinstance(stop, m.Stopped)
    assert (stop.run, stop.step) == (found.rows[1].run, found.rows[1].step)
    wrong = ask(m.FindMoments(text="x["))
    assert isinstance(wrong, m.Failed)


def test_an_engine_without_a_console_says_so(ask: Ask, opened: m.Opened) -> None:
    refused = ask(m.RunLine(line="where"))
    assert isinstance(refused, m.Failed)
    assert "no console" in refused.error.message


def test_why_of_tensors_that_no_request_names(ask: Ask, opened: m.Opened) -> None:
    reply = ask(m.Why(of="a", wrt="data"))
    assert isinstance(reply, m.Explained)
    assert reply.explanation.state == "ok"
    assert reply.explanation.path == ["a", "d", "data"]


def test_devices_that_are_not_there_are_said(ask: Ask, opened: m.Opened) -> None:
    reply = ask(m.Devices())
    assert isinstance(reply, m.DeviceList)
    assert [(d.name, d.available) for d in reply.devices] == [("cpu", True)]
    compared = ask(m.Compare(against=["gpu"]))
    assert isinstance(compared, m.Compared)
    assert "gpu" in compared.unavailable


@pytest.mark.parametrize(
    "request_",
    [m.Control(command="step"), m.Read(refs=["a"]), m.CheckGradients(), m.Compare(against=["gpu"])],
)
def test_before_a_document_is_open(ask: Ask, request_: m.Message) -> None:
    assert "no document is open" in failure(ask(request_)).message


@pytest.mark.parametrize("data", [b"", b"not a zip", b"PK\x03\x04 cut off"])
def test_a_file_that_cannot_be_read_leaves_nothing_open(
    ask: Ask, opened: m.Opened, data: bytes
) -> None:
    control(ask, "step")
    assert failure(ask(m.Open(), data)).message
    assert "no document is open" in failure(ask(m.Control(command="step_back"))).message


def test_an_unknown_device_is_refused(ask: Ask, example: Callable[[str], bytes]) -> None:
    assert "abacus" in failure(ask(m.Open(device="abacus"), example("tutorial"))).message


def test_an_illegal_command_is_refused(ask: Ask, opened: m.Opened) -> None:
    assert failure(ask(m.Control(command="step_back"))).type == "IllegalMoveError"
    assert failure(ask(m.Control(command="frobnicate"))).type == "IllegalMoveError"
    assert failure(ask(m.Control(command="run_to", target="nowhere"))).node == "nowhere"


# -- edits ---------------------------------------------------------------------------------------


def reopen(ask: Ask, document: Document) -> m.Opened:
    reply = ask(m.Open(trusted=True, keep_position=True), gradstep_file.to_bytes(document))
    assert isinstance(reply, m.Opened)
    return reply


def test_an_edit_keeps_the_place(
    ask: Ask, example: Callable[[str], bytes], values: Callable
) -> None:
    tutorial = gradstep_file.from_bytes(example("tutorial"))
    ask(m.Open(), gradstep_file.to_bytes(tutorial))
    control(ask, "continue_")
    before = control(ask, "run_to", "a")
    assert (before.run, before.op) == (1, "a")
    renamed = document_edits.rename_operation(tutorial, "labels", "targets")
    after = reopen(ask, renamed).stopped
    assert (after.run, after.op) == (1, "a")
    stopped = document_edits.toggle_stop(
        tutorial, gradstep_file.from_bytes(example("tutorial")).graph.consumers["k"][0]
    )
    assert reopen(ask, stopped).stopped.op == "a"


def test_an_edit_at_the_end_stays_at_the_end(ask: Ask, example: Callable[[str], bytes]) -> None:
    tutorial = gradstep_file.from_bytes(example("tutorial"))
    ask(m.Open(), gradstep_file.to_bytes(tutorial))
    end = control(ask, "continue_")
    opened = reopen(ask, document_edits.toggle_stop(tutorial, Edge("e", 1)))
    assert opened.stopped.reason == "end"
    assert opened.stopped.step == len(opened.program.steps) < end.step


def test_an_edit_that_removes_the_place_goes_as_far_as_it_can(
    ask: Ask, example: Callable[[str], bytes]
) -> None:
    tutorial = gradstep_file.from_bytes(example("tutorial"))
    ask(m.Open(), gradstep_file.to_bytes(tutorial))
    control(ask, "run_to", "loss")
    smaller = document_edits.remove_operations(tutorial, ["loss", "labels", "a"])
    here = reopen(ask, smaller)
    assert here.stopped.step <= len(here.program.steps)


# -- long work -----------------------------------------------------------------------------------


def test_pause_holds_for_what_was_asked_before_it(
    service: EngineService, ask: Ask, opened: m.Opened
) -> None:
    service.pause()
    assert control(ask, "continue_").step == 0  # it was given before, and never began
    assert control(ask, "pause").step == 0
    assert control(ask, "continue_").reason == "end"


def test_a_pause_that_nobody_takes_back_ends_with_its_service(
    example: Callable[[str], bytes],
) -> None:
    service = EngineService(CpuOnly())
    service.handle(m.Open(), [example("tutorial")])
    before = set(threading.enumerate())
    service.pause()
    [insisting] = set(threading.enumerate()) - before
    del service
    gc.collect()
    insisting.join(timeout=10)
    assert not insisting.is_alive()


def test_pause_reaches_a_run_in_progress(
    service: EngineService, ask: Ask, pyfunc: Callable[[str], bytes]
) -> None:
    """A hundred runs of a function that takes 20 ms each; paused after the third."""
    source = "import time\ndef f(w):\n    time.sleep(0.02)\n    return w\n"
    ask(m.Open(trusted=True), pyfunc(source))
    timer = threading.Timer(0.1, service.pause)
    timer.start()
    started = time.monotonic()
    stop = control(ask, "run_to", "100:0")
    assert time.monotonic() - started < 1.5
    assert stop.run < 50
    assert control(ask, "pause").run == stop.run
    timer.join()


def test_a_gradient_check_can_be_cancelled(
    service: EngineService, ask: Ask, opened: m.Opened
) -> None:
    service.pause()
    assert failure(ask(m.CheckGradients())).type == "CancelledError"
    control(ask, "pause")
    assert table(ask).rows


def test_prints_are_events(
    ask: Ask, events: Sequence[m.Message], pyfunc: Callable[[str], bytes]
) -> None:
    ask(
        m.Open(trusted=True),
        pyfunc("print('loaded')\ndef f(w):\n    print('w is', w)\n    return w\n"),
    )
    assert events == [m.Output(text="loaded\n")]
    control(ask, "continue_")
    assert events[1:] == [m.Output(text="w is [1. 2.]\n")]


def test_what_operations_print_is_an_event(ask: Ask, events: Sequence[m.Message]) -> None:
    b = GraphBuilder()
    b.one("Print", b.constant([1.5, 2.0]), b.constant(7), message="here: ", name="p")
    document = Document(graph=b.build(), fetches=(TensorRef("p"),))
    ask(m.Open(trusted=True), gradstep_file.to_bytes(document))
    control(ask, "continue_")
    assert events == [m.Output(text="here: [7]\n")]


def test_python_that_raises_stops_at_its_node(ask: Ask, pyfunc: Callable[[str], bytes]) -> None:
    ask(m.Open(trusted=True), pyfunc("def f(w):\n    return w.nothing\n"))
    stop = control(ask, "continue_")
    assert stop.reason == "exception"
    assert stop.error is not None
    assert stop.error.node == "y"
    assert "'f', line 2: AttributeError" in stop.error.message


def test_statistics_come_with_the_values(
    service: EngineService, ask: Ask, opened: m.Opened
) -> None:
    control(ask, "continue_")
    reply, buffers = service.handle(m.Read(refs=["c:0"], limit=1, offset=1))
    assert isinstance(reply, m.Values)
    [part] = reply.parts
    assert part.shape == [2]
    np.testing.assert_allclose(unpack(part, buffers), [-0.03976078], rtol=1e-6)
    assert part.stats is not None
    assert part.stats.maximum == pytest.approx(0.05984784)


def test_every_request_has_an_answer_and_says_which() -> None:
    kinds = [kind for kind in m.Request.kinds() if kind.__name__ in m.__all__]
    assert {*kinds} == {*EngineService._HANDLERS}
    for kind in kinds:
        (reply,) = re.findall(r"Replied\s+to\s+with\s+(\w+)", kind.__doc__ or "")
        assert issubclass(getattr(m, reply), m.Reply)
