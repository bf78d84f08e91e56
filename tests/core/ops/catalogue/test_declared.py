"""A graph is typed once: by its builder, or by the first who asks."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.graph.topological_order import is_ordered
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from gradstep.core.ops.typing.inference import Inferrer, infer, infer_declared


def network() -> GraphBuilder:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (2, 3))
    with build.scope("layer"):
        y = tf.reshape(tf.tanh(x), [3, 2]) * 2.0
    tf.reduce_sum(y, name="loss")
    return build


def test_what_was_built_is_not_typed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    build = network()
    graph, wanted = build.build(), infer(build.build())
    monkeypatch.delattr(Inferrer, "infer")
    found = infer_declared(graph)
    assert found.types.of == wanted.types.of
    assert found.constants.keys() == wanted.constants.keys()
    assert GraphBuilder(graph).get("loss").dtype == "float32"


def test_what_is_added_later_is_no_part_of_it() -> None:
    build = network()
    graph = build.build()
    build.one("Tanh", build.get("loss"))
    assert TensorRef("Tanh") not in infer_declared(graph).types
    assert infer_declared(build.build()).types[TensorRef("Tanh")].dtype == "float32"


def test_others_are_typed_once() -> None:
    graph = Graph(dict(network().build().operations))
    assert infer_declared(graph) is infer_declared(graph)
    assert infer_declared(graph).types.of == infer(graph).types.of


def test_a_graph_that_is_gone_leaves_nothing() -> None:
    graph = network().build()
    assert not infer_declared(graph).problems
    there = weakref.ref(graph)
    del graph
    gc.collect()
    assert there() is None


def test_one_with_problems_says_so_each_time() -> None:
    graph = Graph.of([Operation("a", "Tanh", (TensorRef("gone"),))])
    assert [problem.code for problem in infer_declared(graph).problems] == ["dangling"]
    with pytest.raises(GradstepError, match="gone"):
        GraphBuilder(graph)


def test_two_names_that_differ_in_capitals_are_refused() -> None:
    loud = Operation("LOSS", "NoOp")
    with pytest.raises(GradstepError, match="is taken"):
        GraphBuilder(Graph.of([*network().build(), loud]))


def test_a_cycle_is_refused() -> None:
    a, b = (Operation(n, "Tanh", (TensorRef(m),)) for n, m in ("ab", "ba"))
    with pytest.raises(GradstepError, match="cycle"):
        GraphBuilder(Graph.of([a, b]))


def test_who_waits_for_what_comes_later_is_put_in_order() -> None:
    build = GraphBuilder()
    build.add(Operation("first", "NoOp", control_inputs=("second",)))
    build.add(Operation("second", "NoOp"))
    assert build.build().order == ("second", "first")


def test_who_waits_for_itself_is_a_cycle() -> None:
    build = GraphBuilder()
    build.add(Operation("first", "NoOp", control_inputs=("first",)))
    with pytest.raises(GradstepError, match="cycle"):
        build.build().order  # noqa: B018 - it raises


def test_who_waits_for_nothing_that_exists_is_a_problem() -> None:
    build = GraphBuilder()
    build.add(Operation("first", "NoOp", control_inputs=("gone",)))
    [problem] = infer_declared(build.build()).problems
    assert "gone" in problem.text


@given(st.permutations(list(network().build())))
def test_an_order_of_creation_that_works_is_the_order(operations: list[Operation]) -> None:
    graph = Graph.of(operations)
    assert (graph.order == tuple(graph.operations)) == is_ordered(graph.operations)
    assert is_ordered({name: graph[name] for name in graph.order})


_WORDS = st.sampled_from(["a", "A", "a_1", "b", "a/b", "A/b_1", "a/b/c", "b/a"])


@given(st.lists(_WORDS, max_size=8), st.lists(_WORDS, max_size=8))
def test_a_builder_that_goes_on_gives_the_names_of_one_that_began(
    before: list[str], after: list[str]
) -> None:
    began = GraphBuilder()
    for name in before:
        began.op("NoOp", name=name)
    graph = began.build()
    goes_on, anew = GraphBuilder(graph), GraphBuilder()
    for op in graph:
        anew.add(op)
    for name in after:
        for build in (began, goes_on, anew):
            build.op("NoOp", name=name)
    assert list(began.build()) == list(goes_on.build()) == list(anew.build())


def test_types_follow_known_values_and_not_only_types() -> None:
    """Reshape asks for a constant; what it answered for one does not hold for another."""
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (6,))
    shapes = [(2, 3), (3, 2), (6, 1)]
    made = [tf.reshape(x, np.array(shape, np.int32)) for shape in shapes]
    assert [y.shape.static() for y in made] == shapes


def test_an_attribute_of_another_kind_is_refused_though_it_is_equal() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (2, 2))
    assert build.one("MatMul", x, x, transpose_a=True).shape.static() == (2, 2)
    with pytest.raises(GradstepError, match="true or false"):
        build.one("MatMul", x, x, transpose_a=1)


def test_a_tensor_that_is_fed_is_what_is_fed() -> None:
    build = network()
    graph, inferrer = build.build(), Inferrer(infer_declared(build.build()))
    const = next(op for op in graph if op.type == "Const")
    assert inferrer.constant(const.output()) is not None
    kind = infer_declared(graph).types[TensorRef("x")]
    inferrer.feed(const.output(), kind)
    assert inferrer.constant(const.output()) is None
    assert inferrer.types[const.output()] == kind
    assert infer_declared(graph).types[const.output()] != kind
