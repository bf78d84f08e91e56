"""The first of many: the run, the iteration or the element that all the others follow, wherever it
is, and after few looks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gradstep.core.checks.why.recorded_values import Given, LoopRan, Recorded, RecordedValue
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.loops import iteration_trace
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.drawn_share import share
from tests.support.whys import graph_of, why_gradient, why_value

RUNS = 24


@pytest.fixture(scope="module")
def counting() -> DebugSession:
    return counted()


def counted() -> DebugSession:
    """A variable that begins run k with k."""

    def build(b: GraphBuilder) -> None:
        n = b.variable("n", shape=[])
        b.one("AssignAdd", n, tf.constant(1.0), name="tick")

    graph = graph_of(build)
    session = DebugSession(
        Program(graph, graph, fetches=(TensorRef("tick"),), initial={"n": np.float32(0)})
    )
    for _ in range(RUNS):
        session.continue_()
    return session


@pytest.mark.parametrize("last", range(RUNS))
def test_the_first_run_of_all_in_a_row_is_found(counting: DebugSession, last: int) -> None:
    recorded = Recorded(counting)
    (began,) = (versions[0] for versions in counting.plan.versions.values())
    for first in range(last + 1):
        looked_at = []

        def holds(held: Any, least: int = first, looked_at: list[Any] = looked_at) -> bool:
            looked_at.append(held)
            return bool(held >= least)

        found = recorded.run(last).earliest(began, holds)
        if first == 0:
            assert isinstance(found, Given)
            assert (found.kind, found.rank) == ("initial", (0, -1))
        else:
            assert isinstance(found, RecordedValue)
            assert (found.ran.rank, found.ran.held(found.index)) == ((first - 1,), first)
        assert len(looked_at) <= 2 * np.log2(last + 2) + 1


def test_of_runs_that_are_not_kept_nothing_is_known() -> None:
    """As the timeline leaves them out where there is too much to keep."""
    session = counted()
    session.timeline.first = 5
    (began,) = (versions[0] for versions in session.plan.versions.values())
    found = Recorded(session).run(9).earliest(began, lambda held: True)
    assert isinstance(found, Given)
    assert (found.kind, found.rank) == ("lost", (5, -1))
    later = Recorded(session).run(6).came_from(began)
    assert isinstance(later, RecordedValue)
    assert later.ran.rank == (5,)


@pytest.mark.parametrize("bytes_", [1 << 30, 1 << 11])
def test_the_first_iteration_of_all_in_a_row_is_found(
    bytes_: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of those that are not kept."""
    monkeypatch.setattr(iteration_trace, "MOST_BYTES", bytes_)

    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[])
        body = lambda i, a: (i + 1, a + 1.0)  # noqa: E731
        tf.identity(tf.while_loop(lambda i, a: i < 12, body, (0, x))[1], name="y")

    graph = graph_of(build)
    feeds = {TensorRef("x"): np.array(0, np.float32)}
    session = DebugSession(Program(graph, graph, fetches=(TensorRef("y"),), feeds=feeds))
    session.continue_()
    run = Recorded(session).run(0)
    loop = LoopRan(run, session.plan.step_of["while/While"])
    began = loop.of.plan.versions[loop.of.loop.variables[1]][0]
    for last in range(12):
        for first in range(last + 1):
            assert loop.first_with(last, began, lambda held, least=first: held >= least) == first


@pytest.mark.slow
@settings(max_examples=share(25), deadline=None)
@given(st.lists(st.integers(1, 5), min_size=1, max_size=4), st.data())
def test_the_element_at_which_a_part_stops_is_named(sizes: list[int], data: st.DataObject) -> None:
    """Of tensors that are put together one is masked; the others let their gradients through."""
    part = data.draw(st.integers(0, len(sizes) - 1))
    before, masked = sum(sizes[:part]), sizes[part]
    mask = np.ones(sum(sizes) + 1, np.float32)
    mask[before : before + masked] = 0

    def build(b: GraphBuilder) -> None:
        parts = [b.placeholder(f"x{k}", shape=[n]) for k, n in enumerate([*sizes, 1])]
        both = tf.concat(parts, 0, name="both")
        tf.reduce_sum(tf.multiply(both, b.placeholder("mask", shape=mask.shape), name="masked"),
                      name="loss")  # fmt: skip

    values = {f"x{k}": [1.0] * n for k, n in enumerate([*sizes, 1])} | {"mask": mask}
    found = why_gradient(graph_of(build), "loss", f"x{part}", values)
    assert (found.state, found.cause, found.node) == ("zero", "zero_factor", "masked")
    assert (found.index, found.chain[0].operand) == ([before], "mask")


@settings(max_examples=share(25), deadline=None)
@given(st.integers(1, 9), st.data())
def test_the_factor_that_is_zero_is_named(size: int, data: st.DataObject) -> None:
    """Of a product of many."""
    at = data.draw(st.integers(0, size - 1))
    factors = np.full(size, 2, np.float32)
    factors[at] = 0
    graph = graph_of(
        lambda b: tf.reduce_prod(b.placeholder("x", shape=[size]) * 1.0, name="product")
    )
    found = why_value(graph, "product", {"x": factors})
    assert found.state == "zero"
    assert found.chain[-1].index == [at], found.text
    assert found.chain[-1].node == "x"
