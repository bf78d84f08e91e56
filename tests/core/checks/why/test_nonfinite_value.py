"""What made a NaN or an infinity: of which element, by which operand, and out of what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.checks.why.questioned_run import Recollection
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.core.checks.test_among_others import looped
from tests.core.checks.test_planted_causes import of_both
from tests.support.each_case import each_of
from tests.support.whys import given, graph_of, why_value

INF, NAN = np.inf, np.nan


def recollected(build: Callable[[GraphBuilder], object], of: str, **values: Any) -> Recollection:
    graph = graph_of(build)
    session = DebugSession(Program(graph, graph, fetches=(TensorRef(of),), feeds=given(values)))
    session.continue_()
    return Recollection(session, 0)


def logs(b: GraphBuilder) -> None:
    tf.multiply(tf.log(b.placeholder("x", shape=[4]), name="log"), 2.0, name="twice")


@pytest.mark.parametrize(
    ("at", "found"),
    [
        (None, ("NaN", "log_of_negative", (2,))),
        ((0,), None),
        ((1,), ("infinity", "log_of_zero", (1,))),
        ((2,), ("NaN", "log_of_negative", (2,))),
        ((3,), ("NaN", "log_of_negative", (3,))),
    ],
)
def test_one_element_may_be_asked_about(at: Any, found: Any) -> None:
    origins = recollected(logs, "twice", x=[1, 0, -1, -2]).origins(TensorRef("twice"), at)
    told = [(origin.kind, origin.cause, origin.index) for origin in origins]
    assert told == ([] if found is None else [found])
    assert {origin.tensor.short for origin in origins} <= {"log"}


def test_of_what_holds_no_numbers_there_is_nothing_to_tell() -> None:
    there = recollected(lambda b: tf.greater(b.placeholder("x", shape=[2]), 0.0, name="y"), "y",
                        x=[NAN, 1])  # fmt: skip
    assert there.origins(TensorRef("y")) == []


def test_what_overflows_next_to_an_infinity_overflows() -> None:
    there = recollected(
        lambda b: tf.square(b.placeholder("x", shape=[2]), name="y"), "y", x=[INF, 1e30]
    )
    (origin,) = there.origins(TensorRef("y"), (1,))
    assert (origin.cause, origin.operand) == ("overflow", 0)
    (origin,) = there.origins(TensorRef("y"), (0,))
    assert (origin.cause, origin.op) == ("fed", None)


@each_of(
    ("function", "x", "y", "cause", "operand", "text"),
    [
        (tf.pow, 0, -1, "zero_to_negative_power", "x", "x = 0, y = -1"),
        (tf.multiply, 1e30, 1e20, "overflow", "x", "x = 1e+30, y = 1e+20"),
        (tf.multiply, 1e20, 1e30, "overflow", "y", "x = 1e+20, y = 1e+30"),
        (tf.add, 3e38, -1, "", "", ""),
        (tf.add, 3e38, 3.1e38, "overflow", "y", "x = 3e+38, y = 3.1e+38"),
        (tf.divide, 0, 0, "zero_over_zero", "y", "x = 0, y = 0"),
        (tf.divide, 1, 0, "division_by_zero", "y", "x = 1, y = 0"),
        (tf.divide, 1e30, 1e-30, "overflow", "x", "x = 1e+30, y = 1e-30"),
        (tf.multiply, 0, INF, "zero_times_infinity", "y", "x = 0, y = inf"),
        (tf.subtract, INF, INF, "infinity_minus_infinity", "x", "x = inf, y = inf"),
    ],
)
def test_the_operand_to_blame(
    function: Any, x: float, y: float, cause: str, operand: str, text: str
) -> None:
    """Of several the one that is 0, or else the largest; of those alike the first."""
    found = why_value(graph_of(of_both(function)), "node", {"x": [1, x, 1], "y": [1, y, 1]})
    assert found.cause == cause
    assert text in found.text
    if cause:
        assert (found.index, found.chain[0].operand) == ([1], operand)


@pytest.mark.parametrize(
    ("build", "x", "cause", "operand"),
    [
        (lambda b: tf.reduce_prod(b.placeholder("x", shape=[2]), name="y"), [1e30, 1e30],
         "overflow", "x"),
        (lambda b: tf.reduce_sum(b.placeholder("x", shape=[2]), name="y"), [3e38, 3e38],
         "overflow", "x"),
        # it is not the axis, along another one of which it would be finite
        (lambda b: tf.reduce_sum(b.placeholder("x", shape=[2, 2]), 0, name="y"),
         [[3e38, 1], [3e38, 1]], "overflow", "x"),
        (lambda b: tf.reduce_mean(b.placeholder("x", shape=[0]), name="y"), np.zeros(0, np.float32),
         "empty", ""),
    ],
)  # fmt: skip
def test_of_operations_that_take_many_elements(
    build: Any, x: Any, cause: str, operand: str
) -> None:
    found = why_value(graph_of(build), "y", {"x": x})
    assert (found.cause, found.chain[0].operand) == (cause, operand)


def test_the_infinity_that_a_nan_is_made_of_comes_first() -> None:
    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[2])
        large = tf.exp(x, name="large")
        tf.multiply(large, tf.subtract(x, x, name="nothing"), name="y")

    found = why_value(graph_of(build), "y", {"x": [1, 200]})
    assert [(link.node, link.cause) for link in found.chain] == [
        ("large", "overflow"), ("y", "zero_times_infinity")
    ]  # fmt: skip
    fed = why_value(graph_of(of_both(tf.multiply)), "node", {"x": [0, 1, 1], "y": [INF, 1, 1]})
    assert [link.node for link in fed.chain] == ["node"]  # nobody computed it


@pytest.mark.parametrize("times", [0, 1, 2])
def test_however_often_a_loop_runs(times: int) -> None:
    """What its last iteration made is looked at; of none, what it was given."""

    def root(i: Tensor, a: Tensor, c: Tensor) -> Tensor:
        return tf.sqrt(c, name="root") + a * 0.0

    found = why_value(
        graph_of(looped(root, times)), "loss", {"x": NAN if not times else 1, "c": -1}
    )
    assert (found.state, found.node) == ("nan", "while/root" if times else "x")
    link = found.chain[-1]
    assert link.iterations == ([(0, "while/While")] if times else [])


def test_all_that_read_a_value_are_heard() -> None:
    """One asks for its first element, the other for its last: the first of both is named."""
    there = recollected(
        lambda b: tf.reduce_sum(
            tf.gather(tf.log(b.placeholder("x", shape=[3]), name="log"), np.int32([2, 0])),
            name="y",
        ),
        "y", x=[-1, -2, -3],
    )  # fmt: skip
    (origin,) = there.origins(TensorRef("y"))
    assert (origin.tensor.op, origin.index) == ("log", (0,))


def test_what_makes_as_many_elements_as_its_numbers_say() -> None:
    """On other numbers Unique makes fewer: nothing is known of its elements then."""

    def build(b: GraphBuilder) -> None:
        found, _ = b.op("Unique", tf.log(b.placeholder("x", shape=[4]), name="log"))
        tf.reduce_sum(found, name="y")

    found = why_value(graph_of(build), "y", {"x": [1, -1, -2, 2]})
    assert (found.node, found.index, found.cause) == ("log", [1], "log_of_negative")
