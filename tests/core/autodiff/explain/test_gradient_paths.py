"""Ways through a graph, the shortest ones, by hand."""

from __future__ import annotations

import numpy as np

from gradstep.core.autodiff.explain.gradient_paths import (
    find_flow_path,
    find_forward_path,
    find_reached,
)
from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.graph.model import Edge, Graph, Operation, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.networks import evaluate

ATTRS = {"dtype": DType.FLOAT32, "shape": Shape.of(2)}
Y, X = TensorRef("y"), TensorRef("x")


def drawn(**wires: tuple[str | None, ...]) -> Graph:
    """Placeholders, and sums of what is wired to them."""
    ops = []
    for name, sources in wires.items():
        refs = tuple(None if s is None else TensorRef(s) for s in sources)
        kind = {0: "Placeholder", 1: "Identity", 2: "AddV2", 3: "AddN"}[len(refs)]
        ops.append(Operation(name, kind, refs, attrs={} if refs else ATTRS))
    return Graph.of(ops)


def long_and_short() -> Graph:
    """From x to y by a, b and c, and by d; e reads x and leads elsewhere."""
    return drawn(x=(), a=("x",), b=("a",), c=("b",), d=("x",), e=("x",), y=("c", "d"))


def derived(graph: Graph) -> Differentiation:
    return differentiate(graph, GradientRequest((Y,), (X,)))


def test_the_shortest_way_there_and_back() -> None:
    graph = long_and_short()
    assert find_forward_path(graph, "x", "y") == ("y", "d", "x")
    assert find_forward_path(graph, "a", "y") == ("y", "c", "b", "a")
    assert find_forward_path(graph, "x", "x") == ("x",)
    assert find_forward_path(graph, "e", "y") == ()
    assert find_flow_path(graph, derived(graph), Y, X) == ("y", "d", "x")
    assert find_flow_path(graph, derived(graph), Y, TensorRef("e")) == ("y",)


def test_a_way_on_which_all_gradients_have_values_comes_first() -> None:
    """Those of the others are in branches that were not taken."""
    graph = long_and_short()
    found = derived(graph)
    dead = found.edges[Edge("y", 1)]

    def value(ref: TensorRef) -> np.ndarray | None:
        return None if ref == dead else np.ones(2)

    assert find_flow_path(graph, found, Y, X, value) == ("y", "c", "b", "a", "x")


def test_what_a_value_reaches() -> None:
    graph = long_and_short()
    assert graph.takers("a") == {"a", "b", "c", "y"}
    assert graph.takers("x") == set(graph.operations)
    ends = (TensorRef("d"), TensorRef("e"), Y)
    assert find_reached(graph, TensorRef("c"), ends) == Y
    assert find_reached(graph, X, ends) == TensorRef("d")
    assert find_reached(graph, TensorRef("e"), ends[::2]) == ends[0]
    assert find_reached(graph, TensorRef("nowhere"), ends) == ends[0]


def test_a_complex_tensor_starts_with_what_is_given() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", shape=(2,))
    y = build.one("Cast", x, DstT=DType.COMPLEX64, name="y")
    given = build.constant(np.array([1 + 2j, 3j], np.complex64), name="given")
    request = GradientRequest((y.ref,), (x.ref,), grad_ys=(given.ref,))
    found = differentiate(build.build(), request)
    [value] = evaluate(found.graph, [found.gradients[x.ref]], {x.ref: np.ones(2, np.float32)})
    np.testing.assert_array_equal(value, [1, 0])
