"""Numeric gradients hold still what is stopped inside loops: in every iteration, nested too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.autodiff.check.gradcheck import check_gradients
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.gradients.graph_evaluator import Evaluator
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import everywhere
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call

Body = Callable[[Tensor, Tensor, Tensor], Tensor]
STOPS = frozenset({TensorRef("while/mul")})
WIRES = frozenset({Edge("while/mul", 0)})


def stopped(i: Tensor, a: Tensor, x: Tensor) -> Tensor:
    return a * x + tf.stop_gradient(a * a * x)


def bare(i: Tensor, a: Tensor, x: Tensor) -> Tensor:
    return tf.multiply(a, a, name="mul") * x + a


def nested(i: Tensor, a: Tensor, x: Tensor) -> Tensor:
    def inner(j: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        return j + 1, tf.tanh(b + x * tf.stop_gradient(a * b * x, name="in_both"))

    return tf.while_loop(lambda j, b: j <= i, inner, (0, a))[1]


def in_a_branch(i: Tensor, a: Tensor, x: Tensor) -> Tensor:
    return tf.cond(tf.equal(i, 1), lambda: a * tf.stop_gradient(a * x), lambda: a + x)


def growing(i: Tensor, a: Tensor, x: Tensor) -> Tensor:
    return tf.reduce_sum(tf.stop_gradient(tf.fill(tf.expand_dims(i + 1, 0), a * x))) * x + a


CASES: list[tuple[Body, frozenset[TensorRef], frozenset[Edge]]] = [
    (stopped, frozenset(), frozenset()),
    (bare, STOPS, frozenset()),
    (bare, frozenset(), WIRES),
    (nested, frozenset(), frozenset()),
    (in_a_branch, frozenset(), frozenset()),
    (growing, frozenset(), frozenset()),
]


def looped(builder: GraphBuilder, body: Body, x: Tensor) -> None:
    _, y = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, body(i, a, x)), (0, x * 0.5))
    tf.identity(y, name="y")


def freed(graph: Graph) -> Graph:
    """Without stops."""

    def without(op: Operation) -> Operation:
        return replace(op, type="Identity") if op.type == "StopGradient" else op

    return everywhere(graph, lambda here: Graph.of(map(without, here)))


@pytest.mark.parametrize("variable", [False, True])
@pytest.mark.parametrize(("body", "stops", "wires"), CASES)
def test_stops_in_loops_are_held_still(
    body: Body, stops: frozenset[TensorRef], wires: frozenset[Edge], variable: bool
) -> None:
    """The gradient agrees with the differences, which without holding still it would not."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.variable("x", shape=[]) if variable else builder.placeholder("x", shape=[])
        looped(builder, body, x)
    graph, here = builder.build(), {TensorRef("x"): np.float32(0.75)}
    request = replace(GradientRequest.to("y", "x"), stops=stops, stopped_edges=wires)
    check = check_gradients(Evaluator({}), graph, request, here, {}, second_order=False)
    (numeric,) = check.numeric.values()
    np.testing.assert_allclose(check.in_force[TensorRef("x")], numeric.value, rtol=1e-5)
    free = check_gradients(Evaluator({}), freed(graph), GradientRequest.to("y", "x"), here, {})
    assert abs(free.numeric[TensorRef("x")].value - numeric.value) > 0.01


def test_a_copy_of_a_loop_has_tensor_arrays_of_its_own() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[3])
        tf.reduce_sum(tf.scan(lambda a, e: a * tf.stop_gradient(e * a) + e, x), name="y")
    here = {TensorRef("x"): np.array([0.5, -1.0, 2.0], np.float32)}
    graph, request = builder.build(), GradientRequest.to("y", "x")
    held, free = (
        check_gradients(Evaluator({}), g, request, here, {}) for g in (graph, freed(graph))
    )
    assert held.agrees(TensorRef("x")).all()
    slopes = [check.numeric[TensorRef("x")].value for check in (held, free)]
    assert np.abs(slopes[0] - slopes[1]).min() > 0.01


def test_a_nudge_that_adds_an_iteration_is_said() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=[])
        _, y = tf.while_loop(
            lambda i, _: tf.cast(i, "float32") < 4.0 / x,
            lambda i, a: (i + 1, a + tf.stop_gradient(a) * x),
            (0, x),
        )
        tf.identity(y, name="y")
    graph, here = builder.build(), {TensorRef("x"): np.float32(1)}
    with pytest.raises(GradstepError, match="in iteration 4, and there were 4") as caught:
        check_gradients(Evaluator({}), graph, GradientRequest.to("y", "x"), here, {})
    assert "more often" in caught.value.hint


def test_what_updates_a_variable_in_the_loop_cannot_be_held_still_and_says_so() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x, v = builder.placeholder("x", shape=[]), builder.variable("v", shape=[])
        looped(builder, lambda i, a, x: call("AssignAdd", v, tf.stop_gradient(a) * x) * a, x)
    here = {TensorRef("x"): np.float32(2), TensorRef("v"): np.float32(1)}
    with pytest.raises(GradstepError, match="cannot be held still"):
        check_gradients(Evaluator({}), builder.build(), GradientRequest.to("y", "x"), here, {})
