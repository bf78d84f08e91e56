"""Where a derivative is a convention, it is TensorFlow's: None or zeros, kinks, ties."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call
from tests.support import oracle
from tests.support.each_case import each_of
from tests.support.interpret import evaluate

Build = Callable[[Tensor], Tensor]


def first(x: Tensor) -> Tensor:
    """x[0]"""
    spec = [np.array([n], np.int32) for n in (0, 1, 1)]
    return call("StridedSlice", x, *spec, shrink_axis_mask=1)


def through(kind: DType) -> Build:
    return lambda x: tf.cast(tf.cast(x, kind), DType.FLOAT32)


def flags(condition: Build) -> Build:
    return lambda x: tf.cast(condition(x), DType.FLOAT32)


TABLE: dict[str, Build] = {
    "identity": tf.identity,
    "stop_gradient": tf.stop_gradient,
    "floor": tf.floor,
    "sign": tf.sign,
    "floordiv x//1": lambda x: tf.floordiv(x, 1.0),
    "floordiv op": lambda x: tf.floordiv(x, tf.constant(1.0)),
    "floormod x%1": lambda x: tf.floormod(x, 1.0),
    "cast f32->i32->f32": through(DType.INT32),
    "cast f32->f64->f32": through(DType.FLOAT64),
    "cast f32->f16->f32": through(DType.FLOAT16),
    "cast f32->bool->f32": through(DType.BOOL),
    "argmax": lambda x: tf.cast(tf.argmax(x), DType.FLOAT32),
    "greater": flags(lambda x: tf.greater(x, 0.0)),
    "equal": flags(lambda x: tf.equal(x, 0.0)),
    "less as mask * x": lambda x: tf.cast(tf.less(x, 1.0), DType.FLOAT32) * x,
    "logical_not": flags(lambda x: tf.logical_not(tf.greater(x, 0.0))),
    "one_hot(cast)": lambda x: tf.one_hot(tf.cast(x, DType.INT32), 3),
    "one_hot on_value=x[0]": lambda x: tf.one_hot([0, 1], 3, on_value=first(x)),
    "shape": flags(tf.shape),
    "size": flags(tf.size),
    "rank": flags(tf.rank),
    "zeros_like": tf.zeros_like,
    "ones_like": tf.ones_like,
    "x*ones_like(x)": lambda x: x * tf.ones_like(x),
    "fill": lambda x: tf.fill(np.array([2], np.int32), first(x)),
    "range": lambda x: tf.range(first(x), tf.constant(2.0), tf.constant(1.0)),
    "Print": tf.identity,
    "clip_by_value(-1,1)": lambda x: tf.clip_by_value(x, -1.0, 1.0),
    "maximum(x,0)": lambda x: tf.maximum(x, 0.0),
    "relu": tf.nn.relu,
    "abs": tf.abs,
    "cumsum": tf.cumsum,
    "cumprod": lambda x: call("Cumprod", x, np.array(0, np.int32)),
    "meshgrid": lambda x: tf.tile(tf.expand_dims(x, 0), np.array([4, 1], np.int32)),
    "boolean_mask": lambda x: tf.gather(x, np.array([2, 3], np.int32)),
    "random_crop": lambda x: tf.slice(x, np.array([0], np.int32), np.array([4], np.int32)),
}


def gradient(build: Build, x: Any) -> np.ndarray | None:
    builder = GraphBuilder()
    with builder.as_default():
        y = build(builder.placeholder("x", str(x.dtype), x.shape))
    result = differentiate(builder.build(), GradientRequest((y.ref,), (builder.get("x").ref,)))
    found = result.gradients.get(builder.get("x").ref)
    return None if found is None else evaluate(result.graph, [found], {"x": x})[0]


@each_of("row", TABLE)
def test_none_zeros_or_value(row: str) -> None:
    recorded = oracle.case("grad_none_vs_zeros_table")
    expected = recorded["ops"][row]
    found = gradient(TABLE[row], oracle.array(recorded["inputs"]["x"]))
    if expected["result"] == "None":
        assert found is None
    else:
        assert found is not None
        np.testing.assert_array_equal(found, oracle.array(expected["grad"]))


def norm(x: Tensor) -> Tensor:
    return tf.sqrt(tf.reduce_sum(tf.square(x)))


KINKS: dict[str, Build] = {
    "relu": tf.nn.relu,
    "abs": tf.abs,
    "sign": tf.sign,
    "sqrt": tf.sqrt,
    "rsqrt": tf.rsqrt,
    "log": tf.log,
    "reciprocal": tf.reciprocal,
    "sigmoid": tf.sigmoid,
    "tanh": tf.tanh,
    "exp": tf.exp,
    "clip_by_value(0,1)": lambda x: tf.clip_by_value(x, 0.0, 1.0),
    "maximum(x,0)": lambda x: tf.maximum(x, 0.0),
    "maximum(0,x)": lambda x: tf.maximum(0.0, x),
    "minimum(x,0)": lambda x: tf.minimum(x, 0.0),
    "maximum(x,x)": lambda x: tf.maximum(x, x),
    "pow(x,2)": lambda x: tf.pow(x, 2.0),
    "pow(x,0.5)": lambda x: tf.pow(x, 0.5),
    "pow(x,0)": lambda x: tf.pow(x, 0.0),
    "pow(2,x)": lambda x: tf.pow(2.0, x),
    "pow(0,x)": lambda x: tf.pow(0.0, x),
    "pow(-2,x)": lambda x: tf.pow(-2.0, x),
    "norm": norm,
    "l2_loss": lambda x: tf.reduce_sum(tf.square(x)) / 2.0,
    "div x/x": lambda x: x / x,
    "div_no_nan(1,x)": lambda x: tf.div_no_nan(1.0, x),
    "reduce_max tie": tf.reduce_max,
    "reduce_min tie": tf.reduce_min,
    "mod x%2": lambda x: tf.floormod(x, 2.0),
    "softmax big": lambda x: first(tf.nn.softmax(x)),
    "log_softmax big": lambda x: call(
        "StridedSlice",
        tf.nn.log_softmax(x),
        *(np.array([n], np.int32) for n in (1, 2, 1)),
        shrink_axis_mask=1,
    ),
}


@each_of("row", KINKS)
def test_at_a_kink(row: str) -> None:
    expected = oracle.case("grad_nonsmooth_points")[row]
    found = gradient(KINKS[row], oracle.array(expected["x"]))
    np.testing.assert_allclose(found, oracle.array(expected["grad"]), rtol=1e-14)


@pytest.mark.parametrize("row", ["no zero", "one zero", "two zeros", "negative"])
def test_product_with_zeros(row: str) -> None:
    expected = oracle.case("reduce_prod_gradient")[row]
    found = gradient(tf.reduce_prod, oracle.array(expected["x"]))
    np.testing.assert_array_equal(found, oracle.array(expected["grad"]))


def test_product_along_an_axis() -> None:
    expected = oracle.case("reduce_prod_gradient")["axis 0"]
    weights = np.array([1.0, 10.0])  # as the recorded run weighted its columns
    found = gradient(lambda x: tf.reduce_prod(x, axis=0) * weights, oracle.array(expected["m"]))
    np.testing.assert_array_equal(found, oracle.array(expected["grad"]))


def test_cross_entropy_differentiates_labels_too() -> None:
    recorded = oracle.case("losses")
    logits = oracle.array(recorded["inputs"]["logits"])
    labels = oracle.array(recorded["inputs"]["onehot"])
    expected = recorded["softmax_cross_entropy_with_logits_v2 (labels get gradient)"]
    builder = GraphBuilder()
    x = builder.placeholder("logits", "float64", logits.shape)
    y = builder.placeholder("labels", "float64", labels.shape)
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=x)
    result = differentiate(builder.build(), GradientRequest((loss.ref,), (x.ref, y.ref)))
    fetches = [loss.ref, result.gradients[x.ref], result.gradients[y.ref]]
    found = evaluate(result.graph, fetches, {"logits": logits, "labels": labels})
    for value, wanted in zip(found, [expected["value"], *expected["grads"]], strict=True):
        np.testing.assert_allclose(value, oracle.array(wanted), rtol=1e-14)


def test_a_masked_root_does_not_turn_into_nan() -> None:
    """where(x > 0, sqrt(x), 0) has the derivative 0 at 0 on TensorFlow's CPU, as SqrtGrad is 0
    for a gradient of 0."""
    found = gradient(
        lambda x: tf.where(tf.greater(x, 0.0), tf.sqrt(x), tf.zeros_like(x)),
        np.array([0, 4], np.float32),
    )
    np.testing.assert_array_equal(
        found,
        oracle.array(
            oracle.case("xla_out_of_range")["grad where(x>0,sqrt(x),0) at [0,4]: plain CPU kernel"]
        ),
    )
