"""What is known of a run: of tensors that have no value yet, of loops, and of runs before."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.checks.why.questioned_run import Recollection
from gradstep.core.checks.why.recorded_values import RecordedValue
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.core.checks.test_among_others import looped
from tests.core.checks.test_planted_causes import branch
from tests.support.whys import given, graph_of


def session_of(build: Any, fetch: str, **values: Any) -> DebugSession:
    graph = graph_of(build)
    feeds = given(values)
    return DebugSession(Program(graph, graph, fetches=(TensorRef(fetch),), feeds=feeds))


def test_before_the_first_step_only_what_is_given_has_a_value() -> None:
    session = session_of(lambda b: tf.exp(b.placeholder("x", shape=[2]), name="y"), "y", x=[1, 2])
    there = Recollection(session, 0)
    first = session.plan.steps[0].op.output()
    assert there.place(first) is None
    assert there.place(TensorRef("y")) is None
    assert isinstance(there.place(TensorRef("x")), RecordedValue)
    session.continue_()
    assert isinstance(Recollection(session, 0).place(first), RecordedValue)
    assert Recollection(session, 0, 0).place(first) is None


@pytest.mark.parametrize(
    ("taken", "reason"), [(True, ""), (False, "branch not taken because p is False")]
)
def test_what_is_in_a_branch_that_was_not_taken_is_dead(taken: bool, reason: str) -> None:
    session = session_of(branch, "loss", x=1, p=np.array(taken))
    twice = TensorRef("cond/twice")
    assert Recollection(session, 0).dead(twice) == ""  # it is not known yet
    session.continue_()
    there = Recollection(session, 0)
    assert there.dead(twice) == reason
    assert (there.place(twice) is None) == bool(reason)
    assert there.dead(TensorRef("x")) == there.dead(TensorRef("nowhere")) == ""


@pytest.mark.parametrize(("broken", "iteration"), [(9, 3), (0, 0), (2, 2), (3, 3)])
def test_of_a_tensor_in_a_loop_the_first_that_is_not_finite_else_the_last(
    broken: int, iteration: int
) -> None:
    def body(i: Tensor, a: Tensor, c: Tensor) -> Tensor:
        away = tf.cast(tf.not_equal(i, broken), "float32")
        return a + tf.divide(c, away, name="part") * 0.0

    session = session_of(looped(body, 4), "loss", x=1, c=1)
    session.continue_()
    place = Recollection(session, 0).place(TensorRef("while/part"))
    assert place is not None
    assert place.ran.within == ((iteration, "while/While"),)


def test_of_a_loop_that_did_not_run_there_is_none() -> None:
    session = session_of(looped(lambda i, a, c: tf.add(a, c, name="sum"), 0), "loss", x=1, c=1)
    assert Recollection(session, 0).place(TensorRef("while/sum")) is None
    session.continue_()
    assert Recollection(session, 0).place(TensorRef("while/sum")) is None


def test_whose_runs_one_can_go_to() -> None:
    """Not to those of a session that runs for one question only, but to those before it."""
    session = session_of(lambda b: tf.exp(b.placeholder("x", shape=[2]), name="y"), "y", x=[1, 2])
    other = session_of(lambda b: tf.exp(b.placeholder("x", shape=[2]), name="y"), "y", x=[1, 2])
    past = Recollection(session, 0)
    aside = Recollection(other, 0, aside=True, past=past)
    assert past.stands(past.run) is past
    assert aside.stands(past.run) is past
    assert aside.stands(aside.run) is None
    assert past.stands(aside.run) is None


def test_where_what_a_variable_began_with_came_from() -> None:
    """In the runs of the other session, before the one that is asked about."""

    def build(b: GraphBuilder) -> None:
        w, n = b.variable("w", shape=[]), b.variable("n", shape=[])
        log = tf.log(1.5 - n, name="log")
        b.one("Assign", w, log, name="update")
        b.one("AssignAdd", n, tf.constant(1.0), name="tick")
        tf.multiply(w, 2.0, name="y")

    graph = graph_of(build)
    initial = {"w": np.float32(1), "n": np.float32(0)}
    targets = ("update", "tick")
    session = DebugSession(
        Program(graph, graph, fetches=(TensorRef("y"),), targets=targets, initial=initial)
    )
    for _ in range(4):
        session.continue_()
    began = session.frame(3, 0).value("w")
    assert np.isnan(began)
    aside = DebugSession(
        Program(graph, graph, fetches=(TensorRef("y"),), initial={**initial, "w": began})
    )
    aside.continue_()
    there = Recollection(aside, 0, aside=True, past=Recollection(session, 3))
    (origin,) = there.origins(TensorRef("y"))
    assert origin.op is not None
    assert (origin.op.name, origin.made.ran.rank[0]) == ("log", 2)
    (origin,) = Recollection(aside, 0, aside=True).origins(TensorRef("y"))
    assert (origin.op, origin.cause, origin.tensor.op) == (None, "initial", "w")
