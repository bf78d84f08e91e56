"""A VJP that is copied from one like it is the VJP that its rule would have made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

from gradstep.core.autodiff.reverse import backward_pass
from gradstep.core.autodiff.reverse.differentiate import Differentiation, differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.vjp_templates import VjpTemplates
from gradstep.core.graph import edits
from gradstep.core.graph.model import Graph, Operation, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.typing.inference import infer, infer_declared
from tests.support.counted import counted, counting
from tests.support.random_graphs import Drawn, graphs


def without_copies(graph: Graph, request: GradientRequest) -> Differentiation:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(VjpTemplates, "copy", lambda *given: None)
        return differentiate(graph, request)


def assert_same(graph: Graph, request: GradientRequest) -> None:
    found, wanted = differentiate(graph, request), without_copies(graph, request)
    assert [*found.graph] == [*wanted.graph]
    for name in ("gradients", "slices", "edges", "blocked", "custom"):
        assert [*getattr(found, name).items()] == [*getattr(wanted, name).items()]
    known, inferred = infer_declared(found.graph), infer(found.graph)
    assert known.types.of == inferred.types.of
    assert known.constants.keys() == inferred.constants.keys()
    for name, value in known.constants.items():
        np.testing.assert_array_equal(value, inferred.constants[name])


@settings(deadline=None, suppress_health_check=[*HealthCheck])
@given(graphs())
@pytest.mark.slow
def test_each_operation_beside_its_twin(drawn: Drawn) -> None:
    """Of the same tensors, or of the twins of what it takes."""
    sources = {ref.op for ref in drawn.point}
    names = [op.name for op in drawn.graph if op.name not in sources]
    graph, twins = edits.duplicate(drawn.graph, names)
    graph, more = edits.duplicate(graph, names[len(names) // 2 :])
    of = [TensorRef(each.get(ref.op, ref.op)) for each in ({}, twins, more) for ref in drawn.of]
    assert_same(graph, GradientRequest(tuple(dict.fromkeys(of)), tuple(drawn.point)))


def test_rules_are_called_once_for_operations_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    build, called = GraphBuilder(), []
    h = build.placeholder("x", "float32", (2, 2))
    for _ in range(10):
        h = tf.tanh(h) * 2.0
    loss = tf.reduce_sum(h)
    call_rule = backward_pass.call_rule

    def noted(builder: GraphBuilder, op: Operation, *given: Any) -> Any:
        called.append(op.type)
        return call_rule(builder, op, *given)

    monkeypatch.setattr(backward_pass, "call_rule", noted)
    differentiate(build.build(), GradientRequest((loss.ref,), (TensorRef("x"),)))
    assert sorted(called) == ["Mul", "Mul", "Sum", "Tanh"]  # what reaches the last Mul is a Tile


@pytest.mark.parametrize("factors", [(2.0, 2.0), (2.0, 3.0)])
def test_what_is_squared_is_not_like_a_product(factors: tuple[float, float]) -> None:
    """Nor are products with other constants alike, as a rule may look at their values."""
    build = GraphBuilder()
    x, y = (build.placeholder(name, "float32", (2,)) for name in "xy")
    z = (x * x) * (x * y) * factors[0] * (y * y) * factors[1]
    z = z * z
    assert_same(build.build(), GradientRequest((z.ref,), (x.ref, y.ref)))


def test_a_rule_sees_who_made_what_arrives() -> None:
    """The cross-entropy's leaves out a product with zeros."""
    build = GraphBuilder()
    logits, labels = (build.placeholder(name, "float32", (2, 3)) for name in ("logits", "labels"))
    kept = [build.op("SoftmaxCrossEntropyWithLogits", logits, labels) for _ in range(2)]
    loss = kept[0][0] + kept[1][0]
    both = tf.reduce_sum(loss) + tf.reduce_sum(kept[1][1])
    assert_same(build.build(), GradientRequest((both.ref,), (logits.ref,)))


def test_a_rule_sees_attributes_and_axes() -> None:
    build = GraphBuilder()
    x, y = (build.placeholder(name, "float32", (2, 2)) for name in "xy")
    products = [
        build.one("MatMul", x, y, transpose_a=first, transpose_b=second)
        for first in (False, True)
        for second in (False, True)
    ]
    sums = [tf.reduce_sum(p, axis=axis) for p in products for axis in (0, 1)]
    z = build.one("AddN", *sums)
    assert_same(build.build(), GradientRequest((z.ref,), (x.ref, y.ref)))


@pytest.mark.parametrize("slopes", [(0.0, -0.0), (-0.0, 0.0)])
def test_a_rule_sees_the_sign_of_a_zero(slopes: tuple[float, float]) -> None:
    build = GraphBuilder()
    x = build.placeholder("x", "float32", (2,))
    leaky = [build.one("LeakyRelu", x, alpha=slope) for slope in slopes]
    z = build.one("AddN", *leaky)
    found = differentiate(build.build(), GradientRequest((z.ref,), (x.ref,)))
    given = [op.attrs["alpha"] for op in found.graph if op.type == "LeakyReluGrad"]
    assert sorted(map(str, given)) == ["-0.0", "0.0"]


def comparisons(readers: int) -> int:
    """Of names, while a sum of so many products of the same two tensors is differentiated."""
    build = GraphBuilder()
    a, b = (build.placeholder(name, "float32", (2,)) for name in "ab")
    graph = counted(_with_sum(build, [a * b for _ in range(readers)]))
    with counting() as found:
        differentiate(graph, GradientRequest.to("sum", "a", "b"))
    return found[0]


def _with_sum(build: GraphBuilder, terms: list[Tensor]) -> Graph:
    tf.add_n(terms, name="sum")
    return build.build()


def test_many_readers_of_a_tensor_cost_no_more_each() -> None:
    assert comparisons(400) < 3 * comparisons(200)
