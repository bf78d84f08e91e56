"""Differentiation: TensorFlow's results for sums of paths, None, stops, overrides and errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import (
    NATIVE_OP_TYPE,
    GradientRequest,
    Override,
    OverrideKind,
    gradient_name,
)
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import GRADIENT_OP_TYPE, Edge, Graph, Operation, Phase, TensorRef
from gradstep.core.ops.build.builder import GraphBuilder, OpView, Tensor
from tests.support.networks import Arrays, evaluate, network


def gradient(graph: Graph, request: GradientRequest, point: Arrays) -> list[np.ndarray | None]:
    derived = differentiate(graph, request)
    refs = [derived.gradients.get(x) for x in request.wrt]
    values = iter(evaluate(derived.graph, [r for r in refs if r], point))
    return [next(values) if r else None for r in refs]


def test_the_chain_rule_and_broadcasting(point: Arrays) -> None:
    dw, db = gradient(network(), GradientRequest.to("loss", "w", "b"), point)
    x, w = point[TensorRef("x")], point[TensorRef("w")]
    np.testing.assert_allclose(dw, x * (1 - np.tanh(x * w) ** 2), rtol=1e-6)
    np.testing.assert_array_equal(db, np.float32([3]))


def test_every_operation_made_belongs_to_a_forward_operation(point: Arrays) -> None:
    graph = network()
    derived = differentiate(graph, GradientRequest.to("loss", "w"))
    made = [op for op in derived.graph if op.name not in graph]
    assert made
    assert all(op.origin in graph and op.phase is Phase.BACKWARD for op in made)
    assert all(op.name.startswith("gradients/") for op in made)


def test_the_forward_graph_is_left_as_it_was() -> None:
    graph = network()
    derived = differentiate(graph, GradientRequest.to("loss", "w"))
    assert all(derived.graph[op.name] is op for op in graph)


def test_a_second_call_opens_a_second_scope() -> None:
    once = differentiate(network(), GradientRequest.to("loss", "w"))
    twice = differentiate(once.graph, GradientRequest.to("loss", "b"))
    assert any(op.name.startswith("gradients_1/") for op in twice.graph)


def test_paths_add_up() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", shape=[])
    build.one("AddV2", build.one("Mul", x, x), build.one("Neg", x), name="y")
    point = {TensorRef("x"): np.float32(3)}
    assert gradient(build.build(), GradientRequest.to("y", "x"), point) == [5.0]


def test_no_path_is_none_and_not_zero(point: Arrays) -> None:
    build = GraphBuilder(network())
    build.placeholder("other", shape=[2])
    assert gradient(build.build(), GradientRequest.to("loss", "other"), point) == [None]


def test_unconnected_gradients_can_be_zeros(point: Arrays) -> None:
    build = GraphBuilder(network())
    build.placeholder("other", shape=[2])
    request = replace(GradientRequest.to("loss", "other"), unconnected_zero=True)
    derived = differentiate(build.build(), request)
    other = {**point, TensorRef("other"): np.ones(2, np.float32)}
    [value] = evaluate(derived.graph, [derived.gradients[TensorRef("other")]], other)
    np.testing.assert_array_equal(value, np.zeros(2, np.float32))


def test_an_op_without_gradient_blocks_and_says_so(point: Arrays) -> None:
    graph = network("Floor")
    derived = differentiate(graph, GradientRequest.to("loss", "w"))
    assert TensorRef("w") not in derived.gradients
    assert derived.blocked == {Edge("f", 0): ("not_differentiable", "Floor has no gradient")}


def test_stopping_a_wire_stops_that_path_only() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", shape=[])
    build.one("Mul", x, x, name="y")
    request = replace(GradientRequest.to("y", "x"), stopped_edges=frozenset({Edge("y", 1)}))
    assert gradient(build.build(), request, {TensorRef("x"): np.float32(3)}) == [3.0]
    assert differentiate(build.build(), request).blocked[Edge("y", 1)].cause == "stopped"


def test_stop_gradients_as_tensorflow_does() -> None:
    """a + 2a with a stopped: [1, 1] instead of [3, 1]; listing x itself blocks nothing."""
    build = GraphBuilder()
    a = build.placeholder("a", shape=[])
    b = build.one("Mul", a, 2.0, name="b")
    build.one("AddV2", a, b, name="y")
    request = replace(GradientRequest.to("y", "a", "b"), stops=frozenset({TensorRef("b")}))
    point = {TensorRef("a"): np.float32(1)}
    assert gradient(build.build(), request, point) == [1.0, 1.0]
    itself = replace(GradientRequest.to("y", "a"), stops=frozenset({TensorRef("a")}))
    assert gradient(build.build(), itself, point) == [3.0]


def test_an_override_by_type_borrows_another_rule(point: Arrays) -> None:
    request = replace(GradientRequest.to("loss", "w"), overrides=(Override("Identity", "Floor"),))
    [dw] = gradient(network("Floor"), request, point)
    np.testing.assert_array_equal(dw, point[TensorRef("x")])


def test_overrides_are_ranked_by_how_particular_they_are() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", shape=[])
    with build.scope("s"):
        y = build.one("Floor", x, name="y")
    graph = build.build()
    functions: dict[str, Callable[..., object]] = {
        name: (lambda op, g, k=k: g * float(k)) for k, name in enumerate("abc", start=2)
    }
    overrides = [
        Override("a", "Floor"),
        Override("b", "s", OverrideKind.SCOPE),
        Override("c", "s/y", OverrideKind.OP),
    ]
    for count, expected in ((1, 2.0), (2, 3.0), (3, 4.0)):
        request = replace(GradientRequest.to(str(y.ref), "x"), overrides=tuple(overrides[:count]))
        derived = differentiate(graph, request, functions)
        refs = [derived.gradients[TensorRef("x")]]
        assert evaluate(derived.graph, refs, {TensorRef("x"): np.float32(1.5)}) == [expected]
        assert derived.custom == {"s/y": "abc"[count - 1]}


def test_an_op_that_names_its_gradient_heeds_its_place_and_not_its_type() -> None:
    """As `_gradient_op_type` in a NodeDef does: an override by type is for the others."""
    op = Operation("s/y", "Floor", attrs={GRADIENT_OP_TYPE: "Mine"})
    by_type, by_scope = Override("a", "Floor"), Override("b", "s", OverrideKind.SCOPE)
    by_op = Override("c", "s/y", OverrideKind.OP)
    assert gradient_name(op, ()) == "Mine"
    assert gradient_name(op, (by_type,)) == "Mine"
    assert gradient_name(op, (by_type, by_scope)) == "b"
    assert gradient_name(op, (by_op, by_scope, by_type)) == "c"
    assert gradient_name(op, (by_scope, Override("d", "", OverrideKind.SCOPE))) == "b"
    assert gradient_name(replace(op, attrs={}), (by_type,)) == "a"
    assert gradient_name(replace(op, attrs={}), (by_type, Override("e", "Floor"))) == "e"
    assert gradient_name(replace(op, attrs={}), ()) == "Floor"


def test_zeros_for_what_is_not_connected_stand_in_the_scope_of_their_operation() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", "float32", (2,))
    parts = b.op("Unpack", x, name="both", num=2)
    b.placeholder("loss", "float32", ())
    asked = GradientRequest(
        (TensorRef("loss"),), tuple(p.ref for p in parts), unconnected_zero=True
    )
    derived = differentiate(b.build(), asked)
    names = [derived.gradients[part.ref].op for part in parts]
    assert names == ["gradients/both_grad/ZerosLike", "gradients/both_grad/ZerosLike_1"]


def test_a_disabled_override_does_nothing() -> None:
    override = Override("Identity", "Floor", enabled=False)
    request = replace(GradientRequest.to("loss", "w"), overrides=(override,))
    assert not differentiate(network("Floor"), request).custom


WRONG = {
    "too many": (lambda op, g: (g, g), "ValueError", "Num gradients 2"),
    "none of two": (lambda op, g: np.ones(3), "AttributeError", "returned a ndarray"),
    "shape": (lambda op, g: g.builder.constant([1.0, 2.0]), "ValueError", "Incompatible shapes"),
    "raises": (lambda op, g: 1 / 0, "GradientFunctionError", "ZeroDivisionError"),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_gradient_functions_are_told_what_is_wrong_where(case: str) -> None:
    function, kind, message = WRONG[case]
    override = Override("Mine", "f", OverrideKind.OP)
    request = replace(GradientRequest.to("loss", "w"), overrides=(override,))
    with pytest.raises(GradstepError, match=message) as caught:
        differentiate(network(), request, {"Mine": function})
    assert (caught.value.kind, caught.value.node) == (kind, "f")
    assert caught.value.hint


def test_a_borrowed_gradient_that_does_not_fit_is_told_where() -> None:
    build = GraphBuilder()
    left, right = build.op("Split", 0, build.placeholder("x", shape=(2, 4)), num_split=2, name="s")
    build.one("Mul", left, right, name="y")
    borrowed = (Override("Identity", "Split"),)
    request = replace(GradientRequest.to("y", "x"), overrides=borrowed)
    with pytest.raises(GradstepError, match="Identity does not fit Split") as caught:
        differentiate(build.build(), request)
    assert (caught.value.kind, caught.value.node) == ("GradientFunctionError", "s")


def test_a_function_that_lost_a_wire_has_not_its_native_gradient() -> None:
    """One that stands for a MatMul, and of which an input was taken away since."""
    attrs = {"Tin": (DType.FLOAT32,), "Tout": (DType.FLOAT32,), "token": "f"}
    product = Operation("y", "PyFunc", (TensorRef("x"),), attrs={**attrs, NATIVE_OP_TYPE: "MatMul"})
    build = GraphBuilder()
    build.placeholder("x", shape=(2, 2))
    graph = Graph.of([*build.build().operations.values(), product])
    with pytest.raises(GradstepError, match="gradient of MatMul does not fit PyFunc") as caught:
        differentiate(graph, GradientRequest.to("y", "x"))
    assert (caught.value.kind, caught.value.node) == ("GradientFunctionError", "y")


def test_an_unknown_gradient_is_an_error_only_on_the_path() -> None:
    graph = network("Floor")
    override = Override("Nobody", "Floor")
    request = replace(GradientRequest.to("loss", "b"), overrides=(override,))
    differentiate(graph, request)
    with pytest.raises(GradstepError, match="'Nobody', which is not registered") as caught:
        differentiate(graph, replace(request, wrt=(TensorRef("w"),)))
    assert caught.value.kind == "LookupError"


def test_whole_numbers_have_the_gradient_none() -> None:
    build = GraphBuilder()
    build.one("Neg", build.placeholder("n", "int32", []), name="y")
    assert not differentiate(build.build(), GradientRequest.to("y", "n")).gradients


def test_unknown_names_are_said_before_any_work() -> None:
    with pytest.raises(GradstepError, match="no operation named 'lass'") as caught:
        differentiate(network(), GradientRequest.to("lass", "w"))
    assert "loss" in caught.value.hint


def test_second_derivatives_come_from_differentiating_again() -> None:
    build = GraphBuilder()
    x = build.placeholder("x", shape=[])
    build.one("Tanh", x, name="y")
    first = differentiate(build.build(), GradientRequest.to("y", "x"))
    slope = first.gradients[TensorRef("x")]
    second = differentiate(first.graph, GradientRequest((slope,), (TensorRef("x"),)))
    at = np.float32(0.4)
    [value] = evaluate(second.graph, [second.gradients[TensorRef("x")]], {TensorRef("x"): at})
    t = np.tanh(at)
    np.testing.assert_allclose(value, -2 * t * (1 - t * t), rtol=1e-5)


def unpacked(builder: GraphBuilder) -> tuple[TensorRef, TensorRef]:
    """x[0] and x[1] of a placeholder x; the loss takes only the second."""
    x = builder.placeholder("x", "float32", (2,))
    first, second = builder.op("Unpack", x, name="both", num=2)
    builder.one("Square", second, name="loss")
    return first.ref, second.ref


def test_an_output_beside_the_path_has_zeros_as_in_tensorflow(point: Arrays) -> None:
    b = GraphBuilder()
    first, second = unpacked(b)
    asked = GradientRequest((TensorRef("loss"),), (first, second, TensorRef("x")))
    values = gradient(b.build(), asked, {TensorRef("x"): np.float32([3, 4])})
    np.testing.assert_array_equal(np.hstack([v for v in values if v is not None]), [0, 8, 0, 8])


def test_and_none_where_nothing_before_it_is_asked_for() -> None:
    b = GraphBuilder()
    first, second = unpacked(b)
    derived = differentiate(b.build(), GradientRequest((TensorRef("loss"),), (first, second)))
    assert set(derived.gradients) == {TensorRef("loss"), second}


def test_the_rule_of_an_operation_is_wanted_only_where_something_lies_before_it() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", "float32", (2,))
    b.one("Square", b.one("Exp", x, name="y"), name="loss")
    unknown = (Override("NoSuchGradient", "y", OverrideKind.OP),)
    to_y = replace(GradientRequest.to("loss", "y"), overrides=unknown)
    assert TensorRef("y") in differentiate(b.build(), to_y).gradients
    with pytest.raises(GradstepError, match="NoSuchGradient"):
        differentiate(b.build(), replace(GradientRequest.to("loss", "x"), overrides=unknown))


def test_a_complex_tensor_needs_a_gradient_to_start_with() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", "float32", (2,))
    b.one("Square", b.one("Cast", x, DstT=DType.COMPLEX64), name="z")
    with pytest.raises(GradstepError, match="must set grad_ys") as caught:
        differentiate(b.build(), GradientRequest.to("z", "x"))
    assert (caught.value.kind, caught.value.node) == ("TypeError", "z")


def test_a_function_in_place_of_an_op_has_its_gradient_and_none_for_what_it_takes_beyond() -> None:
    b = GraphBuilder()
    x, extra = (b.placeholder(name, "float32", (2,)) for name in ("x", "extra"))
    kinds = {"Tin": (DType.FLOAT32,) * 2, "Tout": (DType.FLOAT32,)}
    attrs = {"token": "f", NATIVE_OP_TYPE: "Square", **kinds}
    b.one("PyFunc", x, extra, name="y", **attrs)
    derived = differentiate(b.build(), GradientRequest.to("y", "x", "extra"))
    assert TensorRef("x") in derived.gradients
    assert TensorRef("extra") not in derived.gradients
    assert Edge("y", 1) in derived.blocked
    assert not derived.custom


@pytest.mark.parametrize("stopped", [0, 1, 2, 3])
def test_a_stop_among_operations_that_are_alike_stops_that_one(stopped: int) -> None:
    """h + tanh(h), four times: each gives 1 + 1 - tanh² on the way back, but the stopped one 1."""
    b = GraphBuilder()
    h = b.placeholder("x", "float32", ())
    for number in range(4):
        h = b.one("AddV2", h, b.one("Tanh", h, name=f"tanh{number}"), name=f"h{number}")
    stop = frozenset({Edge(f"tanh{stopped}", 0)})
    request = replace(GradientRequest.to("h3", "x"), stopped_edges=stop)
    value, slope = 0.3, 1.0
    for number in range(4):
        slope *= 1.0 if number == stopped else 2 - np.tanh(value) ** 2
        value += np.tanh(value)
    [found] = gradient(b.build(), request, {TensorRef("x"): np.float32(0.3)})
    np.testing.assert_allclose(found, slope, rtol=1e-5)


def test_each_wire_carries_a_tensor_of_its_own() -> None:
    """Also where a rule gives one for two inputs, or what arrived."""
    b = GraphBuilder()
    x, y = (b.placeholder(name, "float32", (2,)) for name in "xy")
    b.one("AddV2", x, y, name="z")

    def twice(op: OpView, g: Tensor) -> list[Tensor]:
        both = g * 2.0
        return [both, both]

    override = (Override("Twice", "z", OverrideKind.OP),)
    request = GradientRequest.to("z", "x", "y")
    for functions, asked, slope in (
        ({"Twice": twice}, replace(request, overrides=override), 2),
        ({}, request, 1),
    ):
        derived = differentiate(b.build(), asked, functions)
        carried = [derived.edges[Edge("z", 0)], derived.edges[Edge("z", 1)]]
        assert len({*carried, derived.gradients[TensorRef("z")]}) == 3
        values = evaluate(
            derived.graph, carried, {TensorRef(n): np.ones(2, np.float32) for n in "xy"}
        )
        assert [v.tolist() for v in values] == [[slope, slope]] * 2
