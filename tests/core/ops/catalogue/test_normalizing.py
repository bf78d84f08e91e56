"""Moments, batch normalization of separate ops, and vectors brought to length 1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support import oracle
from tests.support.each_case import each_of
from tests.support.interpret import evaluate
from tests.support.rounding import Rounding, assert_rounded_alike

DATA = np.array([[1.0, 2, 0], [3, -2, 1], [2, 0, 5], [0, 4, 2]])


def computed(function: Any) -> np.ndarray:
    builder = GraphBuilder()
    y = function(builder.constant(DATA))
    return evaluate(builder.build(), [y.ref])[0]


@each_of("axes", [[0], [1], [0, 1], [-1]])
@each_of("keep", [True, False])
def test_moments(axes: list[int], keep: bool) -> None:
    over = tuple(axes)
    mean = computed(lambda x: tf.nn.moments(x, axes, keep_dims=keep)[0])
    variance = computed(lambda x: tf.nn.moments(x, axes, keepdims=keep)[1])
    np.testing.assert_allclose(mean, DATA.mean(over, keepdims=keep))
    np.testing.assert_allclose(variance, DATA.var(over, keepdims=keep))
    ones = computed(lambda x: tf.nn.weighted_moments(x, axes, 1.0, keep_dims=keep)[1])
    np.testing.assert_allclose(ones, DATA.var(over, keepdims=keep), rtol=1e-12)


def test_weighted_moments_count_elements_as_often_as_they_weigh() -> None:
    weights = np.array([[1.0], [0], [2], [1]])
    repeated = DATA[[0, 2, 2, 3]]
    mean = computed(lambda x: tf.nn.weighted_moments(x, [0], weights)[0])
    variance = computed(lambda x: tf.nn.weighted_moments(x, [0], weights)[1])
    np.testing.assert_allclose(mean, repeated.mean(0))
    np.testing.assert_allclose(variance, repeated.var(0))


def test_moments_of_half_precision_are_summed_in_single() -> None:
    builder = GraphBuilder()
    x = builder.constant(np.full((300, 1), 300, np.float16))
    both = tf.nn.moments(x, [0])
    found = evaluate(builder.build(), [t.ref for t in both])
    assert [(v.dtype.name, v.tolist()) for v in found] == [("float16", [300]), ("float16", [0])]


@pytest.mark.parametrize("scale", [None, np.array([2.0, 1, -1])])
@pytest.mark.parametrize("offset", [None, np.array([1.0, 0, 3])])
def test_batch_normalization_by_hand(scale: Any, offset: Any) -> None:
    def normalized(x: Tensor) -> Tensor:
        return tf.nn.batch_normalization(x, *tf.nn.moments(x, [0]), offset, scale, 1e-3)

    plain = (DATA - DATA.mean(0)) / np.sqrt(DATA.var(0) + 1e-3)
    expected = plain * (1 if scale is None else scale) + (0 if offset is None else offset)
    np.testing.assert_allclose(computed(normalized), expected, rtol=1e-12)


def test_two_dimensional_batch_norm_as_recorded() -> None:
    recorded = oracle.case("batch_norm_update_ops")
    x = oracle.array(recorded["inputs"]["x"])
    builder = GraphBuilder()
    given = builder.constant(x)
    mean, variance = tf.nn.moments(given, [0])
    y = tf.nn.batch_normalization(given, mean, variance, np.zeros(3), np.ones(3), 1e-3)
    found = evaluate(builder.build(), [y.ref, mean.ref, variance.ref])
    run = recorded["2d"]["control_dependencies"]
    sums = Rounding(terms=len(x), steps=3)
    assert_rounded_alike(found[0], oracle.array(run["h_first"]), sums)
    moved = [0.01 * found[1], 0.99 + 0.01 * found[2]]  # the biased variance here
    for name, value in zip(("moving_mean", "moving_variance"), moved, strict=True):
        assert_rounded_alike(value, oracle.array(run["steps"][0][name]), sums)


def test_l2_normalize() -> None:
    by_row = computed(lambda x: tf.nn.l2_normalize(x, 1))
    np.testing.assert_allclose(np.linalg.norm(by_row, axis=1), 1)
    everything = computed(lambda x: tf.nn.l2_normalize(x))
    np.testing.assert_allclose(np.linalg.norm(everything), 1)
    short = computed(lambda x: tf.nn.l2_normalize(x, [0, 1], epsilon=1e4))
    np.testing.assert_allclose(short, DATA / 100)
    turned = np.array([[3 + 4j, 0]])
    builder = GraphBuilder()
    y = tf.nn.l2_normalize(builder.constant(turned), 1)
    np.testing.assert_allclose(evaluate(builder.build(), [y.ref])[0], turned / 5)


def test_l2_normalize_at_zero_as_recorded() -> None:
    expected = oracle.case("grad_nonsmooth_points")["l2_normalize"]
    builder = GraphBuilder()
    x = builder.placeholder("x", "float64", (2,))
    y = tf.nn.l2_normalize(x, 0)
    result = differentiate(builder.build(), GradientRequest((y.ref,), (x.ref,)))
    feeds: dict[Any, Any] = {"x": oracle.array(expected["x"])}
    (found,) = evaluate(result.graph, [result.gradients[x.ref]], feeds)
    np.testing.assert_allclose(found, oracle.array(expected["grad"]), rtol=1e-12)


def test_fused_batch_norm_wants_what_it_is_to_use() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", shape=(1, 1, 1, 2))
    with pytest.raises(ValueError, match="Both `mean` and `variance` must be a 1D tensor when"):
        tf.nn.fused_batch_norm(x, np.ones(2), np.zeros(2), is_training=False)
    with pytest.raises(ValueError, match="Cannot specify both 'dim' and 'axis'"):
        tf.nn.l2_normalize(x, 0, dim=0)
