"""Stepping into loops: positions in iterations, forward and back, and what is to be seen there."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.debug.breakpoints import Breakpoint, BreakpointKind
from core.debug.program import Program
from core.debug.session import DebugSession
from core.debug.stop import Stop
from core.errors import GradstepError
from core.graph.model import TensorRef
from core.ops import api as tf
from core.ops.builder import GraphBuilder, Tensor

MOVES = ("step", "step_into", "step_out", "step_back", "continue_", "reverse_continue")


def power(builder: GraphBuilder) -> Tensor:
    """2 ** 3, by multiplying three times."""
    x, n = builder.placeholder("x", shape=()), builder.placeholder("n", "int32", ())
    _, y = tf.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, tf.multiply(y, x, name="times")), [0, 1.0]
    )
    return tf.identity(y, name="y")


def nested(builder: GraphBuilder) -> Tensor:
    """The sum of i * x for i < 3, the product by adding x up i times."""
    x, n = builder.placeholder("x", shape=()), builder.placeholder("n", "int32", ())

    def times(i: Tensor) -> Tensor:
        _, sum = tf.while_loop(
            lambda j, s: j < i, lambda j, s: (j + 1, tf.add(s, x, name="plus")), [0, 0.0], name="in"
        )
        return sum

    _, y = tf.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, y + times(i)), [0, 0.0], name="out"
    )
    return tf.identity(y, name="y")


def session(build: Any = power, n: int = 3) -> DebugSession:
    builder = GraphBuilder()
    with builder.as_default():
        fetch = build(builder).ref
    graph = builder.build()
    feeds = {TensorRef("x"): np.float32(2), TensorRef("n"): np.int32(n)}
    return DebugSession(Program(graph=graph, forward=graph, fetches=(fetch,), feeds=feeds))


def entered(build: Any = power, n: int = 3) -> DebugSession:
    found = session(build, n)
    found.run_to("while/While" if build is power else "out/While")
    found.step_into()
    return found


def places(stop: Stop) -> list[tuple[int, int]]:
    return [(place.iteration, place.step) for place in stop.inside]


def seen(found: DebugSession, *names: str) -> list[float | None]:
    values = (found.frame().value(name) for name in names)
    return [None if value is None else float(value) for value in values]


def test_step_into_goes_into_the_first_iteration_and_out_past_the_loop() -> None:
    found = entered()
    assert places(found.stop) == [(0, 0)]
    assert found.stop.op == "while/Less"
    assert found.stop.inside[0].iterations is None
    assert seen(found, "while/Merge_1", "while/times", "x") == [1, None, 2]
    stop = found.step_out()
    assert not stop.inside
    assert stop.op == "while/Exit_1"
    found.continue_()
    assert seen(found, "y") == [8]


def test_an_iteration_after_the_other_and_what_each_computed() -> None:
    found = entered()
    products = []
    while found.stop.inside:
        if not found.stop.op:  # the end of an iteration
            products.append(seen(found, "while/times")[0])
        found.step()
    assert products == [2, 4, 8, None]  # the last one only finds that it does not take place
    assert found.stop.op == "while/Exit_1"


def test_back_from_the_start_of_an_iteration_is_the_end_of_the_one_before() -> None:
    found = entered()
    found.run_to("0:4/1:0")
    assert seen(found, "while/Merge_1", "while/times") == [2, None]
    found.step_back()
    assert places(found.stop)[0][0] == 0
    assert seen(found, "while/Merge_1", "while/times") == [1, 2]
    while found.stop.inside:
        found.step_back()
    assert (found.stop.op, found.stop.step) == ("while/While", 4)


def test_a_loop_that_has_run_is_looked_at_again() -> None:
    found = session()
    found.continue_()
    found.run_to("0:4/2:0")
    assert found.stop.inside[0].iterations == 3
    assert seen(found, "while/Merge_1") == [4]


@pytest.mark.parametrize(("operation", "times"), [("while/times", 3), ("while/Less", 4)])
def test_breakpoints_in_loops_stop_in_every_iteration(operation: str, times: int) -> None:
    found = session()
    found.set_breakpoints([Breakpoint(operation)])
    stops = [found.continue_() for _ in range(times + 1)]
    assert [stop.hit for stop in stops] == [operation] * times + [""]
    assert [places(stop)[0][0] for stop in stops[:-1]] == list(range(times))
    assert stops[-1].reason == "end"


def test_a_condition_on_a_value_in_a_loop() -> None:
    found = session()
    found.set_breakpoints([Breakpoint("while/times", BreakpointKind.OP, 'x["while/times"] > 3')])
    stop = found.continue_()
    assert places(stop)[0][0] == 1
    assert seen(found, "while/times") == [4]


def test_hits_in_iterations_are_counted_once() -> None:
    found = session()
    found.set_breakpoints([Breakpoint("while/times", hits=3)])
    assert places(found.continue_())[0][0] == 2


@pytest.mark.parametrize("build", [power, nested])
def test_after_a_pause_one_steps_into_the_loop_where_it_stands(build: Any) -> None:
    found = session(build, 1_000_000_000)
    threading.Timer(0.05, found.pause).start()
    stop = found.continue_()
    assert (stop.reason, stop.inside) == ("pause", ())
    place = found.step_into().inside[0]
    assert place.iteration > 0
    breakpoint = "while/times" if build is power else "out/in/plus"
    found.set_breakpoints([Breakpoint(breakpoint)])
    stop = found.continue_()
    assert stop.hit == breakpoint
    assert stop.inside[0].iteration in (place.iteration, place.iteration + 1)


def test_after_a_pause_a_new_breakpoint_stops_in_an_iteration_to_come() -> None:
    found = session(power, 1_000_000_000)
    threading.Timer(0.05, found.pause).start()
    found.continue_()
    found.set_breakpoints([Breakpoint("while/times")])
    assert places(found.continue_())[0][0] > 0
    assert places(found.run_to("0:4/0:1")) == [(0, 1)]


def test_run_to_an_operation_in_a_loop() -> None:
    found = session()
    stop = found.run_to("while/times")
    assert (stop.reason, stop.op, places(stop)[0][0]) == ("goto", "while/times", 0)
    with pytest.raises(GradstepError, match="not executed"):
        found.run_to("while/divided")


def test_a_failure_stops_in_its_iteration() -> None:
    def checked(builder: GraphBuilder) -> Tensor:
        x, n = builder.placeholder("x", shape=()), builder.placeholder("n", "int32", ())

        def body(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
            large = y * 1e25 * x
            return i + 1, builder.one("CheckNumerics", large, message="no", name="check")

        return tf.identity(tf.while_loop(lambda i, y: i < n, body, [0, 1.0])[1], name="y")

    found = session(checked)
    found.set_breakpoints([Breakpoint("while/check")])
    found.continue_()
    found.continue_()
    stop = found.step()
    assert (stop.reason, stop.op, places(stop)[0][0]) == ("exception", "while/check", 1)
    assert stop.error is not None
    assert "in iteration 1" in stop.error.message


@settings(max_examples=15)
@given(
    st.sampled_from([power, nested]),
    st.integers(0, 3),
    st.lists(st.sampled_from(MOVES), max_size=25),
)
def test_a_position_shows_the_same_by_whatever_way_one_came(
    build: Any, n: int, moves: list[str]
) -> None:
    found = entered(build, n)
    for move in moves:
        if move in found.stop.legal:
            found.command(move)
    stop = found.stop
    inside = "".join(f"/{place.iteration}:{place.step}" for place in stop.inside)
    other = session(build, n)
    other.run_to(f"{stop.run}:{stop.step}{inside}")
    assert places(other.stop) == places(stop)
    assert other.stop.op == stop.op
    names = ("y", "while/times", "while/Merge_1", "out/Merge_1", "out/in/plus", "out/in/Merge_1")
    assert seen(other, *names) == seen(found, *names)
