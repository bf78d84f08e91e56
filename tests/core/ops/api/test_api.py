"""`tf`, as user gradient functions write it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest, Override
from gradstep.core.graph.dtypes import DType, Shape
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.each_case import each_of
from tests.support.interpret import evaluate

X = np.array([[1.0, -2.0, 3.0], [0.5, 0.0, -1.0]], np.float32)


def run(function: Any, x: np.ndarray = X) -> np.ndarray:
    builder = GraphBuilder()
    with builder.as_default():
        y = function(builder.placeholder("x", str(x.dtype), x.shape))
    return evaluate(builder.build(), [y.ref], {"x": x})[0]


SAMES: list[tuple[Any, Any]] = [
    (lambda x: tf.multiply(2.0, x), lambda x: 2 * x),
    (lambda x: tf.subtract(x, 1), lambda x: x - 1),
    (lambda x: tf.reduce_sum(x), np.sum),
    (lambda x: tf.reduce_mean(x, axis=-1, keepdims=True), lambda x: x.mean(-1, keepdims=True)),
    (lambda x: tf.reduce_max(x, axis=[0, 1]), np.max),
    (lambda x: tf.reduce_min(x, 0), lambda x: x.min(0)),
    (lambda x: tf.reduce_prod(x, 1), lambda x: x.prod(1)),
    (lambda x: tf.where(x > 0.0, x, 0.0), lambda x: np.where(x > 0, x, 0)),
    (lambda x: tf.where(x > 0.0, x, -x), np.abs),
    (lambda x: tf.where(tf.greater(x, 0), 1.0, tf.zeros_like(x)), lambda x: 1.0 * (x > 0)),
    (lambda x: tf.cast(x, tf.int32), lambda x: x.astype(np.int32)),
    (lambda x: tf.cast(x, "float64"), lambda x: x.astype(np.float64)),
    (lambda x: tf.transpose(x), np.transpose),
    (lambda x: tf.transpose(x, [1, 0]), np.transpose),
    (lambda x: tf.matmul(x, x, transpose_b=True), lambda x: x @ x.T),
    (lambda x: tf.reshape(x, [3, 2]), lambda x: x.reshape(3, 2)),
    (lambda x: tf.squeeze(tf.expand_dims(x, 1), 1), lambda x: x),
    (lambda x: tf.squeeze(tf.expand_dims(x, 1)), lambda x: x),
    (lambda x: tf.concat([x, x], 1), lambda x: np.concatenate([x, x], 1)),
    (lambda x: tf.stack([x, x], 1), lambda x: np.stack([x, x], 1)),
    (lambda x: tf.unstack(x, axis=1)[2], lambda x: x[:, 2]),
    (lambda x: tf.gather(x, [2, 0], axis=1), lambda x: x[:, [2, 0]]),
    (lambda x: tf.one_hot([1, 0], 2), lambda x: np.eye(2)[[1, 0]]),
    (lambda x: tf.clip_by_value(x, -1.0, 1.0), lambda x: np.clip(x, -1, 1)),
    (lambda x: tf.add_n([x, x, x]), lambda x: 3 * x),
    (lambda x: tf.cumsum(x, 1), lambda x: np.cumsum(x, 1)),
    (lambda x: tf.argmax(x, 1), lambda x: x.argmax(1)),
    (lambda x: tf.zeros([2, 3]) + x, lambda x: x),
    (lambda x: tf.ones([2, 3], tf.float64), np.ones_like),
    (lambda x: tf.range(3), lambda x: np.arange(3)),
    (lambda x: tf.range(1, 8, 3), lambda x: np.arange(1, 8, 3)),
    (lambda x: tf.constant(2.0) * x, lambda x: 2 * x),
    (lambda x: tf.nn.relu(x), lambda x: np.maximum(x, 0)),
    (lambda x: tf.math.square(x), np.square),
    (lambda x: tf.stop_gradient(tf.identity(x)), lambda x: x),
]


@each_of(("function", "wanted"), SAMES)
def test_function_is_what_numpy_calls_so(function: Any, wanted: Any) -> None:
    np.testing.assert_allclose(run(function), wanted(X), rtol=1e-6)


def test_cross_entropy_has_tensorflows_keywords() -> None:
    labels = np.array([[1, 0, 0], [0, 0, 1]], np.float32)
    found = run(lambda x: tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x))
    powers = np.exp(X)
    expected = -np.log((powers / powers.sum(1, keepdims=True))[[0, 1], [0, 2]])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_constants_are_tensorflows_by_default() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        assert tf.constant(1.5).dtype is DType.FLOAT32
        assert tf.constant([1, 2]).dtype is DType.INT32
        assert tf.constant(np.float64(1)).dtype is DType.FLOAT64
        assert tf.constant(1, tf.float64).dtype is DType.FLOAT64


def test_unknown_name_tells_near_ones() -> None:
    with pytest.raises(
        AttributeError, match=r"tf has no 'reduce_summ'; did you mean tf.reduce_sum"
    ):
        _ = tf.reduce_summ
    with pytest.raises(AttributeError, match=r"tf\.nn has no 'reluu'; did you mean tf\.nn\.relu\b"):
        _ = tf.nn.reluu
    with pytest.raises(AttributeError, match=r"^tf has no 'zzzzz'$"):
        _ = tf.zzzzz
    assert "reduce_sum" in dir(tf)


def test_unknown_size_of_an_axis_cannot_be_unstacked() -> None:
    builder = GraphBuilder()
    with pytest.raises(ValueError, match="Cannot infer argument `num`"):
        tf.unstack(builder.placeholder("x", shape=(None, 2)))


def test_axes_of_unknown_rank_are_found_while_running() -> None:
    builder = GraphBuilder()
    y = tf.reduce_sum(builder.placeholder("x", shape=Shape(None)))
    assert evaluate(builder.build(), [y.ref], {"x": X})[0] == X.sum()


def test_a_gradient_function_may_return_constants_alone() -> None:
    def custom(op: Any, grad: Tensor) -> Tensor:
        return tf.ones([2, 3]) * 7.0 if grad.shape.rank == 2 else tf.constant(7.0)

    builder = GraphBuilder()
    x = builder.placeholder("x", shape=(2, 3))
    y = builder.one("Tanh", x)
    request = GradientRequest((y.ref,), (x.ref,), overrides=(Override("Seven", "Tanh"),))
    result = differentiate(builder.build(), request, {"Seven": custom})
    (found,) = evaluate(result.graph, [result.gradients[x.ref]], {"x": X})
    np.testing.assert_array_equal(found, np.full((2, 3), 7))


def test_a_number_beside_a_condition_takes_the_type_of_the_other_choice() -> None:
    builder = GraphBuilder()
    flags = builder.constant([True, False])
    x = builder.constant(np.array([1.5, 2.5]))
    y = builder.one("SelectV2", flags, 0.0, x)
    assert y.dtype is DType.FLOAT64
    np.testing.assert_array_equal(evaluate(builder.build(), [y.ref])[0], [0, 2.5])
