"""Loops run alike in both layouts and in the debugger: as TensorFlow, with state, step by step."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Timer
from typing import Any
from unittest.mock import patch
from weakref import ref

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.debug.motion.stopped_state import Reason
from gradstep.core.engine.loops import iteration_trace
from gradstep.core.engine.loops.trace_retention import Retention
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.loop import everywhere, loop_of
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call, call_many
from gradstep.core.ops.state.loop_trace import Trace
from gradstep.core.ops.typing.flatten_loops import flatten_loops
from tests.support.layouts import Case, check
from tests.support.random_loops import RandomLoops

RECORDED = json.loads(Path("tests/data/tensorflow/loops.json").read_text())


@pytest.mark.parametrize("seed", RECORDED)
def test_random_loops_are_as_in_tensorflow(seed: str) -> None:
    """Nested loops, conds in them, captures: values, gradients, and which of these are None."""
    builder = GraphBuilder()
    with builder.as_default():
        made = RandomLoops(tf, int(seed), builder.placeholder)
        found = gradients(made.ys, made.xs)
    wanted = RECORDED[seed]
    assert [g is None for g in found] == [g is None for g in wanted["grads"]]
    fetches = [y.ref for y in made.ys] + [g.ref for g in found if isinstance(g, Tensor)]
    feeds = {TensorRef(name): np.asarray(value) for name, value in made.feeds.items()}
    seen = check(Case(builder.build(), tuple(fetches), feeds=feeds), runs=2)[0]
    assert not seen.error
    values = [np.frombuffer(x, kind).reshape(shape) for kind, shape, x in seen.fetched.values()]
    close = 2e-6 if made.dtype == "float32" else 1e-14
    expected = wanted["ys"] + [g for g in wanted["grads"] if g is not None]
    for value, want in zip(values, expected, strict=True):
        np.testing.assert_allclose(value, want, rtol=close, atol=close)


def resource(builder: GraphBuilder) -> tuple[list[Tensor], dict[str, float]]:
    """Read, added to, and read again in each iteration."""
    v = builder.one("VarHandleOp", name="v", dtype="float32", shape=Shape(()))

    def body(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
        read = call("ReadVariableOp", v, dtype="float32")
        call_many("AssignAddVariableOp", v, read * 2.0, name="up", dtype="float32")
        with builder.control_dependencies([builder.latest(1)[0].name]):
            return i + 1, a + call("ReadVariableOp", v, dtype="float32")

    return [tf.while_loop(lambda i, a: i < 3, body, (0, 0.0))[1]], {"v": 39.0}


def reference(builder: GraphBuilder) -> tuple[list[Tensor], dict[str, float]]:
    v = builder.variable("v", shape=[])
    _, y = tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, call("AssignAdd", v, a) * 1.0), (0, 1.0)
    )
    return [y, v], {"v": 8.0}


def drawing(builder: GraphBuilder) -> tuple[list[Tensor], dict[str, float]]:
    """Other numbers in every iteration, in nested ones too, and in every run."""

    def inner(a: Tensor) -> Tensor:
        return tf.while_loop(
            lambda j, a: j < 2, lambda j, a: (j + 1, a + tf.random_uniform([], seed=3)), (0, a)
        )[1]

    _, y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, inner(a) * 2.0), (0, 0.0))
    return [y], {}


def failing(builder: GraphBuilder) -> tuple[list[Tensor], dict[str, float]]:
    table = builder.constant(np.ones(3, np.float32))

    def body(i: Tensor, a: Tensor) -> tuple[Tensor, Tensor]:
        found = tf.while_loop(
            lambda j, a: j < i + 2, lambda j, a: (j + 1, a + tf.gather(table, j)), (0, a)
        )
        return i + 1, found[1]

    return [tf.while_loop(lambda i, a: i < 5, body, (0, 1.0), name="outer")[1]], {}


def empty(builder: GraphBuilder) -> tuple[list[Tensor], dict[str, float]]:
    """A variable without a value is met inside; and not at all where no iteration takes place."""
    w = builder.variable("w", shape=[])
    _, y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * w), (0, 1.0))
    return [y], {}


def growing(builder: GraphBuilder) -> tuple[list[Tensor], dict[str, float]]:
    """A shape that changes, and two variables that change places."""
    x = builder.constant(np.array([1, 2], np.float32))
    _, a, b, grown = tf.while_loop(
        lambda i, *_: i < 3,
        lambda i, a, b, grown: (i + 1, b, a, tf.concat([grown, a], 0)),
        (0, x, x * 2.0, x),
        shape_invariants=[[], [2], [2], [None]],
    )
    return [a, b, grown, *(g for g in gradients([grown, a], [x]) if isinstance(g, Tensor))], {}


BEHAVIOURS: list[tuple[Callable[..., Any], str]] = [
    (resource, ""),
    (reference, ""),
    (drawing, ""),
    (growing, ""),
    (
        failing,
        "InvalidArgumentError at outer/while/GatherV2: indices = 3 is not in [0, 3) "
        "(in iteration 4) (in iteration 3)",
    ),
    (
        empty,
        "FailedPreconditionError at while/Mul: Attempting to use uninitialized value w "
        "(in iteration 1)",
    ),
]


@pytest.mark.parametrize(("build", "error"), BEHAVIOURS)
def test_what_iterations_do_is_the_same_everywhere(build: Callable[..., Any], error: str) -> None:
    builder = GraphBuilder()
    with builder.as_default():
        fetches, first = build(builder)
    initial = {"v": np.float32(1)} if first else {}
    case = Case(builder.build(), tuple(f.ref for f in fetches), initial=initial)
    seen = check(case)
    assert [s.error for s in seen] == [error] * 3
    if first:
        value = seen[0].fetched[case.fetches[0]]
        assert np.frombuffer(value[2], value[0]).item() == first["v"]
    if build is drawing:
        assert len({str(s.fetched) for s in seen}) == 3


@pytest.fixture
def recording() -> Recording:
    """Three iterations of a * x, with a loop of two inside: 1, 4, 16, 64 where x is 2."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.constant(2.0, name="x")

        def inner(a: Tensor) -> Tensor:
            return tf.while_loop(
                lambda j, a: j < 2, lambda j, a: (j + 1, tf.multiply(a, x, name="mul")), (0, a)
            )[1]

        _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, inner(a)), (0, 1.0))
    made = Recording(compile_plan(builder.build(), [y.ref]), NumpyBackend())
    made.begin(VariableStore(made.backend))
    return made


def the_loop(plan: Plan) -> tuple[int, str]:
    """Number and name of the step that runs one."""
    return next((i, s.op.name) for i, s in enumerate(plan.steps) if s.iteration is not None)


def test_a_loop_is_driven_step_by_step(recording: Recording) -> None:
    """One step at a time, into the inner loop; the step of the loop goes on from there."""
    step, _ = the_loop(recording.plan)
    assert recording.run(0, step) == (step, None)
    run, product = recording.loop(step), TensorRef("while/while/mul")
    inner_step, name = the_loop(run.iteration.plan)
    assert run.reach(inner_step) is None
    assert (run.number, run.step) == (0, inner_step)
    inner = run.recording.loop(inner_step)
    products = []
    while not inner.ended:
        assert inner.reach(inner.step + 1) is None
        products.append(inner.value(product, inner.number))
        if not inner.ended and inner.step == inner.length:
            inner.advance()
    assert [None if p is None else p.item() for p in products if p is not None][-1] == 4
    assert [inner.value(product, i).item() for i in (0, 1)] == [2, 4]
    assert inner.value(product, 2) is None  # it did not take place
    assert run.reach(run.length) is None
    run.advance()
    assert (run.number, run.step, run.ended) == (1, 0, False)
    assert recording.run(step, len(recording.plan.steps))[1] is None
    assert recording.value(recording.plan.tensors[TensorRef("while/Exit_1")]).item() == 64
    assert run.trace.iterations == 3
    nested = [run.value(TensorRef(name, 2), i) for i in range(3)]
    assert all(isinstance(t, Trace) for t in nested)
    assert [t.read(product, 1).item() for t in nested] == [4, 16, 64]


def test_of_many_iterations_the_last_are_kept_whole(recording: Recording) -> None:
    step, name = the_loop(recording.plan)
    where = recording.plan.tensors[TensorRef(name, 2)]
    kept, sizes = [], []
    for most in (1 << 20, 2000):
        recording.begin(VariableStore(recording.backend))
        with patch.object(iteration_trace, "MOST_BYTES", most):
            assert recording.run(0, len(recording.plan.steps))[1] is None
        found = recording.value(where)
        kept.append([found.value(TensorRef("while/Merge_1"), i) is not None for i in range(3)])
        sizes.append(found.nbytes)
        assert recording.loop(step).trace is found
    assert kept == [[True, True, True], [False, False, True]]
    assert sizes[1] < sizes[0]


@pytest.mark.slow
def test_a_loop_without_end_can_be_paused() -> None:
    """Left between two iterations of the inner one, looked at, and gone on with."""
    builder = GraphBuilder()
    with builder.as_default():
        inner = tf.while_loop(lambda j: j >= 0.0, lambda j: j + 0.0, [1.0], name="inner")
        builder.one("Identity", inner, name="y")
    graph = builder.build()
    debugger = DebugSession(Program(graph=graph, forward=graph, fetches=(TensorRef("y"),)))
    for _ in range(2):
        pause = Timer(0.2, debugger.pause)
        pause.start()
        stop = debugger.continue_()
        pause.join()
        assert (stop.reason, stop.op) == (Reason.PAUSE, "inner/While")
    run = debugger.timeline.loop(0, stop.step)
    assert run is not None
    assert run.number > 0
    assert debugger.step_back().reason is Reason.STEP


def test_nothing_of_a_loop_outlives_its_graph() -> None:
    """Plans, types and what is opened for looking are kept with it: an edit makes new loops."""

    def run() -> list[ref[Graph]]:
        builder = GraphBuilder()
        with builder.as_default():
            x = builder.placeholder("x", shape=[2])
            _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), (0, x))
            (grad,) = gradients(y, x)
        assert isinstance(grad, Tensor)
        graph = flatten_loops(builder.build())
        Session(builder.build()).run([grad.ref], {"x": np.ones(2)})
        return [ref(graph), *(ref(loop.graph) for op in graph if (loop := loop_of(op)))]

    graphs = run()
    gc.collect()
    assert [made() for made in graphs] == [None] * 3


@pytest.mark.parametrize("fast", [False, True])
def test_variables_that_change_places_are_carried_as_they_were(fast: bool) -> None:
    """The arguments themselves, with nothing between them and the next iteration."""
    build = GraphBuilder()
    with build.as_default():
        n, x, y = (
            build.placeholder("n", "int32", ()),
            *(build.placeholder(z, shape=()) for z in "xy"),
        )
        tf.while_loop(lambda i, *_: i < n, lambda i, x, y: (i + 1, y, x), [0, x, y], name="loop")
    [op] = [op for op in build.build() if (loop := loop_of(op)) is not None]
    loop = loop_of(op)
    assert loop is not None
    _, first, second = loop.variables
    swapped = replace(loop, results=(loop.results[0], TensorRef(second), TensorRef(first)))
    graph = Graph.of(
        each.with_attrs(loop=swapped) if each is op else each for each in build.build()
    )
    session = Session(graph, fast=fast)
    for count in (2, 3, 0, 5):
        found = session.run(["loop/Exit_1", "loop/Exit_2"], {"n": count, "x": 1, "y": 2})
        assert found == ([2, 1] if count % 2 else [1, 2])


@pytest.mark.parametrize("where", ["body", "condition"])
@pytest.mark.parametrize("length", [0, 1, 4])
def test_what_stops_a_loop_is_told_alike_in_both_layouts(where: str, length: int) -> None:
    """An index that is out of range after `length` iterations, in one of several steps."""
    build = GraphBuilder()
    with build.as_default():
        table = build.placeholder("table", shape=(None,))

        def cond(i: Tensor, x: Tensor) -> Tensor:
            return tf.gather(table, i) > -1.0 if where == "condition" else i < 10

        def body(i: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
            y = tf.tanh(x) + 1.0
            return i + 1, (tf.gather(table, i) * y if where == "body" else y)

        _, x = tf.while_loop(cond, body, [0, 1.0], name="loop")
    feeds = {TensorRef("table"): np.ones(length, np.float32)}
    seen = check(Case(build.build(), (x.ref,), feeds=feeds), runs=2)
    assert f"(in iteration {length + 1})" in seen[0].error
    assert "Gather" in seen[0].error


def test_the_way_back_has_loop_variables_as_they_were() -> None:
    """Those themselves, which the next iteration overwrites, and not the copies that are usual."""
    build = GraphBuilder()
    with build.as_default():
        x, w = build.placeholder("x", shape=(2,)), build.placeholder("w", shape=(2,))
        _, y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * w), [0, x], name="loop")
        (dw,) = gradients(y, [w])
    assert isinstance(dw, Tensor)
    read: list[str] = []

    def rewired(op: Operation) -> Operation:
        if op.type != "IterationValue":
            return op
        read.append(op.attrs["tensor"])
        return op.with_attrs(tensor="loop/Merge_1:0")

    graph = everywhere(build.build(), lambda part: Graph.of(rewired(op) for op in part))
    assert len(read) == 1
    assert "loop/Merge_1" not in read[0]
    feeds = {TensorRef(name): np.array([3, 5], np.float32) for name in "xw"}
    seen = check(Case(graph, (dw.ref,), feeds=feeds), runs=2)[0]
    assert np.frombuffer(seen.fetched[dw.ref][2], np.float32).tolist() == [3 * 3**3, 3 * 5**3]


@pytest.mark.parametrize("steps", range(9))
def test_a_loop_goes_on_from_wherever_it_stands(steps: int) -> None:
    """Also where whole rounds are made at once: from amid an iteration, or left after each."""
    build = GraphBuilder()
    with build.as_default():
        tf.while_loop(lambda i, _: i < 4, lambda i, y: (i + 1, y * 2.0 + 1.0), [0, 1.0], name="w")
    plan = compile_plan(build.build(), [TensorRef("w/Exit_1")])
    recording = Recording(plan, NumpyBackend())
    recording.adopt(Retention(whole=False, asked={}))
    recording.begin({})
    [step] = plan.loops
    recording.run(0, step)
    run = recording.loop(step)
    length = len(run.recording.plan.steps)
    assert run.reach(min(steps, length)) is None
    while not run.ended:
        stood = run.number, run.step
        assert run.finish(lambda: True) is None
        assert (run.number, run.step) > stood or run.ended
    assert [float(x) for x in run.results] == [4, 31]
    assert run.trace.iterations == 4
