"""The first NaN, through iterations and runs, and how to go there; what a device's rules make."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.checks.why.nonfinite_origins import Search
from gradstep.core.checks.why.recorded_values import Recorded, RecordedValue
from gradstep.core.checks.why.step_on_other_inputs import Again
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.engine.loops import iteration_trace
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Graph, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, OpView, Tensor
from gradstep.core.ops.declare.system_rules import OutOfRange, Rules
from gradstep.core.program.derive import derive
from gradstep.core.program.gradient_context import Situation, situation_of
from gradstep.core.protocol.messages import Explanation
from tests.support.drawn_share import share
from tests.support.whys import graph_of, why_gradient, why_value


def counting(steps: int, body: Callable[[Tensor, Tensor], Tensor]) -> Graph:
    """y = body(i, …body(0, x))."""

    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[])
        turn = lambda i, a: (i + 1, body(tf.cast(i, "float32"), a))  # noqa: E731
        tf.identity(tf.while_loop(lambda i, a: i < steps, turn, (0, x))[1], name="y")

    return graph_of(build)


@settings(max_examples=share(15), deadline=None)
@given(st.integers(0, 29))
def test_the_iteration_is_named(broken: int) -> None:
    graph = counting(30, lambda i, a: a * 0.9 + tf.sqrt(broken + 0.5 - i, name="root") * 0.0)
    found = why_value(graph, "y", {"x": 1})
    if broken == 29:
        assert found.state == "ok"
        return
    assert (found.node, found.chain[0].iterations) == ("while/root", [(broken + 1, "while/While")])
    assert f"in iteration {broken + 2} of while/While" in found.text


def test_iterations_that_are_not_kept_are_run_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iteration_trace, "MOST_BYTES", 1 << 14)
    graph = counting(500, lambda i, a: a * 0.9 + tf.sqrt(20.5 - i, name="root") * 0.0)
    found = why_value(graph, "y", {"x": 1})
    assert (found.node, found.chain[0].iterations) == ("while/root", [(21, "while/While")])


@settings(max_examples=share(10), deadline=None)
@given(st.integers(0, 39))
def test_the_iteration_that_left_nothing_is_named(hit: int) -> None:
    def body(i: Tensor, a: Tensor) -> Tensor:
        kept = tf.identity(tf.cast(tf.not_equal(i, float(hit)), "float32"), name="kept")
        return tf.multiply(a, kept, name="masked") + 0.0 * i

    found = why_value(counting(40, body), "y", {"x": 1})
    assert (found.state, found.cause, found.node) == ("zero", "zero_factor", "while/masked")
    assert found.chain[0].iterations == [(hit, "while/While")]
    assert found.chain[0].operand == "while/kept"


def test_arrays_that_a_loop_fills() -> None:
    def build(b: GraphBuilder) -> None:
        x, filled = b.placeholder("x", shape=[]), tf.TensorArray("float32", 4)

        def body(i: Tensor, t: tf.TensorArray) -> tuple[Tensor, tf.TensorArray]:
            return i + 1, t.write(i, tf.log(x - tf.cast(i, "float32"), name="log"))

        _, filled = tf.while_loop(lambda i, t: i < 4, body, (0, filled))
        tf.reduce_sum(filled.stack(), name="y")

    found = why_value(graph_of(build), "y", {"x": 2})
    assert (found.node, found.chain[0].iterations) == ("while/log", [(3, "while/While")])


def descending() -> Graph:
    """w becomes NaN in the run in which n is 4 at first: log(3 - n) is added to it."""

    def build(b: GraphBuilder) -> None:
        w, n = b.variable("w", shape=[2]), b.variable("n", shape=[])
        log = tf.log(3.5 - n, name="log")
        b.one("AssignAdd", w, log * tf.constant([0.0, 1.0]), name="update")
        b.one("AssignAdd", n, tf.constant(1.0), name="tick")
        tf.reduce_sum(tf.multiply(w, 2.0, name="double"), name="y")

    return graph_of(build)


def session_of(graph: Graph, runs: int, limit: int = 2 << 30) -> DebugSession:
    program = Program(
        graph,
        graph,
        fetches=(TensorRef("y"),),
        targets=("update", "tick"),
        initial={"w": np.array([1, 2], np.float32), "n": np.float32(0)},
    )
    session = DebugSession(program, limit_bytes=limit)
    for _ in range(runs):
        session.continue_()
    return session


def explained(session: DebugSession, of: str, wrt: str = "") -> Explanation:
    here = situation_of(session, {})
    explainer = Explainer(here, session=session, run=session.stop.run)
    return explainer.gradient(of, wrt) if wrt else explainer.value(of)


@pytest.mark.parametrize("limit", [2 << 30, 3000])
def test_a_variable_carries_it_from_run_to_run(limit: int) -> None:
    """Also where most runs were dropped."""
    session = session_of(descending(), 300, limit)
    found = explained(session, "y")
    assert (found.state, found.cause, found.node) == ("nan", "log_of_negative", "log")
    assert found.path == ["y", "double", "update", "Mul", "log"]
    assert "in run 5" in found.text
    assert "update (AssignAdd) then wrote it to w" in found.text
    (link,) = found.chain
    assert link.run == 4
    session.run_to(link.position)
    assert (session.stop.run, session.frame().value("log")) == (
        4,
        pytest.approx(np.nan, nan_ok=True),
    )
    assert session.next_op is not None
    before = session.frame(session.stop.run, session.stop.step - 1)
    assert before.value("log") is None


@pytest.mark.parametrize("limit", [2 << 30, 3000])
def test_a_variable_that_was_made_zero_in_a_run_long_ago(limit: int) -> None:
    def build(b: GraphBuilder) -> None:
        w, n = b.variable("w", shape=[2]), b.variable("n", shape=[])
        kept = tf.identity(tf.cast(tf.not_equal(n, 4.0), "float32"), name="kept")
        b.one("Assign", w, tf.multiply(w, kept, name="masked"), name="update")
        b.one("AssignAdd", n, tf.constant(1.0), name="tick")
        tf.reduce_sum(w, name="y")

    found = explained(session_of(graph_of(build), 100, limit), "y")
    assert (found.state, found.cause, found.node) == ("zero", "zero_factor", "masked")
    assert (found.chain[0].operand, found.chain[0].run) == ("kept", 4)


def test_where_it_is_not_yet_there() -> None:
    session = session_of(descending(), 3)
    assert explained(session, "y").state == "ok"
    session.step()
    assert explained(session, "y").cause == "waiting"


def test_a_gradient_that_no_run_computes_goes_back_to_the_runs() -> None:
    """d(w * n)/dn is w: NaN from an earlier run, found by a run of its own."""
    builder = GraphBuilder(descending())
    with builder.as_default():
        w, n = builder.get(TensorRef("w")), builder.get(TensorRef("n"))
        tf.reduce_sum(tf.multiply(w, n, name="product"), name="z")
    found = explained(session_of(builder.build(), 8), "z", "n")
    assert (found.state, found.cause, found.node) == ("nan", "log_of_negative", "log")
    assert found.chain[0].run == 4
    assert "in run 5" in found.text


def test_a_place_in_a_loop_can_be_gone_to() -> None:
    graph = counting(9, lambda i, a: a + tf.sqrt(3.5 - i, name="root"))
    x = TensorRef("x")
    program = Program(graph, graph, fetches=(TensorRef("y"),), feeds={x: np.float32(1)})
    session = DebugSession(program)
    session.continue_()
    (link,) = explained(session, "y").chain
    stop = session.run_to(link.position)
    assert [(place.loop, place.iteration) for place in stop.inside] == [("while/While", 4)]
    assert np.isnan(session.frame().value("while/root"))


def test_a_tensor_in_a_loop_is_explained_where_it_broke_first() -> None:
    graph = counting(9, lambda i, a: tf.multiply(a, tf.sqrt(3.5 - i, name="root"), name="m"))
    found = why_value(graph, "while/m", {"x": 1}, fetch="y")
    assert (found.state, found.node) == ("nan", "while/root")
    assert found.chain[0].iterations == [(4, "while/While")]
    adding = counting(3, lambda i, a: tf.add(a, i, name="sum"))
    healthy = why_value(adding, "while/sum", {"x": 1}, fetch="y")
    assert (
        healthy.text == "while/sum, in iteration 3 of while/While, is finite and not zero: it is 4."
    )


def test_while_one_stands_in_the_loop() -> None:
    """The same, from a run of its own, as the loop is not done."""
    graph = counting(9, lambda i, a: tf.multiply(a, tf.sqrt(3.5 - i, name="root"), name="m"))
    x = TensorRef("x")
    feeds = {x: np.array(1, np.float32)}
    session = DebugSession(Program(graph, graph, fetches=(TensorRef("y"),), feeds=feeds))
    loop = session.plan.step_of["while/While"]
    session.run_to(f"0:{loop}/5:8")
    assert session.stop.inside
    found = Explainer(
        situation_of(session, {}), session=session, run=0, step=session.stop.step
    ).value("while/m")
    assert (found.state, found.node) == ("nan", "while/root")
    assert found.chain[0].iterations == [(4, "while/While")]


def test_as_of_a_step() -> None:
    """What a later step writes is not what there is to ask about."""
    session = session_of(descending(), 5)
    end = session.stop.step
    here, before = situation_of(session, {}), session.plan.step_of["update"]
    asked = [Explainer(here, session=session, run=4, step=step) for step in (end, before)]
    assert [explainer.value("w").state for explainer in asked] == ["nan", "ok"]


def test_what_a_run_of_its_own_draws_is_what_the_session_drew() -> None:
    """A mask that is drawn at random, in the fourth run: nothing of the gradient is left in it."""

    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[])
        drawn = b.one("RandomUniform", np.zeros(0, np.int32), dtype="float32", seed=3, name="drawn")
        tf.multiply(x, tf.cast(tf.greater(drawn, 0.5), "float32"), name="y")

    graph, x = graph_of(build), TensorRef("x")
    session = DebugSession(
        Program(graph, graph, fetches=(TensorRef("y"),), feeds={x: np.array(2, np.float32)})
    )
    for _ in range(12):
        session.continue_()
        dropped = session.frame().value("y") == 0
        assert explained(session, "y", "x").state == ("zero" if dropped else "ok")


def test_the_gradient_in_a_loop_names_the_iteration_there() -> None:
    """It is gone back through in the opposite order."""
    graph = counting(6, lambda i, a: tf.multiply(a, tf.relu(2.5 - i, name="gate"), name="m"))
    found = why_gradient(graph, "y", "x", {"x": 1})
    assert (found.cause, found.node) == ("zero_factor", "while/m")
    assert "with while/gate = 0" in found.text
    assert "in iteration 6 of while/While; while/gate (Relu) gives 0, from while/Sub = -2.5" in (
        found.text
    )


def test_indexes_out_of_range_that_give_zero() -> None:
    graph = graph_of(
        lambda b: tf.gather(b.placeholder("x", shape=[2]), np.array([5, 7], np.int32), name="y")
    )
    x = TensorRef("x")
    given = {x: np.ones(2, np.float32)}
    backend = NumpyBackend(Rules(gather=OutOfRange.ZERO, scatter=OutOfRange.ZERO), "emulate:any")
    session = DebugSession(Program(graph, graph, fetches=(TensorRef("y"),), feeds=given), backend)
    session.continue_()
    found = explained(session, "y")
    assert (found.state, found.cause, found.node) == ("zero", "out_of_range", "y")
    assert found.chain[0].operand == "Const"
    here = Situation(graph, GradientRequest.to("y", "x"), {}, given)
    lost = Explainer(here, backend=backend).gradient("y", "x")
    assert (lost.state, lost.node) == ("zero", "y")


@pytest.mark.parametrize(
    ("rule", "at"),
    [
        (lambda op, g: g * 0.0, ("zero", "override", "e")),
        (lambda op, g: tf.zeros_like(g), ("zero", "override", "e")),
        (lambda op, g: None, ("none", "override", "e")),
        (lambda op, g: g / 0.0, ("inf", "division_by_zero", "e")),
    ],
)
def test_overrides(rule: Callable[[OpView, Tensor], Tensor], at: tuple[str, str, str]) -> None:
    graph = graph_of(
        lambda b: tf.reduce_sum(tf.exp(b.placeholder("x", shape=[2]), name="e"), name="y")
    )
    request = GradientRequest(
        (TensorRef("y"),), (TensorRef("x"),), overrides=(Override("Mine", "e", OverrideKind.OP),)
    )
    given = {TensorRef("x"): np.array([1, 2], np.float32)}
    found = Explainer(Situation(graph, request, {"Mine": rule}, given)).gradient("y", "x")
    assert (found.state, found.cause, found.node) == at, found.text


@pytest.mark.parametrize("between", [False, True])
def test_the_first_of_many_elements(between: bool) -> None:
    """In the operation's own order, whatever order they are read in."""

    def build(b: GraphBuilder) -> None:
        logs = tf.log(b.placeholder("x", shape=[5]), name="log")
        logs = logs * 2.0 + logs if between else logs
        tf.reduce_sum(tf.gather(logs, np.array([4, 2, 0, 3], np.int32)), name="y")

    found = why_value(graph_of(build), "y", {"x": [1, -1, -2, 5, -3]})
    assert (found.node, found.index) == ("log", [2])  # element 1 is not gathered


def test_iterations_are_passed_over() -> None:
    """From the last one to that which made it, and not through each between."""
    graph = counting(1000, lambda i, a: a * 0.9 + tf.sqrt(20.5 - i, name="root") * 0.0)
    found = why_value(graph, "y", {"x": 1})
    (link,) = found.chain
    assert link.iterations == [(21, "while/While")]
    program = Program(
        graph, graph, fetches=(TensorRef("y"),), feeds={TensorRef("x"): np.float32(1)}
    )
    session = DebugSession(program)
    session.continue_()
    run = Recorded(session).run(0)
    search = Search(Again(session), np.isnan)
    search.start(RecordedValue(run, run.value_of(TensorRef("y")) or 0))
    maker = search.first()
    assert maker is not None
    assert len(search.way(maker)) < 20


def test_each_loss_has_its_own_gradient() -> None:
    """Of two that runs compute with respect to one variable."""

    def build(b: GraphBuilder) -> None:
        w = b.variable("w", shape=[2])
        tf.reduce_sum(tf.multiply(w, np.zeros(2, np.float32), name="nothing"), name="first")
        tf.reduce_sum(tf.multiply(w, 2.0, name="twice"), name="second")

    graph, w = graph_of(build), (TensorRef("w"),)
    descent = {"type": "GradientDescent", "hyper": {"learning_rate": 0.1}}
    optimizers = tuple(
        Optimizer(descent["type"], descent["hyper"], of=(TensorRef(of),), wrt=w)
        for of in ("first", "second")
    )
    initial = {"w": Constant(np.ones(2, np.float32))}
    session = DebugSession(derive(Document(graph, initial=initial, optimizers=optimizers)))
    session.continue_()
    assert explained(session, "first", "w").node == "nothing"
    assert explained(session, "second", "w").state == "ok"


def test_an_update_that_overflows() -> None:
    """It is said of which variable, as nobody has named the operation."""
    graph = graph_of(
        lambda b: tf.reduce_sum(tf.multiply(b.variable("w", shape=[2]), 1e20), name="y")
    )
    descent = Optimizer(
        "GradientDescent",
        {"learning_rate": 1e30},
        of=(TensorRef("y"),),
        wrt=(TensorRef("w"),),
    )
    initial = {"w": Constant(np.ones(2, np.float32))}
    session = DebugSession(derive(Document(graph, initial=initial, optimizers=(descent,))))
    session.continue_()
    session.continue_()
    found = explained(session, "y")
    assert (found.state, found.cause) == ("inf", "overflow")
    assert " in the update of w" in found.text
    assert ", in run 1" in found.text


def test_a_variable_that_had_no_value_before_it_was_made_zero() -> None:
    def build(b: GraphBuilder) -> None:
        v = b.variable("v", shape=[2])
        zero = tf.multiply(b.placeholder("x", shape=[2]), np.zeros(2, np.float32), name="masked")
        tf.identity(b.one("Assign", v, zero, name="assign"), name="y")

    graph = graph_of(build)
    feeds = {TensorRef("x"): np.ones(2, np.float32)}
    session = DebugSession(Program(graph, graph, fetches=(TensorRef("y"),), feeds=feeds))
    for _ in range(3):
        session.continue_()
    found = explained(session, "y")
    assert (found.state, found.cause, found.node) == ("zero", "zero_factor", "masked")


def test_a_python_function_is_not_called_to_find_out() -> None:
    """What is the user's runs when a run calls it, and then only."""
    kind, calls = (DType.FLOAT32,), []

    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[2])
        tf.reduce_sum(b.one("PyFunc", x, name="python", token="f", Tin=kind, Tout=kind), name="y")

    def nothing(x: np.ndarray) -> np.ndarray:
        calls.append(x)
        return x * 0

    override = Override("Mine", "python", OverrideKind.OP)
    request = GradientRequest((TensorRef("y"),), (TensorRef("x"),), overrides=(override,))
    here = Situation(
        graph_of(build),
        request,
        {"Mine": lambda op, g: g * op.outputs[0]},
        {TensorRef("x"): np.array([1, 2], np.float32)},
    )
    found = Explainer(here, functions={"f": nothing}).gradient("y", "x")
    assert (found.state, found.node, found.index) == ("zero", "python", [0])
    assert len(calls) == 1
