"""Runs of bound calls: from step to step, without a copy between runs, and without warnings."""

from __future__ import annotations

import warnings
from contextvars import ContextVar

import numpy as np

from gradstep.core.engine.calls.call_loop import StepCalls, pack_calls
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.engine.plan.compile_plan import compile_plan
from gradstep.core.engine.run.recording import Recording
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.build.builder import GraphBuilder


def test_steps_are_run_in_slices_and_the_one_that_fails_is_named() -> None:
    done: list[int] = []

    def fail() -> None:
        raise GradstepError("no")

    def call(number: int) -> object:
        return lambda: done.append(number)

    steps = [(call(0), call(1)), (), (call(2), fail, call(3)), (call(4),)]
    calls = StepCalls(steps)  # type: ignore[arg-type]
    assert calls.between(0, 2)() == (2, None)
    made, error = calls.between(2, 4)()
    assert (calls.step_at(2, made), type(error)) == (2, GradstepError)
    assert calls.between(3, 4)() == (1, None)
    assert done == [0, 1, 2, 4]
    assert [step for step, _ in calls] == [0, 0, 2, 2, 2, 3]


def test_packed_calls_do_the_same() -> None:
    from functools import partial

    a, out = np.arange(3.0), np.zeros(3)
    for call in pack_calls([partial(np.add, a, a, out), partial(np.maximum, out, 1.0, out=out)]):
        call()
    np.testing.assert_array_equal(out, [1, 2, 4])


def test_infinities_are_data_whatever_numpy_would_say() -> None:
    b = GraphBuilder()
    y = b.one("Log", b.placeholder("x", shape=(2,)))
    feeds = {"x": np.array([0, -1], np.float32)}
    for fast in (False, True):
        session = Session(b.build(), fast=fast)
        with warnings.catch_warnings(), np.errstate(all="raise"):
            warnings.simplefilter("error")
            (value,) = session.run([y.ref], feeds)
        assert value[0] == -np.inf
        assert np.isnan(value[1])


def test_a_function_may_run_another_session_and_leaves_no_settings_behind() -> None:
    inner = GraphBuilder()
    z = inner.one("Exp", inner.placeholder("z", shape=(1,)))
    other = Session(inner.build())

    def through(x: np.ndarray) -> np.ndarray:
        np.seterr(all="raise")
        return other.run([z.ref], {"z": x})[0]

    b = GraphBuilder()
    kind = (DType.FLOAT32,)
    x = b.placeholder("x", shape=(1,))
    called = b.one("PyFunc", x, token="f", Tin=kind, Tout=kind, shapes=(Shape.of(1),))
    y = b.one("Log", called)
    session = Session(b.build(), functions={"f": through})
    for _ in range(2):
        (value,) = session.run([y.ref], {"x": np.array([1], np.float32)})
        np.testing.assert_allclose(value, [1], rtol=1e-6)
    with np.errstate(all="warn"):
        before = np.geterr()
        session.run([x.ref], {"x": np.array([1], np.float32)})
        assert np.geterr() == before


def test_a_function_sees_what_is_set_where_it_is_run() -> None:
    level: ContextVar[float] = ContextVar("level", default=0.0)
    b = GraphBuilder()
    kind = (DType.FLOAT32,)
    x = b.placeholder("x", shape=())
    y = b.one("PyFunc", x, token="f", Tin=kind, Tout=kind, shapes=(Shape.of(),))
    session = Session(b.build(), functions={"f": lambda x: np.float32(level.get())})
    for number in range(3):
        level.set(number)
        assert session.run([y.ref], {"x": 0})[0] == number


def counting() -> tuple[Recording, int, int]:
    """A recording that adds one to a variable; its first and last version."""
    b = GraphBuilder()
    b.one("AssignAdd", b.variable("n", shape=(2,)), [1.0, 1.0], name="count")
    plan = compile_plan(b.build(), [TensorRef("count")])
    first, last = plan.versions["n"]
    return Recording(plan, NumpyBackend()), first, last


def test_a_run_starts_where_the_last_one_ended_without_a_copy() -> None:
    recording, first, last = counting()
    recording.begin({"n": np.zeros(2, np.float32)})
    kept = []
    for number in range(4):
        assert recording.run(0, len(recording.plan.steps))[1] is None
        assert recording.value(first).tolist() == [number] * 2
        assert recording.value(last).tolist() == [number + 1] * 2
        kept.append(recording.record())
        end = recording.value(last)
        recording.begin(recording.variables())
        assert recording.value(first) is end
    for number, record in enumerate(kept):
        assert record.value(first).tolist() == [number] * 2
        assert record.value(last).tolist() == [number + 1] * 2


def test_a_run_from_other_values_may_come_in_between() -> None:
    recording, first, last = counting()
    recording.begin({"n": np.zeros(2, np.float32)})
    for start in (5, 7):
        recording.run(0, len(recording.plan.steps))
        recording.begin(recording.variables())
        recording.run(0, len(recording.plan.steps))
        recording.begin({"n": np.full(2, start, np.float32)})
        recording.run(0, len(recording.plan.steps))
        assert recording.value(first).tolist() == [start] * 2
        assert recording.value(last).tolist() == [start + 1] * 2


def test_what_only_passes_a_value_on_costs_no_call_and_no_memory() -> None:
    b = GraphBuilder()
    x = b.one("Neg", b.placeholder("x", shape=(2, 3)), name="x_neg")
    flat = b.one("Reshape", b.one("StopGradient", x), np.array([6], np.int32), name="flat")
    b.one("Neg", flat, name="y")
    plan = compile_plan(b.build(), [TensorRef("y")], (), [TensorRef("x")])
    recording = Recording(plan, NumpyBackend())
    feed = np.arange(6, dtype=np.float32).reshape(2, 3)
    recording.feed({TensorRef("x"): feed})
    recording.begin({})
    recording.run(0, len(plan.steps))
    assert {plan.steps[i].op.type for i, _ in recording.calls} == {"Neg"}
    place = plan.tensors[TensorRef("flat")]
    assert isinstance(place, int)
    np.testing.assert_array_equal(recording.value(place), -feed.reshape(-1))
    assert np.shares_memory(recording.value(place), recording.value(plan.tensors[x.ref]))  # type: ignore[arg-type]


def test_an_edit_that_makes_another_value_of_it_gives_it_a_place_of_its_own() -> None:
    def graph(type: str) -> GraphBuilder:
        b = GraphBuilder()
        doubled = b.one("AddV2", *[b.placeholder("x", shape=(2,))] * 2, name="doubled")
        b.one("AddV2", b.one(type, doubled, name="passed"), doubled, name="y")
        return b

    x, y = TensorRef("x"), TensorRef("y")
    before = compile_plan(graph("Identity").build(), [y], (), [x])
    recording = Recording(before, NumpyBackend())
    for _ in range(2):
        recording.feed({x: np.array([1, 2], np.float32)})
        recording.begin({})
        recording.run(0, len(before.steps))
    after = compile_plan(graph("Neg").build(), [y], (), [x], previous=before)
    recording = Recording(after, NumpyBackend(), before=recording)
    recording.feed({x: np.array([1, 2], np.float32)})
    recording.begin({})
    recording.run(0, len(after.steps))
    where = after.tensors[y]
    assert isinstance(where, int)
    assert recording.value(where).tolist() == [0, 0]
