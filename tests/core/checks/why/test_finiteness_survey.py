"""Looking through a run for NaN and infinity: what is found, and in which strides."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from gradstep.core.checks.why.finiteness_survey import Survey, Surveyor, _Look
from gradstep.core.debug.concurrency.scheduler import Scheduler
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.model import TensorRef
from gradstep.core.graph.tensor_dict import ByTensor
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.whys import Build, given, graph_of


def session_of(build: Build, values: dict[str, Any], initial: dict[str, Any] | None = None) -> Any:
    graph = graph_of(build)
    targets = ("update",) if "update" in graph else ()
    return DebugSession(
        Program(
            graph,
            graph,
            fetches=(TensorRef("y"),),
            targets=targets,
            feeds=given(values),
            initial={n: np.asarray(v, np.float32) for n, v in (initial or {}).items()},
        )
    )


def through(session: DebugSession) -> Survey:
    return Surveyor(session).look(session.stop.run, 60)


def logs(b: GraphBuilder) -> None:
    x = b.placeholder("x", shape=[3])
    late = tf.exp(tf.log(x, name="log"), name="after")
    tf.reduce_sum(late * tf.sqrt(x - 0.5, name="root"), name="y")


@pytest.mark.parametrize(
    ("x", "first", "first_nan"),
    [
        ([1, 2, 3], None, None),
        ([1, 0, 3], ("log", "inf"), ("root", "nan")),
        ([1, -1, 3], ("log", "nan"), ("log", "nan")),
    ],
)
def test_the_first_maker_is_found(x: Any, first: Any, first_nan: Any) -> None:
    session = session_of(logs, {"x": x})
    session.continue_()
    found = through(session)
    assert found.complete
    for maker, wanted in ((found.first, first), (found.first_nan, first_nan)):
        assert (None if maker is None else (maker.op.name, maker.kind)) == wanted
    assert found.reached == (first is not None)
    if found.first is not None:
        session.run_to(f"0:{found.first.step + 1}")
        assert not np.isfinite(session.frame().value("log")).all()
        session.step_back()
        assert session.frame().value("log") is None


def test_a_nan_that_infinities_made() -> None:
    def build(b: GraphBuilder) -> None:
        logs = tf.log(b.placeholder("x", shape=[3]), name="log")
        tf.reduce_sum(tf.subtract(logs, logs, name="difference"), name="y")

    session = session_of(build, {"x": [1, 0, 3]})
    session.continue_()
    found = through(session)
    assert found.first is not None
    assert found.first_nan is not None
    assert (found.first.op.name, found.first_nan.op.name) == ("log", "difference")


def test_as_the_run_goes_on() -> None:
    """Only what has been executed is looked at, and nothing twice."""
    session = session_of(logs, {"x": [1, -1, 3]})
    surveyor = Surveyor(session)
    assert surveyor.look(0, 60).first is None
    session.run_to("after")
    assert surveyor.look(0, 60) is surveyor.look(0, 60)
    found = surveyor.look(0, 60)
    assert (found.first.op.name, found.nodes) == ("log", {"log"})
    session.continue_()
    assert {"log", "after", "y"} <= surveyor.look(0, 60).nodes
    session.restart()
    assert surveyor.look(0, 60).first is None


def test_in_strides() -> None:
    def build(b: GraphBuilder) -> None:
        y = b.placeholder("x", shape=[])
        for _ in range(300):
            y = y * 1.01
        tf.log(y - 100.0, name="y")

    session = session_of(build, {"x": 1})
    session.continue_()
    surveyor, seen = Surveyor(session), []
    while not (found := surveyor.look(0, 0)).complete:
        seen.append(found.looked)
    assert len(seen) >= 3
    assert seen == sorted(set(seen))
    products = [step.op.type == "Mul" for step in session.plan.steps]
    assert [sum(products[:looked]) for looked in seen] == [64 * (k + 1) for k in range(len(seen))]
    assert found.first is not None
    assert found.first.op.name == "y"


def test_what_was_there_when_the_run_began() -> None:
    """A variable that the run before has made NaN; a feed."""

    def build(b: GraphBuilder) -> None:
        w = b.variable("w", shape=[2])
        b.one("AssignAdd", w, tf.log(w - 1.5), name="update")
        tf.reduce_sum(w * b.placeholder("x", shape=[2]), name="y")

    session = session_of(build, {"x": [1, 1]}, {"w": [2, 1]})
    session.continue_()
    first = through(session).first
    assert first is not None
    assert first.op.type == "Log"
    session.continue_()
    first = through(session).first
    assert first is not None
    assert (first.op.name, first.step) == ("w", -1)
    fed = session_of(build, {"x": [np.nan, 1]}, {"w": [2, 2]})
    fed.continue_()
    first = through(fed).first
    assert first is not None
    assert (first.op.name, first.step) == ("x", -1)


@pytest.mark.parametrize("reached", [False, True])
def test_infinities_that_are_meant_are_none(reached: bool) -> None:
    """A mask of minus infinity is drawn; a logarithm of 0 that is chosen away reaches nothing."""

    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[2])
        masked = x + np.array([0, -np.inf], np.float32)
        safe = tf.where(x > 0.0, tf.log(x, name="log"), tf.zeros_like(x))
        tf.reduce_sum(tf.nn.softmax(masked) + safe, name="y")

    session = session_of(build, {"x": [1, 0 if reached else 2]})
    session.continue_()
    found = through(session)
    assert (found.first is not None) == reached
    assert not found.reached


@pytest.mark.parametrize("computed", [False, True])
def test_a_nan_that_is_a_constant(computed: bool) -> None:
    """It is named, and not the operation that reads it, whatever else that reads."""

    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[2])
        tf.add(x * 2.0 if computed else x, tf.constant([1.0, np.nan]), name="y")

    session = session_of(build, {"x": [1, 2]})
    session.continue_()
    found = through(session)
    assert found.first is not None
    name = found.first.op.name
    assert (found.first.op.type, found.first.tensor) == ("Const", TensorRef(name))
    assert (found.first.kind, found.first.step) == ("nan", session.plan.step_of[name])
    assert np.isnan(session.frame().value(name)).any()
    assert found.first_nan == found.first
    assert found.reached


def test_an_infinity_that_is_fed_is_meant() -> None:
    session = session_of(lambda b: tf.exp(-b.placeholder("x", shape=[2]), name="y"),
                         {"x": [1, np.inf]})  # fmt: skip
    session.continue_()
    assert through(session).first is None


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int32"])
def test_large_numbers_are_finite(dtype: str) -> None:
    """Their squares are not."""
    limit = 1000 if dtype in ("float16", "int32") else 1e30
    array = np.full(4, limit, dtype)

    def build(b: GraphBuilder) -> None:
        tf.identity(tf.add(b.placeholder("x", dtype, [4]), array), name="y")

    session = session_of(build, {"x": array})
    session.continue_()
    assert through(session).first is None


def test_branches_that_are_not_taken_hold_nothing() -> None:
    """Also where they did in the run before, in the same memory."""

    def build(b: GraphBuilder) -> None:
        n = b.variable("n", shape=[])
        b.one("AssignAdd", n, tf.constant(1.0), name="update")
        tf.identity(tf.cond(n < 1.5, lambda: tf.log(n - 5.0), lambda: n * 2.0), name="y")

    session = session_of(build, {}, {"n": 0})
    session.continue_()
    assert through(session).first is not None
    session.continue_()
    assert through(session).first is None


def test_only_some_runs_are_remembered() -> None:
    session = session_of(logs, {"x": [1, 2, 3]})
    surveyor = Surveyor(session)
    for _ in range(12):
        session.continue_()
        assert surveyor.look(session.stop.run, 60).complete
    assert surveyor.look(0, 60).complete  # looked through again
    assert len(surveyor._looks) <= 8


def test_before_anything_is_looked_at() -> None:
    assert (Survey().looked, Survey().done, Survey().complete) == (0, 0, True)


def test_an_infinity_that_is_meant_reaches_nothing_that_anybody_made() -> None:
    session = session_of(lambda b: tf.multiply(b.placeholder("x", shape=[2]), 2.0, name="y"),
                         {"x": [1, np.inf]})  # fmt: skip
    session.continue_()
    found = through(session)
    assert (found.first, found.first_nan, found.reached) == (None, None, False)
    assert found.nodes == {"y"}


def test_the_oldest_run_is_forgotten_first() -> None:
    session = session_of(logs, {"x": [1, 2, 3]})
    surveyor, found = Surveyor(session), []
    for _ in range(10):
        session.continue_()
        found.append(surveyor.look(session.stop.run, 60))
    assert [surveyor.look(n, 60) is found[n] for n in (9, 8, 2)] == [True] * 3
    assert surveyor.look(0, 60) is not found[0]
    assert surveyor.look(9, 60) is found[9]


def _begins_with(b: GraphBuilder) -> None:
    w = b.variable("w", shape=[2])
    v = b.variable("v", shape=[2])
    b.one("AssignAdd", w, tf.multiply(v, v), name="update")
    tf.multiply(w, v, name="y")


def test_after_an_edit_only_what_begins_otherwise_is_looked_at(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen: list[Any] = []
    is_finite = _Look._is_finite
    monkeypatch.setattr(
        _Look, "_is_finite", lambda self, held: seen.append(held) or is_finite(self, held)
    )
    program = session_of(_begins_with, {}, {"w": [1, 2], "v": [3, 4]}).program
    threads = Scheduler(program)
    surveyor = Surveyor(threads.session)
    assert surveyor.look(0, 60).first is None
    assert len(seen) == 2
    given = (None, 0, None), ([np.nan, 2], 1, "w"), (None, 1, "w"), ([1, 2], 1, None)
    for w, count, found in given:
        seen.clear()
        if w is not None:
            initial = {**program.initial, "w": np.array(w, np.float32)}
            program = replace(program, initial=initial)
        threads = Scheduler(program, before=threads)
        surveyor = Surveyor(threads.session, surveyor)
        made = surveyor.look(0, 60).first
        assert (made and made.op.name) == found
        assert len(seen) == count


def test_what_was_given_by_hand_is_looked_at_after_an_edit() -> None:
    """However much of what the first run begins with is known."""
    program = session_of(_begins_with, {}, {"w": [1, 2], "v": [3, 4]}).program
    threads = Scheduler(program)
    surveyor = Surveyor(threads.session)
    surveyor.look(0, 60)
    threads = Scheduler(program, before=threads)
    threads.assign({"w": np.array([np.nan, 0], np.float32)})
    found = Surveyor(threads.session, surveyor).look(0, 60)
    assert found.first is not None
    assert found.first.op.name == "w"


@pytest.mark.parametrize(("value", "found"), [([1, 1], None), ([np.nan, 1], "w")])
def test_on_a_branch_only_what_was_given_is_looked_at_of_what_the_run_begins_with(
    value: Any, found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_of(_begins_with, {}, {"w": [1, 2], "v": [3, 4]})
    surveyor, seen = Surveyor(session), list[Any]()
    surveyor.look(0, 60)
    is_finite = _Look._is_finite
    monkeypatch.setattr(
        _Look, "_is_finite", lambda self, held: seen.append(held) or is_finite(self, held)
    )
    session.inject({"w": np.array(value, np.float32)})
    surveyor.forget_runs()
    first = surveyor.look(0, 60).first
    assert (first and first.op.name) == found
    assert len(seen) == 1
    assert (first := Surveyor(session).look(0, 60).first) is None or first.op.name == found


def test_a_look_goes_through_no_more_steps_than_it_looks_at_values_of() -> None:
    """However long the run is."""

    def build(b: GraphBuilder) -> None:
        y = b.placeholder("x", shape=[])
        for _ in range(1000):
            y = y * 1.01
        tf.log(y, name="y")

    session = session_of(build, {"x": 1})
    session.continue_()
    surveyor = Surveyor(session)
    surveyor.look(0, 0)
    assert surveyor._made.done <= 256 < len(session.plan.steps)
    assert surveyor.look(0, 60).complete
    made = surveyor._made
    session.run_to("0:1")
    session.inject({"x": np.array(2, np.float32)})
    surveyor.forget_runs()
    assert surveyor._made is made  # it is the same plan
    assert surveyor.look(0, 60).complete


def test_a_stride_costs_what_it_looks_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a run that holds nothing but NaN: what lasts of a plan is found once."""

    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[])
        for _ in range(300):
            x = tf.log(x)
        tf.identity(x, name="y")

    session = session_of(build, {"x": -1.0})
    session.continue_()
    asked: list[object] = []
    real = ByTensor.__getitem__

    def counted(tensors: ByTensor[Any], ref: TensorRef) -> Any:
        asked.append(ref)
        return real(tensors, ref)

    monkeypatch.setattr(ByTensor, "__getitem__", counted)
    surveyor, strides = Surveyor(session), 1
    while not surveyor.look(0, 0).complete:
        strides += 1
    assert strides >= 4
    assert surveyor.look(0, 0).reached
    assert len(asked) <= len(session.plan.fetches)
