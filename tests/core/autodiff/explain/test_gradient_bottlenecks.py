"""What all of a gradient passes, and the fewest wires that a stop at ends it: by trying."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from itertools import combinations

import networkx
import pytest
from hypothesis import HealthCheck, given, settings

from gradstep.core.autodiff.explain.gradient_bottlenecks import Bottlenecks, bottlenecks
from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.model import Edge, Graph, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.bench.shapes import lookups
from tests.support.random_graphs import Drawn, graphs
from tests.support.work import lines_run

TRIED = 400  # sets of wires, at most


def found(graph: Graph, of: str, wrt: str) -> tuple[list[str], list[str]]:
    request = GradientRequest.to(of, wrt)
    result = bottlenecks(graph, differentiate(graph, request), request.of[0], request.wrt[0])
    return [*result.passes], [str(edge) for edge in result.cut]


@pytest.fixture
def network() -> Graph:
    """d = x + c, e = c + k, a = d * e, loss = a * a."""
    build = GraphBuilder()
    x, c, k = (build.placeholder(name, shape=()) for name in "xck")
    d, e = tf.add(x, c, name="d"), tf.add(c, k, name="e")
    a = tf.multiply(d, e, name="a")
    tf.multiply(a, a, name="loss")
    return build.build()


def test_of_a_tensor_with_one_way_back(network: Graph) -> None:
    assert found(network, "loss", "k") == (["a", "e"], ["e<1"])


def test_of_a_tensor_with_two(network: Graph) -> None:
    """Two wires as well at a: but those at c disturb neither x nor k."""
    passes, cut = found(network, "loss", "c")
    assert passes == ["a"]
    assert cut == ["d<1", "e<0"]


def test_two_wires_of_one_operation_are_two(network: Graph) -> None:
    assert found(network, "loss", "a") == ([], ["loss<0", "loss<1"])


def test_a_gradient_by_another_output_is_another_gradient() -> None:
    build = GraphBuilder()
    first, second = tf.split(build.placeholder("x", shape=(2,)), 2, name="halves")
    tf.add(tf.exp(first, name="e"), tf.sin(second, name="s"), name="loss")
    assert found(build.build(), "loss", "halves:1") == (["s"], ["s<0"])
    assert found(build.build(), "loss", "x") == (["halves"], ["halves<1"])


def test_where_nothing_flows_there_is_nothing(network: Graph) -> None:
    assert found(network, "d", "k") == ([], [])
    assert found(network, "a", "a") == ([], [])


# -- any graph -----------------------------------------------------------------------------------


def arrives(graph: Graph, request: GradientRequest, stopped: Collection[Edge]) -> bool:
    """Whether there is a gradient with these wires stopped."""
    request = replace(request, stopped_edges=frozenset(stopped))
    return request.wrt[0] in differentiate(graph, request).gradients


@settings(deadline=None, suppress_health_check=[*HealthCheck])
@given(graphs())
@pytest.mark.slow
def test_no_gradient_arrives_without_them_and_with_less_one_does(drawn: Drawn) -> None:
    graph, of = drawn.graph, drawn.of[0]
    for wrt in list(drawn.point)[:3]:
        request = GradientRequest((of,), (wrt,))
        derived = differentiate(graph, request)
        result = bottlenecks(graph, derived, of, wrt)
        if of.op == wrt.op or wrt not in derived.gradients:
            assert result == Bottlenecks()
            continue
        assert not arrives(graph, request, result.cut)
        fewer = [*combinations(derived.edges, len(result.cut) - 1)]
        assert all(arrives(graph, request, stopped) for stopped in fewer[:TRIED])
        for name in {edge.op for edge in derived.edges} - {of.op, wrt.op}:
            wires = [edge for edge in derived.edges if edge.op == name]
            assert arrives(graph, request, wires) == (name not in result.passes)


@pytest.mark.slow
def test_those_of_a_deep_graph_with_many_ways_take_no_square() -> None:
    """Each of many lookups of one table is added to the sum of those before."""

    def work(ops: int) -> int:
        graph = lookups(ops).graph
        request = GradientRequest.to("loss", "table")
        derived = differentiate(graph, request)
        of, wrt = TensorRef("loss"), TensorRef("table")
        found = lines_run(lambda: bottlenecks(graph, derived, of, wrt), networkx)
        return sum(found.values())

    work(20)
    assert work(400) < 3 * work(200)
