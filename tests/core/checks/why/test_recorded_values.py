"""What recorded runs, and iterations of loops in them, held, and where it came from."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.checks.why.recorded_values import (
    Given,
    LoopRan,
    Made,
    OneIteration,
    Recorded,
    RecordedValue,
    source,
)
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.loops import iteration_trace
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.whys import graph_of

TIMES = 9


def counting(b: GraphBuilder) -> None:
    """A loop that adds c to a, and counts in the variable v, which the graph has, too."""
    x, c, v = b.placeholder("x", shape=[]), b.placeholder("c", shape=[]), b.variable("v", shape=[])

    def body(i: Any, a: Any) -> Any:
        counted = b.one("AssignAdd", v, tf.constant(1.0), name="count")
        with b.control_dependencies([counted]):
            more = tf.add(c, tf.identity(counted) * 0.0, name="more")
        return i + 1, tf.add(a, more, name="sum")

    tf.identity(tf.while_loop(lambda i, a: i < TIMES, body, (0, x))[1], name="y")


@pytest.fixture(params=[1 << 30, 1 << 10], ids=["kept", "not kept"])
def session(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> DebugSession:
    monkeypatch.setattr(iteration_trace, "MOST_BYTES", request.param)
    graph = graph_of(counting)
    feeds = {TensorRef("x"): np.float32(5), TensorRef("c"): np.float32(2)}
    initial = {"v": np.float32(10)}
    session = DebugSession(
        Program(graph, graph, fetches=(TensorRef("y"),), feeds=feeds, initial=initial)
    )
    session.continue_()
    session.continue_()
    return session


def loop_of_run(session: DebugSession, number: int = 0) -> LoopRan:
    run = Recorded(session).run(number)
    return LoopRan(run, session.plan.step_of["while/While"])


def held(ran: Any, name: str) -> float:
    index = ran.value_of(TensorRef(name))
    assert index is not None
    return float(ran.held(index))


def test_what_iterations_held(session: DebugSession) -> None:
    """Whether it is kept or computed again, in any order."""
    loop = loop_of_run(session, 1)
    assert loop.count == TIMES
    for number in (3, 0, TIMES - 1, 2, 3):
        iteration = loop.iteration(number)
        assert held(iteration, "while/sum") == 5 + 2 * (number + 1)
        assert held(iteration, "while/count") == 10 + TIMES + number + 1
        assert iteration.within == ((number, "while/While"),)
        assert iteration.done == len(iteration.plan.steps)
    last = loop.iteration(TIMES)
    assert last.done == loop.of.split < len(last.plan.steps)


def test_what_is_kept_is_not_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = graph_of(counting)
    feeds = {TensorRef("x"): np.float32(5), TensorRef("c"): np.float32(2)}
    session = DebugSession(
        Program(graph, graph, fetches=(TensorRef("y"),), feeds=feeds, initial={"v": np.float32(1)})
    )
    session.continue_()
    monkeypatch.setattr(LoopRan, "_repeat", lambda *_: pytest.fail("run again"))
    assert held(loop_of_run(session).iteration(4), "while/sum") == 15


def came_from(iteration: OneIteration, name: str) -> Made | Given:
    """What made the value that the variable `name` began with there."""
    (began, *_) = iteration.plan.versions[name]
    return source(iteration, began)


def test_where_variables_of_a_loop_came_from(session: DebugSession) -> None:
    loop = loop_of_run(session, 1)
    name = loop.of.loop.variables[1]
    first = came_from(loop.iteration(0), name)
    assert isinstance(first, Made)
    assert (first.ran.rank, first.ran.plan.steps[first.step].op.inputs) == ((1,), (TensorRef("x"),))
    later = came_from(loop.iteration(3), name)
    assert isinstance(later, Made)
    assert (later.ran.rank, later.ran.plan.steps[later.step].op.name) == (
        loop.iteration(2).rank,
        "while/NextIteration_1",
    )


def test_where_a_variable_that_a_loop_shares_came_from(session: DebugSession) -> None:
    """From the iteration before, from the run before, and from before all."""
    loop = loop_of_run(session, 1)
    (shared,) = loop.of.shared
    later = came_from(loop.iteration(3), shared)
    assert isinstance(later, Made)
    assert later.ran.rank == loop.iteration(2).rank
    before = came_from(loop.iteration(0), shared)
    assert isinstance(before, Made)
    assert before.ran.rank == (0,)
    first = came_from(loop_of_run(session, 0).iteration(0), shared)
    assert isinstance(first, Given)
    assert (first.kind, first.ran.tensor(first.index).op) == ("initial", "v")
    assert first.rank < loop_of_run(session, 0).iteration(0).rank


def test_what_a_loop_reads_from_outside(session: DebugSession) -> None:
    loop = loop_of_run(session)
    began = loop.result(2, 1)
    assert isinstance(began, RecordedValue)
    assert float(began.ran.held(began.index)) == 11
    assert float(loop.around.held(loop.read(1).index)) == 5


def test_as_of_a_step_later_ones_hold_nothing(session: DebugSession) -> None:
    steps = session.plan.step_of
    whole, early = Recorded(session).run(0), Recorded(session).up_to(0, steps["while/While"])
    for name, is_there in (("x", True), ("while/While", False), ("y", False)):
        ref = TensorRef(name)
        index = whole.value_of(ref)
        assert index is not None
        assert (early.held(index) is not None) == is_there
        assert whole.held(index) is not None
    assert [early.has_run(n) for n in (steps["while/While"] - 1, steps["while/While"])] == [
        True,
        False,
    ]
    assert Recorded(session).up_to(0, 10_000).done == whole.done
    assert whole.position(3) == "0:4"
    assert loop_of_run(session).iteration(2).position(3) == f"0:{steps['while/While']}/2:4"
