"""What lies between the products of a network: dropout, fake quantization, local response."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support import oracle
from tests.support.derivatives import derivatives
from tests.support.interpret import evaluate

NAN = np.nan
X = np.array([[-1.0, 0.5, 2.0]])
STEPS = np.array([-7, -6, -0.01, 0, 0.0235, 0.0236, 1.234, 6, NAN], np.float32)
# TensorFlow 2.21 computed them: values, and where the gradient passes.
QUANTIZED: list[tuple[dict[str, Any], list[float], list[int]]] = [
    (
        {},
        [-6.0235295, -5.9764705, 0, 0, 0, 0.047058824, 1.2235295, 5.9764705, NAN],
        [0, 1, 1, 1, 1, 1, 1, 0, 0],
    ),
    (
        {"min": 0.0, "max": 1.0},
        [0, 0, 0, 0, 0.023529414, 0.023529414, 1, 1, NAN],
        [0, 0, 0, 1, 1, 1, 0, 0, 0],
    ),
    (
        {"min": -1.0, "max": 0.5, "num_bits": 2},
        [-1, -1, 0, 0, 0, 0, 0.5, 0.5, NAN],
        [0, 0, 1, 1, 1, 1, 0, 0, 0],
    ),
    (
        {"min": 0.5, "max": 1.0},  # moved down so that 0 is in it
        [0, 0, 0, 0, 0.023529414, 0.023529414, 0.5, 0.5, NAN],
        [0, 0, 0, 1, 1, 1, 0, 0, 0],
    ),
    (
        {"narrow_range": True},
        [-6, -6, 0, 0, 0, 0, 1.2283465, 6, NAN],
        [0, 1, 1, 1, 1, 1, 1, 1, 0],
    ),
]


@pytest.mark.parametrize(("attrs", "value", "passes"), QUANTIZED)
def test_fake_quantization(attrs: dict[str, Any], value: list[float], passes: list[int]) -> None:
    found = derivatives(lambda x: tf.fake_quant_with_min_max_args(x, **attrs), STEPS, 1)
    np.testing.assert_array_equal(found[0], np.array(value, np.float32))
    np.testing.assert_array_equal(found[1], np.array(passes, np.float32))


def test_fake_quantization_as_recorded() -> None:
    recorded = oracle.case("grad_none_vs_zeros_table")
    x = oracle.array(recorded["inputs"]["x"])
    row = recorded["ops"]["quantize fake_quant"]
    _, found = derivatives(lambda x: tf.fake_quant_with_min_max_args(x, -1, 1), x, 1)
    np.testing.assert_array_equal(found, oracle.array(row["grad"]))


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        ({"min": 1.0, "max": 0.0}, "min has to be smaller than max, was: 1 >= 0"),
        ({"num_bits": 1}, "num_bits must be between 2 and 16, inclusive"),
    ],
)
def test_fake_quantization_of_nothing(attrs: dict[str, Any], message: str) -> None:
    builder = GraphBuilder()
    with pytest.raises(GradstepError, match=message):
        builder.one("FakeQuantWithMinMaxArgs", builder.constant(STEPS), **attrs)


IMAGE = np.array([[[[1, -2, 0.5, 3, -1]]]], np.float32)
# TensorFlow 2.21 computed them: value, and gradient for the upstream gradient 1, 2, 3, 4, 5.
NEIGHBOURS: list[tuple[dict[str, Any], list[float], list[float]]] = [
    (
        {},
        [0.24806947, -0.49613893, 0.12403473, 0.7442084, -0.24806947],
        [0.1641075, 0.66406286, 0.7022274, 0.7403919, 1.3243093],
    ),
    (
        {"depth_radius": 1, "bias": 2.0, "alpha": 0.1, "beta": 0.75},
        [0.5029734, -0.99846756, 0.20306088, 1.3079079, -0.43869132],
        [0.5914248, 0.8765285, 1.1342293, 1.2121909, 2.3432035],
    ),
    (
        {"depth_radius": 0, "beta": 1.0},
        [0.5, -0.4, 0.4, 0.3, -0.5],
        [0, -0.24, 1.44, -0.32, 0],
    ),
]


@pytest.mark.parametrize(("attrs", "value", "gradient"), NEIGHBOURS)
def test_local_response(attrs: dict[str, Any], value: list[float], gradient: list[float]) -> None:
    found = derivatives(lambda x: tf.nn.lrn(x, **attrs), IMAGE, 1, [1, 2, 3, 4, 5])
    np.testing.assert_allclose(found[0].ravel(), value, rtol=1e-6)
    np.testing.assert_allclose(found[1].ravel(), gradient, rtol=1e-6, atol=1e-6)


def test_local_response_of_what_is_no_image() -> None:
    builder = GraphBuilder()
    with pytest.raises(GradstepError, match="in must be 4-dimensional"):
        tf.nn.lrn(builder.placeholder("x", shape=(2, 3)))
    with pytest.raises(GradstepError, match="depth_radius = -1"):
        tf.nn.lrn(builder.placeholder("y", shape=(1, 2, 3, 4)), depth_radius=-1)


NUMBERS = np.arange(1, 7, dtype=np.float32).reshape(2, 3)


def test_dropout_draws_what_tensorflow_draws() -> None:
    # TensorFlow 2.21 computed them, with these seeds.
    found = derivatives(lambda x: tf.nn.dropout(x, keep_prob=0.5, seed=3), NUMBERS, 1)
    np.testing.assert_array_equal(found[0], [[0, 0, 6], [0, 10, 0]])
    np.testing.assert_array_equal(found[1], [[0, 0, 2], [0, 2, 0]])

    def whole_rows(x: Tensor) -> Tensor:
        return tf.nn.dropout(x, rate=0.5, seed=5, noise_shape=[None, 1])

    by_row = derivatives(whole_rows, NUMBERS, 0)
    np.testing.assert_array_equal(by_row[0], [[0, 0, 0], [8, 10, 12]])


def test_dropout_knows_its_graph_where_the_shape_is_drawn() -> None:
    """The noise has no tensor among its inputs then; and there is no default graph."""
    builder = GraphBuilder()
    y = tf.nn.dropout(builder.placeholder("x", shape=(2, 3)), rate=0.5)
    assert (y.builder, y.shape.static()) == (builder, (2, 3))


def test_dropout_of_nothing_is_its_input() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", shape=(2, 3))
    assert tf.nn.dropout(x, keep_prob=1.0) is x
    assert len(builder.build()) == 1


def test_dropout_by_a_rate_that_is_fed() -> None:
    builder = GraphBuilder()
    x, rate = builder.placeholder("x", shape=(2, 3)), builder.placeholder("rate", shape=())
    with builder.as_default():
        y = tf.nn.dropout(x, rate=rate, seed=3)
    for value in (0.5, 0.0):
        (found,) = evaluate(builder.build(), [y.ref], {"x": NUMBERS, "rate": np.float32(value)})
        kept = found != 0
        np.testing.assert_allclose(found[kept], (NUMBERS / (1 - value))[kept])
        assert kept.all() == (value == 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "`rate` must be provided"),
        ({"rate": 1.0}, r"in the range \[0, 1\). Received: rate=1.0"),
        ({"keep_prob": 0.5, "rate": 0.5}, "Cannot specify both 'keep_prob' and 'rate'"),
        ({"rate": 0.5, "noise_shape": [None, 1]}, r"partially known TensorShape \[\?, 1\]"),
    ],
)
def test_dropout_that_cannot_be(arguments: dict[str, Any], message: str) -> None:
    builder = GraphBuilder()
    with pytest.raises(ValueError, match=message):
        tf.nn.dropout(builder.placeholder("x", shape=(None, 3)), **arguments)
    with pytest.raises(ValueError, match="must be a floating point tensor"):
        tf.nn.dropout(builder.placeholder("i", "int32", (2,)), rate=0.5)


def test_layers_are_products_with_a_bias() -> None:
    weights, biases = np.array([[1.0], [-1], [2]]), np.array([-4.0])
    (plain,) = derivatives(lambda x: tf.nn.xw_plus_b(x, weights, biases), X, 0)
    (positive,) = derivatives(lambda x: tf.nn.relu_layer(x, weights, biases), X, 0)
    assert (plain.tolist(), positive.tolist()) == ([[-1.5]], [[0]])
