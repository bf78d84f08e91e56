"""The pass by itself, without what is around it: the same operations, in the same order."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from gradstep.core.autodiff.reverse.backward_pass import BackwardPass
from gradstep.core.autodiff.reverse.backward_slice import BackwardSlice
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.seed_cotangents import seed_cotangents
from gradstep.core.autodiff.reverse.while_vjp import loop_gradients
from gradstep.core.graph.model import Edge, Graph, Phase, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import infer_declared
from tests.support.random_graphs import Drawn, graphs


def passed(graph: Graph, request: GradientRequest) -> BackwardPass:
    builder = GraphBuilder(graph)
    path = BackwardSlice(graph, infer_declared(graph).types, request.of, request.wrt)
    with (
        builder.belonging_to("", Phase.BACKWARD),
        builder.as_default(),
        builder.scope("gradients") as root,
    ):
        backward = BackwardPass(builder, path, request, {}, loop_gradients, root)
        seed_cotangents(backward)
        backward.run()
    return backward


def assert_same(graph: Graph, request: GradientRequest) -> None:
    backward, whole = passed(graph, request), differentiate(graph, request)
    made = backward.builder.build()
    assert repr([*made]) == repr([*whole.graph])  # in words: a loop's graph equals only itself
    outside = {ref: grad for ref, grad in whole.gradients.items() if ref.op in graph}
    assert {r: g for vjp in backward.vjps.values() for r, g in vjp.gradients.items()} == outside


@settings(deadline=None, suppress_health_check=[*HealthCheck])
@given(graphs())
@pytest.mark.slow
def test_it_is_all_of_reverse_mode_but_the_short_cuts(drawn: Drawn) -> None:
    assert_same(drawn.graph, replace(drawn.request, unconnected_zero=False))


def test_through_a_loop_too() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", ())
    y = tf.while_loop(lambda y: y < 9.0, lambda y: [tf.tanh(y) * x * x + y], [x])
    assert_same(build.build(), GradientRequest((y.ref,), (x.ref,)))


def test_a_cotangent_is_summed_then_stopped_then_sent() -> None:
    """At one tensor, and on one wire: what is stopped has its gradient, and sends none."""
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (2,))
    h = tf.tanh(x, name="h")
    y = tf.add(tf.multiply(h, h), h, name="y")
    wire, request = Edge("h", 0), GradientRequest((y.ref,), (x.ref,))
    for stops, wires, why in (
        ({h.ref}, set[Edge](), "stop_gradient at h"),
        (set[TensorRef](), {wire}, "stop_gradient on this wire"),
    ):
        asked = replace(request, stops=frozenset(stops), stopped_edges=frozenset(wires))
        at_h = passed(build.build(), asked).vjps["h"]
        assert at_h.gradients == {h.ref: TensorRef("gradients/h_grad/AddN")}
        assert at_h.blocked == {wire: ("stopped", why)}
        assert not any(at_h.sent)
