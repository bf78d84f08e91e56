"""`gradients(ys, xs, …)`: its arguments, and rows that stay rows; what TensorFlow recorded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from tests.support import oracle
from tests.support.interpret import evaluate

CASE = oracle.case("grad_aggregation_and_args")
X = np.array([1.0, 2.0], np.float32)


@pytest.fixture
def b() -> GraphBuilder:
    return GraphBuilder()


@pytest.fixture
def x(b: GraphBuilder) -> Tensor:
    return b.placeholder("x", shape=(2,))


def value(tensor: Any, feeds: Any = None) -> np.ndarray:
    assert isinstance(tensor, Tensor)
    graph = tensor.builder.build()
    needed = graph.ancestors([tensor.ref.op])
    feeds = {k: v for k, v in (feeds or {"x": X}).items() if k in needed}
    return evaluate(graph, [tensor.ref], feeds)[0]


def test_grad_ys_start_the_gradient(b: GraphBuilder, x: Tensor) -> None:
    start = b.constant([10.0, 100.0])
    (g,) = gradients(b.one("Square", x), x, grad_ys=[start])
    np.testing.assert_array_equal(value(g), oracle.array(CASE["grad_ys"][0]))


def test_none_among_grad_ys_is_ones(b: GraphBuilder, x: Tensor) -> None:
    (g,) = gradients(b.one("Square", x), x, grad_ys=[None])
    np.testing.assert_array_equal(value(g), oracle.array(CASE["grad_ys list with None"][0]))


def test_grad_ys_must_fit(b: GraphBuilder, x: Tensor) -> None:
    y = b.one("Square", x)
    with pytest.raises(GradstepError) as caught:
        gradients([y, x], x, grad_ys=[y])
    assert caught.value.message == oracle.message(CASE["grad_ys wrong len"])
    with pytest.raises(GradstepError, match="int32") as caught:
        gradients(y, x, grad_ys=[b.constant([1, 2])])
    assert (caught.value.kind, caught.value.node) == ("TypeError", y.ref.op)
    with pytest.raises(GradstepError, match=r"has shape \[3\]"):
        gradients(y, x, grad_ys=[b.constant([1.0, 2.0, 3.0])])


def test_ys_add_up_and_calls_do_not_disturb_each_other(b: GraphBuilder, x: Tensor) -> None:
    ys = [b.one("Square", x), x * 3.0]
    first, second = gradients(ys, x)[0], gradients(ys, x)[0]
    want = oracle.array(CASE["ys list sums"]["[x^2, 3x]"][0])
    np.testing.assert_array_equal(value(first), want)
    np.testing.assert_array_equal(value(second), want)
    assert isinstance(second, Tensor)
    assert second.ref.op.startswith("gradients_1/")


def test_the_gradient_of_a_gradient(b: GraphBuilder, x: Tensor) -> None:
    (g,) = gradients(x * x * x, x)
    assert isinstance(g, Tensor)
    (again,) = gradients(g, x)
    want = oracle.array(CASE["grad of grad"]["d2(x^3)"][0])
    np.testing.assert_allclose(value(again), want, rtol=1e-6)


def test_stop_gradients(b: GraphBuilder) -> None:
    a = b.placeholder("a", shape=())
    twice = a * 2.0
    feeds = {"a": np.float32(0)}
    want = CASE["doc: a=0,b=2a"]
    free = [value(g, feeds) for g in gradients(a + twice, [a, twice])]
    stopped = [value(g, feeds) for g in gradients(a + twice, [a, twice], stop_gradients=[a, twice])]
    assert free == want["gradients(a+b,[a,b])"]
    assert stopped == want["stop_gradients=[a,b]"]


def test_unconnected_gradients(b: GraphBuilder, x: Tensor) -> None:
    y = b.one("Floor", x)
    assert gradients(y, x) == [None]
    (zero,) = gradients(y, x, unconnected_gradients="zero")
    np.testing.assert_array_equal(value(zero), [0, 0])
    bogus = oracle.case("grad_none_mixed_paths")["bad unconnected value"]
    with pytest.raises(GradstepError) as caught:
        gradients(y, x, unconnected_gradients="bogus")
    assert caught.value.message == oracle.message(bogus)


def test_no_ys_and_no_xs(b: GraphBuilder, x: Tensor) -> None:
    assert gradients([], x) == [None]
    assert gradients(x, []) == []


def test_complex_ys_need_grad_ys(b: GraphBuilder, x: Tensor) -> None:
    z = b.one("Cast", x, DstT=DType.COMPLEX64)
    with pytest.raises(GradstepError, match="must set grad_ys") as caught:
        gradients(z, x)
    assert caught.value.kind == CASE["complex y"]["raised"]


def test_a_gradient_alone_waits_for_no_other(b: GraphBuilder, x: Tensor) -> None:
    gradients(b.one("Square", x), x, gate=True)
    assert not [op for op in b.build() if op.type == "NoOp"]


def test_gating_waits_for_all_gradients_of_an_operation(b: GraphBuilder, x: Tensor) -> None:
    """As TensorFlow's `tuple`: identities that wait for a no-op that waits for all."""
    k = b.constant([3.0, 4.0], name="k")
    y = b.one("Mul", x, k, name="y")
    one, other = gradients(y, [x, k], gate=True)
    assert isinstance(one, Tensor)
    group = "gradients/y_grad/tuple/group_deps"
    assert b.operation(one.ref.op).control_inputs == (group,)
    assert len(b.operation(group).control_inputs) == 2
    np.testing.assert_array_equal(value(one), [3, 4])
    np.testing.assert_array_equal(value(other), X)


PARAMS = np.array([[1, 2], [3, 4], [5, 6]], np.float32)


def gathered(b: GraphBuilder, params: Tensor, *indices: int) -> Tensor:
    return b.one("GatherV2", params, np.array(indices, np.int32), np.array(0, np.int32))


@pytest.fixture
def params(b: GraphBuilder) -> Tensor:
    return b.placeholder("params", shape=(3, 2))


def slices(gradient: Any, case: str) -> None:
    """`gradient` has the recorded rows, and is the same as a whole tensor."""
    assert isinstance(gradient, IndexedSlices)
    want = CASE[case]["value"]["indexed_slices"]
    rows, indices = oracle.array(want["values"]), oracle.array(want["indices"])
    feeds = {"params": PARAMS}
    np.testing.assert_array_equal(value(gradient.values, feeds), rows)
    np.testing.assert_array_equal(value(gradient.indices), indices)
    np.testing.assert_array_equal(gradient.dense_shape, oracle.array(want["dense_shape"]))
    whole = np.zeros_like(PARAMS)
    np.add.at(whole, indices, rows)
    np.testing.assert_array_equal(value(gradient.dense(), feeds), whole)


def test_rows_taken_twice_are_there_twice(b: GraphBuilder, params: Tensor) -> None:
    (g,) = gradients(gathered(b, params, 0, 0, 2), params)
    slices(g, "IndexedSlices: sparse only")


def test_rows_of_two_gathers_follow_each_other(b: GraphBuilder, params: Tensor) -> None:
    one, two = gathered(b, params, 0, 0, 2), gathered(b, params, 1)
    (g,) = gradients([one, two * 5.0], params)
    slices(g, "IndexedSlices: two gathers")


def test_rows_and_a_whole_tensor_add_up_to_a_whole_tensor(b: GraphBuilder, params: Tensor) -> None:
    ys = [gathered(b, params, 0, 0, 2), gathered(b, params, 1) * 5.0, b.one("Square", params)]
    (g,) = gradients(ys[:1] + ys[2:], params)
    assert isinstance(g, Tensor)
    want = 2 * PARAMS + np.array([[2], [0], [1]], np.float32)
    np.testing.assert_array_equal(value(g, {"params": PARAMS}), want)


def test_rows_stay_rows_through_identity_and_neg(b: GraphBuilder, params: Tensor) -> None:
    read = b.one("Neg", b.one("Identity", params))
    (g,) = gradients(gathered(b, read, 2, 2), params)
    assert isinstance(g, IndexedSlices)
    np.testing.assert_array_equal(value(g.values, {"params": PARAMS}), -np.ones((2, 2)))
    (g,) = gradients(gathered(b, b.one("Square", params), 2), params)
    assert isinstance(g, Tensor)
    np.testing.assert_array_equal(value(g, {"params": PARAMS}), [[0, 0], [0, 0], [10, 12]])


def test_indices_of_any_rank_and_of_unknown_shape(b: GraphBuilder) -> None:
    params = b.placeholder("params", shape=None)
    indices = b.placeholder("indices", "int64", None)
    (g,) = gradients(b.one("GatherV2", params, indices, np.array(0, np.int32)), params)
    assert isinstance(g, IndexedSlices)
    feeds = {"params": PARAMS, "indices": np.array([[0, 1], [1, 1]], np.int64)}
    assert value(g.values, feeds).shape == (4, 2)
    np.testing.assert_array_equal(value(g.indices, feeds), [0, 1, 1, 1])
    np.testing.assert_array_equal(value(g.dense(), feeds), [[1, 1], [3, 3], [0, 0]])
