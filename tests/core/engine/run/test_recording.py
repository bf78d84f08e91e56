"""The record layout against a plain interpreter: bit for bit, whatever the graph."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.engine.calls.op_evaluation import run_op
from gradstep.core.engine.memory.record_layout import ALIGNMENT, RecordLayout
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.plan.execution_plan import Plan
from gradstep.core.engine.run.feed_values import infer_fed_types
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.engine.run.variable_store import VariableStore
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.declare.table import OpDef
from tests.support.each_case import each_of

FUNCTIONS = {"swap": lambda x: x[::-1]}
UNARY = ["Tanh", "Neg", "Exp", "Square", "Identity", "Floor"]
BINARY = ["AddV2", "Mul", "Sub", "RealDiv"]
UPDATES = ["Assign", "AssignAdd", "AssignSub"]

instructions = st.lists(
    st.tuples(
        st.sampled_from([*UNARY, *BINARY, *UPDATES, "PyFunc", "Sum"]),
        st.integers(0, 30),
        st.integers(0, 30),
    ),
    max_size=25,
)


def build(program: list[tuple[str, int, int]]) -> GraphBuilder:
    """A graph over vectors of two: a feed, a constant, two variables, then the instructions.
    Every update waits for the one before it."""
    b = GraphBuilder()
    variables = [b.variable("v", shape=(2,)), b.variable("w", shape=(2,))]
    values = [b.placeholder("x", shape=(2,)), b.constant([0.5, -3.0]), *variables]
    last: list[str] = []
    for type, i, j in program:
        first, second = values[i % len(values)], values[j % len(values)]
        with b.control_dependencies(last):
            made = add(b, type, first, second, variables[j % 2])
        if type in UPDATES:
            last = [made.ref.op]
        values.append(made)
    return b


def add(b: GraphBuilder, type: str, x: Tensor, y: Tensor, variable: Tensor) -> Tensor:
    if type in UPDATES:
        return b.one(type, variable, x)
    if type in BINARY:
        return b.one(type, x, y)
    if type == "PyFunc":  # its shape is known only while running
        floats = (DType.FLOAT32,)
        return b.one("PyFunc", x, token="swap", Tin=floats, Tout=floats)
    if type == "Sum":
        return b.one("Mul", b.one("Sum", x, [0], keep_dims=True), y)
    return b.one(type, x)


def interpret(plan: Plan, feeds: dict[TensorRef, Any], variables: dict[str, Any]) -> list[Any]:
    """Every value of the plan, computed operation by operation with nothing shared."""
    values: list[Any] = [None] * len(plan.values)
    for index, value in enumerate(plan.values):
        if plan.made_by[index] < 0:
            values[index] = variables[value.variable] if value.variable else feeds[value.ref]
    for step in plan.steps:
        if step.computes:
            inputs = [np.array(values[i]) for i in step.reads]
            results = run_op(NumpyBackend(), step.op, inputs, FUNCTIONS)
            for index, result in zip(step.writes, results, strict=True):
                values[index] = np.array(result)
    return values


@given(instructions)
def test_recorded_values_are_those_of_a_plain_interpreter(program: list) -> None:
    graph = build(program).build()
    feeds = {TensorRef("x"): np.array([1.5, -0.25], np.float32)}
    everything = [op.name for op in graph if op.type != "Placeholder"]
    plan = compile_plan(graph, [TensorRef("x")], everything, infer_fed_types(feeds))
    recording = Recording(plan, NumpyBackend(), FUNCTIONS)
    recording.feed(feeds)
    state = {"v": np.array([1, 2], np.float32), "w": np.array([-1, 0.5], np.float32)}
    recording.begin(state)
    for _ in range(3):
        assert recording.run(0, len(plan.steps)) == (len(plan.steps), None)
        kept = recording.record()
        expected = interpret(plan, feeds, state)
        state = {n: expected[ids[-1]] for n, ids in plan.versions.items()}
        recording.begin(recording.variables())
        for index, value in enumerate(expected):
            assert_same_bits(kept.value(index), value)


def test_calls_that_know_no_variable_are_made_once_for_both_ways_round() -> None:
    graph = build([("Tanh", 0, 0), ("Neg", 2, 0), ("PyFunc", 0, 0), ("AssignAdd", 4, 0)]).build()
    feeds = {TensorRef("x"): np.array([1.5, -0.25], np.float32)}
    everything = [op.name for op in graph if op.type != "Placeholder"]
    plan = compile_plan(graph, [TensorRef("x")], everything, infer_fed_types(feeds))
    recording = Recording(plan, NumpyBackend(), FUNCTIONS)
    recording.feed(feeds)
    state = {"v": np.array([1, 2], np.float32), "w": np.array([-1, 0.5], np.float32)}
    recording.begin(state)
    one_way = {plan.steps[step].op.type: call for step, call in recording.calls}
    recording.run(0, len(plan.steps))
    recording.begin(recording.variables())
    other_way = {plan.steps[step].op.type: call for step, call in recording.calls}
    assert one_way.keys() == other_way.keys() == {"Tanh", "Neg", "PyFunc", "AssignAdd"}
    assert [t for t in one_way if one_way[t] is other_way[t]] == ["Tanh"]


def assert_same_bits(actual: np.ndarray, expected: np.ndarray) -> None:
    assert (actual.dtype, actual.shape) == (expected.dtype, expected.shape)
    assert actual.tobytes() == expected.tobytes()


@given(instructions)
def test_places_are_aligned_and_apart(program: list) -> None:
    graph = build(program).build()
    plan = compile_plan(graph, [], [op.name for op in graph])
    layout = RecordLayout(plan)
    own = [p for i, p in enumerate(layout.places) if i not in layout.same]
    places = [p for p in own if p is not None]
    assert all(p.offset % ALIGNMENT == 0 for p in places)
    ordered = sorted(places, key=lambda p: p.offset)
    assert all(a.offset + a.size <= b.offset for a, b in pairwise(ordered))


def test_places_in_memory_are_aligned() -> None:
    backend = NumpyBackend()
    for size in (1, 3, 64, 1000):
        array = backend.empty((size,), np.dtype(np.float32))
        assert array.ctypes.data % ALIGNMENT == 0


def test_a_failing_step_is_found_without_looking_at_each() -> None:
    b = GraphBuilder()
    x = b.constant([1.0, 2.0])
    for number in range(9):
        x = b.one("Neg", x, name=f"n{number}")
    b.one("GatherV2", x, b.placeholder("i", "int32", (1,)), b.constant(0), name="g")
    b.one("Neg", b.get("g"), name="after")
    plan = compile_plan(b.build(), [TensorRef("after")], (), [TensorRef("i")])
    recording = Recording(plan, NumpyBackend())
    recording.feed({TensorRef("i"): np.array([7], np.int32)})
    recording.begin({})
    done, error = recording.run(0, len(plan.steps))
    assert plan.steps[done].op.name == "g"
    assert error is not None
    assert error.node == "g"
    assert "7 is not in [0, 2)" in error.message


class Halving(NumpyBackend):
    """Imitates a device whose products are half of what they should be."""

    def adapt(
        self, definition: OpDef, kernel: Callable[..., Any], op: Operation
    ) -> Callable[..., Any]:
        if definition.type != "Mul":
            return kernel
        return lambda *inputs: kernel(*inputs) * np.float32(0.5)


def test_an_imitated_device_computes_as_it_says_in_every_step() -> None:
    b = GraphBuilder()
    product = b.one("Mul", b.placeholder("x", shape=(2,)), 4.0)
    b.one("AddV2", product, 1.0, name="y")
    y = TensorRef("y")
    plan = compile_plan(b.build(), [y], (), [TensorRef("x")])
    for backend, expected in ((NumpyBackend(), [5, 9]), (Halving(), [3, 5])):
        recording = Recording(plan, backend)
        recording.feed({TensorRef("x"): np.array([1, 2], np.float32)})
        recording.begin({})
        recording.run(0, len(plan.steps))
        where = plan.tensors[y]
        assert isinstance(where, int)
        assert recording.value(where).tolist() == expected


def test_what_fails_while_its_calls_are_made_fails_at_its_step() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", "float32", (2, 3))
    b.one("Mean", x, b.constant([1], name="axes"), name="y")
    graph = b.build()
    floats = graph["axes"].with_attrs(value=Constant(np.ones(1, np.float32)), dtype=DType.FLOAT32)
    graph = Graph.of(floats if op.name == "axes" else op for op in graph)
    feeds = {TensorRef("x"): np.ones((2, 3), np.float32)}
    plan = compile_plan(graph, [TensorRef("y")], (), infer_fed_types(feeds))
    recording = Recording(plan, NumpyBackend())
    recording.feed(feeds)
    recording.begin({})
    _, error = recording.run(0, len(plan.steps))
    assert error is not None
    assert error.node == "y"


@each_of("fast", [False, True])
@each_of("shape", [(1 << 62, 0), (0, 1 << 40, 1 << 40), (1,) * 70])
def test_a_shape_that_no_array_can_have_is_said_at_what_declares_it(
    shape: tuple[int, ...], fast: bool
) -> None:
    builder = GraphBuilder()
    y = builder.one("Square", builder.variable("x", "float32", shape), name="y")
    with pytest.raises(GradstepError, match="there is no array of shape") as caught:
        Session(builder.build(), fast=fast).run([y.ref])
    assert caught.value.node == "x"


def test_a_first_run_sees_an_array_that_its_variables_have_got_since() -> None:
    b = GraphBuilder()
    doubled = b.one("AddV2", *[b.variable("v", shape=(2,))] * 2)
    backend = NumpyBackend()
    recording = Recording(compile_plan(b.build(), [doubled.ref]), backend)
    start = VariableStore(backend)
    for value in (1.0, 1.0, 3.0):
        if not start or start["v"][0] != value:
            start.hold("v", np.full(2, value, np.float32))
        recording.begin_first(start)
        recording.run(0, len(recording.plan.steps))
        assert recording.value(recording.plan.steps[-1].writes[0]).tolist() == [2 * value] * 2
