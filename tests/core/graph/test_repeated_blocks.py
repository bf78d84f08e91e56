"""Blocks that a graph repeats, whatever their operations are called and when they were made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradstep.core.graph.model import Constant, Graph, Operation, TensorRef
from gradstep.core.graph.repeated_blocks import Repeated, blocks_around, repeated_blocks
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.bench.shapes import loops
from tests.support.random_graphs import Drawn, graphs


def block(build: GraphBuilder, h: Tensor, scope: str, gain: float = 0.5) -> Tensor:
    with build.scope(scope):
        w = build.variable("w", shape=(2, 2))
        return tf.tanh(tf.matmul(h, w)) * gain


def network(*scopes: str) -> GraphBuilder:
    build = GraphBuilder()
    h = build.placeholder("x", shape=(1, 2))
    for scope in scopes:
        h = block(build, h, scope)
    build.one("Identity", h, name="y")
    return build


def with_operation(graph: Graph, op: Operation) -> Graph:
    return Graph({**graph.operations, op.name: op})


def test_blocks_one_after_the_other() -> None:
    graph = network("b0", "b1", "b2").build()
    assert repeated_blocks(graph) == [Repeated(("b0", "b1", "b2"), 5)]
    assert blocks_around(graph, ["b1/Tanh"]) == ("b0", "b1", "b2")


def test_constants_and_seeds_may_differ_and_what_is_computed_may_not() -> None:
    build = network("b0")
    block(build, build.get("y"), "b1", gain=0.25)
    assert blocks_around(build.build(), ["b0/Tanh"]) == ("b0", "b1")
    graph = build.build()
    other = with_operation(graph, replace(graph["b1/Tanh"], type="Sigmoid"))
    assert blocks_around(other, ["b0/Tanh"]) == ()


def test_what_is_inside_is_told_by_its_wires() -> None:
    """As many operations of each type; but in one x - y, in the other y - x."""
    build = GraphBuilder()
    for scope, turned in (("a", False), ("b", True)):
        with build.scope(scope):
            x, y = build.placeholder("x", shape=()), build.placeholder("y", shape=())
            x, y = tf.exp(x), tf.sin(y)
            tf.subtract(y, x) if turned else tf.subtract(x, y)
    assert repeated_blocks(build.build()) == []


def test_operations_that_nothing_tells_apart_may_be_any_of_them() -> None:
    build = GraphBuilder()
    p = build.placeholder("p", shape=())
    for scope, name in (("a", "e"), ("b", "f")):
        with build.scope(scope):
            for number in range(3):
                tf.exp(p, name=f"{name}{number}")
    assert repeated_blocks(build.build()) == [Repeated(("a", "b"), 3)]


def test_one_tensor_from_outside_is_not_two() -> None:
    build = GraphBuilder()
    p, q = build.placeholder("p", shape=()), build.placeholder("q", shape=())
    for scope, other in (("a", p), ("b", q)):
        with build.scope(scope):
            tf.multiply(tf.exp(p), tf.sin(other)) + 1.0
    assert repeated_blocks(build.build()) == []


def test_blocks_in_blocks_are_said_once() -> None:
    build = GraphBuilder()
    h = build.placeholder("x", shape=(1, 2))
    for layer in range(3):
        with build.scope(f"layer{layer}"):
            h = tf.add_n([block(build, h, f"head{head}") for head in range(2)])
    groups = repeated_blocks(build.build())
    heads = tuple(f"layer{i}/head{j}" for i in range(3) for j in range(2))
    assert groups[0].scopes in (heads, ("layer0", "layer1", "layer2"))
    assert {group.scopes for group in groups} == {heads, ("layer0", "layer1", "layer2")}
    deeper = GraphBuilder()
    h = deeper.placeholder("x", shape=(1, 2))
    for layer in range(3):
        with deeper.scope(f"layer{layer}"):
            h = tf.exp(block(deeper, h, "only"))
    assert repeated_blocks(deeper.build()) == [Repeated(("layer0", "layer1", "layer2"), 6)]


def test_the_blocks_around_some_operations_hold_them_all_and_more() -> None:
    build = GraphBuilder()
    h = build.placeholder("x", shape=(1, 2))
    for layer in range(2):
        with build.scope(f"layer{layer}"):
            h = tf.add_n([block(build, h, f"head{head}") for head in range(2)])
    graph = build.build()
    heads = ("layer0/head0", "layer0/head1", "layer1/head0", "layer1/head1")
    layers = ("layer0", "layer1")
    inside = [name for name in graph.operations if "/head" in name]
    assert blocks_around(graph, ["layer1/head0/w"]) == heads
    assert blocks_around(graph, ["layer1/AddN"]) == layers
    assert blocks_around(graph, inside) == layers
    assert blocks_around(graph, [n for n in graph.operations if "/" in n]) == ()
    assert blocks_around(graph, ["x"]) == blocks_around(graph, []) == ()


def test_loops_are_alike_by_what_goes_round() -> None:
    graph = loops(60).graph
    (group,) = repeated_blocks(graph)
    assert len(group.scopes) == sum(op.type == "While" for op in graph)


@settings(deadline=None, suppress_health_check=[*HealthCheck])
@given(drawn=graphs(), data=st.data())
@pytest.mark.slow
def test_a_copy_is_alike_under_other_names_and_in_another_order(
    drawn: Drawn, data: st.DataObject
) -> None:
    ops = [op for op in drawn.graph if op.inputs]
    if len(ops) < 3:
        return
    inside = {op.name for op in ops}

    def placed(op: Operation, scope: str, names: dict[str, str]) -> Operation:
        inputs = tuple(
            r and (TensorRef(f"{scope}/{names[r.op]}", r.index) if r.op in inside else r)
            for r in op.inputs
        )
        waits = tuple(f"{scope}/{names[n]}" if n in inside else n for n in op.control_inputs)
        return replace(op, name=f"{scope}/{names[op.name]}", inputs=inputs, control_inputs=waits)

    same = {op.name: op.name.replace("/", "_") for op in ops}
    other = {op.name: f"n{i}" for i, op in enumerate(ops)}
    copies = [placed(op, "first", same) for op in ops]
    copies += data.draw(st.permutations([placed(op, "second", other) for op in ops]))
    rest = [op for op in drawn.graph if not op.inputs]
    graph = Graph.of([*rest, *copies])
    anyone = f"second/{other[ops[0].name]}"
    assert blocks_around(graph, [anyone]) == ("first", "second")
    changed = data.draw(st.sampled_from(ops))
    op = graph[f"second/{other[changed.name]}"]
    unlike = with_operation(graph, op.with_attrs(_mark=True))
    assert blocks_around(unlike, [anyone]) == ()


def test_constants_count_by_their_shape() -> None:
    def constants(shape: tuple[int, ...]) -> Graph:
        ops = []
        for scope, size in (("a", (2,)), ("b", shape)):
            value = Constant(np.zeros(size, np.float32))
            ops += [Operation(f"{scope}/c{i}", "Const", attrs={"value": value}) for i in range(3)]
        return Graph.of(ops)

    assert len(repeated_blocks(constants((2,)))) == 1
    assert repeated_blocks(constants((3,))) == []


@pytest.mark.parametrize("graph", [Graph(), network().build()])
def test_a_graph_without_scopes_has_none(graph: Graph) -> None:
    assert repeated_blocks(graph) == []
