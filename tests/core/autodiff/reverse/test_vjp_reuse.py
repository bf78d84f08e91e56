"""Differentiating again, with what the last time left, is differentiating from scratch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gradstep.core.autodiff.reverse import backward_pass
from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override, OverrideKind
from gradstep.core.autodiff.reverse.gradient_rules import GradientFunction
from gradstep.core.errors import GradstepError
from gradstep.core.graph import edits
from gradstep.core.graph.carry_over import continue_graph
from gradstep.core.graph.dtypes import Shape
from gradstep.core.graph.model import Constant, Edge, Graph, Operation, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, call
from gradstep.core.ops.typing.inference import infer, infer_declared
from tests.support.random_graphs import Drawn, graphs

Functions = dict[str, GradientFunction]


def _doubled(op: Any, *grads: Any) -> list[Any]:
    return [call("AddV2", grads[0], grads[0]), *[None] * (len(op.inputs) - 1)]


def _elsewhere(op: Any, *grads: Any) -> list[Any]:
    """Makes an operation outside its scope, where another's may be."""
    builder = grads[0].builder
    builder.one("Identity", grads[0], name="gradients/x0_grad/Identity/")
    return [None] * len(op.inputs)


def assert_same(found: Differentiation, wanted: Differentiation) -> None:
    assert list(found.graph) == list(wanted.graph)
    assert found.graph.order == wanted.graph.order
    for name in ("gradients", "slices", "edges", "blocked", "custom"):
        assert list(getattr(found, name).items()) == list(getattr(wanted, name).items())


def attempted(*given: Any) -> Differentiation | str:
    try:
        return differentiate(*given)
    except GradstepError as error:
        return str(error)


@settings(deadline=None, suppress_health_check=[*HealthCheck])
@given(graphs(), st.data())
@pytest.mark.slow
def test_it_is_as_from_scratch(drawn: Drawn, data: st.DataObject) -> None:
    graph, request = drawn.graph, drawn.request
    functions: Functions = {}
    before = differentiate(graph, request)
    for _ in range(data.draw(st.integers(1, 6))):
        last = graph
        graph, request, functions = data.draw(_changed(graph, request, functions))
        if data.draw(st.booleans()):
            graph = continue_graph(graph, last)
        again = attempted(graph, request, functions, before)
        scratch = attempted(graph, request, functions)
        if isinstance(again, str) or isinstance(scratch, str):
            assert again == scratch
            continue
        assert_same(again, scratch)
        known, inferred = infer_declared(again.graph), infer(again.graph)
        assert known.types.of == inferred.types.of
        assert known.constants.keys() == inferred.constants.keys()
        before = again


@st.composite
def _changed(
    draw: Callable[..., Any], graph: Graph, request: GradientRequest, functions: Functions
) -> tuple[Graph, GradientRequest, Functions]:
    """Something small is asked otherwise, or drawn otherwise."""
    refs = [ref for ref in infer(graph).types if not ref.op.startswith("of/")]
    ref = draw(st.sampled_from(refs))
    consumed = [Edge(op.name, i) for op in graph for i in range(len(op.inputs))]
    edge = draw(st.sampled_from(consumed))
    name = draw(st.sampled_from(list(graph.operations)))
    kind = draw(st.sampled_from(list(OverrideKind)))
    target = {"type": graph[name].type, "op": name, "scope": "of"}[kind.value]
    gradient = draw(st.sampled_from(["Identity", "Neg", "Mine", "Stray"]))
    override = Override(gradient, target, kind)
    other = request.overrides[:-1] if request.overrides else (override,)
    mine = draw(st.sampled_from([{}, {"Mine": _doubled}, {"Stray": _elsewhere, "Mine": _doubled}]))
    return draw(
        st.sampled_from(
            [
                (graph, replace(request, stops=request.stops ^ {ref}), functions),
                (graph, replace(request, stopped_edges=request.stopped_edges ^ {edge}), functions),
                (graph, replace(request, overrides=(*request.overrides, override)), functions),
                (graph, replace(request, overrides=other), functions),
                (graph, replace(request, overrides=request.overrides[::-1]), functions),
                (graph, replace(request, wrt=_toggled(request.wrt, ref)), functions),
                (graph, replace(request, of=_toggled(request.of, ref)), functions),
                (graph, replace(request, gate=not request.gate), functions),
                (
                    graph,
                    replace(request, unconnected_zero=not request.unconnected_zero),
                    functions,
                ),
                (graph, request, mine),
                (_edited(graph, edge, name), request, functions),
                (Graph(dict(graph.operations)), request, functions),
            ]
        )
    )


def _toggled(refs: tuple[TensorRef, ...], ref: TensorRef) -> tuple[TensorRef, ...]:
    kept = tuple(r for r in refs if r != ref)
    return kept if kept and len(kept) < len(refs) else (*kept, ref)


def _edited(graph: Graph, edge: Edge, name: str) -> Graph:
    """An operation more in a wire, or another constant."""
    value = graph[name].attrs.get("value")
    if isinstance(value, Constant) and value.array.dtype.kind == "f":
        return edits.set_attr(graph, name, "value", Constant(value.array * 2))
    graph, between = edits.add(graph, "Identity", inputs=[graph.source(edge)])
    return edits.connect(graph, TensorRef(between), edge)


def _rows() -> tuple[Graph, GradientRequest]:
    """Rows of a table that is taken from twice, a split that is used in part, an unused input."""
    build = GraphBuilder()
    table = build.variable("table", "float32", (5, 2))
    ids = build.placeholder("ids", "int32", (3,))
    far = build.placeholder("far", "float32", (2,))
    rows = tf.gather(table, ids) + tf.gather(table, ids + 1)
    left, _ = tf.split(tf.tanh(rows) * rows, 2, axis=1)
    loss = tf.reduce_sum(left * left, name="loss")
    request = GradientRequest((loss.ref,), (table.ref, far.ref), unconnected_zero=True)
    return build.build(), request


@pytest.mark.parametrize(
    "change",
    [
        {"stops": frozenset({TensorRef("Tanh")})},
        {"stops": frozenset({TensorRef("GatherV2_1")})},
        {"stopped_edges": frozenset({Edge("Mul", 1)})},
        {"overrides": (Override("Identity", "Tanh", OverrideKind.OP),)},
        {"wrt": (TensorRef("GatherV2"),)},
        {"gate": True},
        {"unconnected_zero": False},
    ],
)
def test_rows_and_parts(change: Mapping[str, Any]) -> None:
    graph, request = _rows()
    first, other = differentiate(graph, request), replace(request, **change)
    there = differentiate(graph, other, None, first)
    assert_same(there, differentiate(graph, other))
    assert_same(differentiate(graph, request, None, there), first)


def _check(graph: Graph, *requests: GradientRequest, functions: Functions | None = None) -> None:
    """One after the other, and back."""
    before = differentiate(graph, requests[0], functions)
    for request in (*requests[1:], *requests[::-1]):
        again = differentiate(graph, request, functions, before)
        assert_same(again, differentiate(graph, request, functions))
        before = again


@pytest.mark.parametrize(
    ("name", "attribute", "value"),
    [
        ("narrow", "shape", Shape.of(2, 2)),  # it is not broadcast any more
        ("axis", "value", Constant(np.array([1], np.int32))),
        ("product", "transpose_a", True),
    ],
)
def test_an_operation_that_is_drawn_otherwise(name: str, attribute: str, value: Any) -> None:
    """A rule sees attributes, and types and values that follow from others' attributes."""
    build = GraphBuilder()
    wide = build.placeholder("wide", "float32", (2, 2))
    narrow = build.placeholder("narrow", "float32", (1, 2))
    product = build.one("MatMul", wide * narrow, wide, name="product")
    axis = build.constant(np.array([0], np.int32), name="axis")
    build.one("Sum", product, axis, name="total")
    first, request = build.build(), GradientRequest.to("total", "wide", "narrow")
    second = edits.set_attr(first, name, attribute, value)
    before = differentiate(first, request)
    for graph in (second, first):
        again = differentiate(graph, request, None, before)
        assert_same(again, differentiate(graph, request))
        before = again


def test_what_arrives_is_of_another_shape_under_the_same_name() -> None:
    """Known or not before running: the sum over what was broadcast is another."""
    build = GraphBuilder()
    x, y = build.placeholder("x", "float32", (3, 2)), build.placeholder("y", "float32", (2,))
    grads = [build.placeholder(f"g{n}", "float32", s) for n, s in enumerate([(3, 2), (None, 2)])]
    z = tf.negative(tf.negative(x * y))
    known, unknown = (GradientRequest((z.ref,), (y.ref,), grad_ys=(grad.ref,)) for grad in grads)
    _check(build.build(), known, unknown)


def test_a_part_that_is_asked_for_or_begins_to_be_reached() -> None:
    """The part of a split whose gradient is zeros has one where the other part has."""
    build = GraphBuilder()
    whole = build.placeholder("whole", "int32", (4,))
    real = build.placeholder("real", "float32", (4,))
    left, right = tf.split(tf.cast(whole, "float32") + real, 2)
    y = tf.reduce_sum(left * left)
    counted, both = GradientRequest((y.ref,), (whole.ref,)), (whole.ref, right.ref)
    asked, reached = replace(counted, wrt=both), replace(counted, wrt=(*both, real.ref))
    _check(build.build(), counted, asked, reached, replace(counted, wrt=(real.ref,)))


def test_overrides_in_another_order() -> None:
    """Of two for the same place the last one rules."""
    first, last = (Override(name, "tanh2", OverrideKind.OP) for name in ("Identity", "Neg"))
    request = GradientRequest.to("loss", "x")
    either = (replace(request, overrides=pair) for pair in ((first, last), (last, first)))
    _check(_chain(4), request, *either)


def test_what_is_renamed_may_lie_beside_the_way() -> None:
    """No gradient passes through it."""
    build = GraphBuilder(_chain(12))
    tf.tanh(build.get(TensorRef("x")), name="aside")
    graph, request = build.build(), GradientRequest.to("loss", "x")
    first = differentiate(graph, request)
    edited = Graph.of(replace(op, name="beside") if op.name == "aside" else op for op in graph)
    again = differentiate(continue_graph(edited, graph), request, None, first)
    assert [*again.graph] == [*differentiate(edited, request).graph]


def test_where_it_starts_may_be_one_place_less() -> None:
    both = GradientRequest((TensorRef("loss"), TensorRef("tanh2")), (TensorRef("x"),))
    one = replace(both, of=both.of[:1])
    _check(_chain(4), both, one, both, one)


@pytest.mark.parametrize("name", ["gradients/x_grad/AddN/", "gradients/tanh0_grad/Own/"])
def test_a_function_that_makes_operations_elsewhere(name: str) -> None:
    """It takes a name that an operation of another turn would have had."""

    def stray(op: Any, grad: Any) -> Any:
        return grad.builder.one("Identity", grad, name=name)

    request = GradientRequest.to("loss", "x")
    override = Override("Stray", "tanh4", OverrideKind.OP)
    stop = replace(request, stops=frozenset({TensorRef("tanh2")}))
    strays = replace(request, overrides=(override,))
    _check(_chain(6), request, strays, stop, functions={"Stray": stray})


def _chain(links: int) -> Graph:
    build = GraphBuilder()
    h = build.placeholder("x", "float32", (2,))
    for number in range(links):
        h = h + tf.tanh(h, name=f"tanh{number}")
    tf.reduce_sum(h, name="loss")
    return build.build()


def test_what_did_not_change_is_the_very_same() -> None:
    graph, request = _chain(20), GradientRequest.to("loss", "x")
    first = differentiate(graph, request)
    stop = replace(request, stops=frozenset({TensorRef("tanh10")}))
    second = differentiate(graph, stop, None, first)
    same = [second.graph.operations.get(op.name) is op for op in first.graph]
    assert same.count(False) == 4  # the rule of tanh10, the sum where it ended, what takes that
    assert differentiate(graph, stop, None, second).graph is second.graph


def test_no_rule_is_called_again_without_need(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[str] = []
    graph, request = _chain(20), GradientRequest.to("loss", "x")
    first = differentiate(graph, request)

    call_rule = backward_pass.call_rule

    def noted(builder: GraphBuilder, op: Operation, *given: Any) -> Any:
        called.append(op.name)
        return call_rule(builder, op, *given)

    monkeypatch.setattr(backward_pass, "call_rule", noted)
    override = Override("Identity", "tanh10", OverrideKind.OP)
    differentiate(graph, replace(request, overrides=(override,)), None, first)
    assert called[0] == "tanh10"  # where it is another, and not where it starts
    assert len(called) < 5


def test_a_function_of_the_user_is_called_every_time() -> None:
    """It may depend on anything."""
    graph, counted = _chain(3), [0]

    def counting(op: Any, grad: Any) -> Any:
        counted[0] += 1
        return grad * float(counted[0])

    override = Override("Counting", "tanh1", OverrideKind.OP)
    request = replace(GradientRequest.to("loss", "x"), overrides=(override,))
    first = differentiate(graph, request, {"Counting": counting})
    second = differentiate(graph, request, {"Counting": counting}, first)
    name = "gradients/tanh1_grad/Const"
    values = [d.graph[name].attrs["value"].array for d in (first, second)]
    assert values == [np.float32(1), np.float32(2)]


def test_names_follow_no_count_of_others() -> None:
    """A sum that goes leaves the names of the others alone."""
    graph, request = _chain(3), GradientRequest.to("loss", "x")
    names = {op.name for op in differentiate(graph, request).graph if op.type == "AddN"}
    assert "gradients/x_grad/AddN" in names
    stop = replace(request, stops=frozenset({TensorRef("tanh2")}))
    fewer = {op.name for op in differentiate(graph, stop).graph if op.type == "AddN"}
    assert fewer < names
    assert len(fewer) == 2
