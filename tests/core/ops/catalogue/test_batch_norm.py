"""Batch normalization is TensorFlow's: in training and in use, with its derivatives and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.errors import GradstepError
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support import oracle
from tests.support.each_case import each_of
from tests.support.interpret import evaluate
from tests.support.rounding import Rounding, assert_rounded_alike

X = np.array([[[[0.126, -0.132], [0.64, 0.105]]], [[[-0.536, 0.362], [1.304, 0.947]]]], np.float32)
W = np.array(
    [[[[-0.704, -1.265], [-0.623, 0.041]]], [[[-2.325, -0.219], [-1.246, -0.732]]]], np.float32
)


SUMS = Rounding(terms=X.size // X.shape[-1], steps=3)  # mean, variance, and what is made of both


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


VECTORS = {
    "scale": np.array([1.5, -0.5], np.float32),
    "offset": np.array([0.25, 0.5], np.float32),
    "mean": np.array([0.3, 0.4], np.float32),
    "variance": np.array([1.5, 2.5], np.float32),
}
# TensorFlow 2.21 computed them, with epsilon 0.1: y, the gradients of sum(W * y), and those of
# sum(W * W * gradient to x) + the gradient to scale by [1, 2].
TRAINED = {
    "y": numbers(
        "-0.26789689 0.94256085 0.76588565 0.71076655 -1.59934437 0.45941156 2.10135555 -0.11273891"
    ),
    "to x": numbers(
        "1.28250921 0.66481417 0.97502816 -0.59123832 "
        "-1.37189114 -0.31389391 -0.88564706 0.24031812"
    ),
    "to scale": [1.35742605, 0.18756872],
    "to offset": [-4.89799976, -2.17499995],
    "x again": numbers(
        "3.73114419 -1.82450664 4.17318678 2.33272362 -8.13238525 1.04939687 0.22805405 -1.55761397"
    ),
    "scale again": [-5.18456125, -2.35314393],
}
USED = {
    "y": numbers(
        "0.04366136 0.66496623 0.65319037 0.59147561 -0.74137414 0.5117833 1.44059753 0.33038247"
    ),
    "to x": numbers(
        "-0.83484137 0.39225987 -0.73878717 -0.01271356 "
        "-2.75711107 0.06790902 -1.47757435 0.22698356"
    ),
    "to scale": [0.47702336, 0.16670455],
    "to offset": [-4.89799976, -2.17499995],
    "x again": numbers(
        "-0.55656087 -1.56903946 -0.49252477 0.05085424 "
        "-1.83807397 -0.27163607 -0.98504955 -0.90793425"
    ),
    "scale again": [-11.93224812, -1.50512564],
}
# Likewise: the mean and the variance that go on to the running averages.
RUNNING = {
    (True, 1.0): ([0.38349998, 0.32050002], [0.60829973, 0.21514034]),
    (True, 0.25): ([0.32087499, 0.38012502], [1.27707493, 1.92878509]),
    (False, 1.0): ([0.3, 0.4], [1.5, 2.5]),
}
VERSIONS = ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"]


def laid_out(array: np.ndarray, data_format: str) -> np.ndarray:
    return np.moveaxis(array, -1, 1) if data_format.startswith("NC") else array


def built(type: str, x: np.ndarray, **attrs: Any) -> tuple[GraphBuilder, list[Tensor], Any]:
    """The op on placeholders, its outputs, and what to feed."""
    feeds: dict[Any, Any] = {"x": x, **VECTORS}
    builder = GraphBuilder()
    inputs = [builder.placeholder(n, str(v.dtype), v.shape) for n, v in feeds.items()]
    return builder, list(builder.op(type, *inputs, name="bn", **attrs)), feeds


@each_of("type", VERSIONS)
@each_of("data_format", ["NHWC", "NCHW"])
@each_of(("is_training", "factor"), RUNNING)
def test_values_and_derivatives(
    type: str, data_format: str, is_training: bool, factor: float
) -> None:
    attrs = {"is_training": is_training, "exponential_avg_factor": factor, "epsilon": 0.1}
    x, w = laid_out(X, data_format), laid_out(W, data_format)
    builder, outputs, feeds = built(type, x, data_format=data_format, **attrs)
    names = ("x", "scale", "offset", "mean", "variance")
    wrt = tuple(builder.get(f"{name}:0").ref for name in names)
    loss = outputs[0] * w
    first = differentiate(builder.build(), GradientRequest((loss.ref,), wrt))
    assert not {wrt[3], wrt[4]} & set(first.gradients)
    grads = [first.gradients[ref] for ref in wrt[:3]]
    again = GraphBuilder(first.graph)
    both = again.get(grads[0]) * (w * w), again.get(grads[1]) * np.array([1, 2], np.float32)
    request = GradientRequest(tuple(t.ref for t in both), wrt[:2])
    second = differentiate(again.build(), request)
    grads += [second.gradients[ref] for ref in wrt[:2]]
    found = evaluate(second.graph, [*(t.ref for t in outputs[:3]), *grads], feeds)
    y, mean, variance, *gradients = found
    expected = TRAINED if is_training else USED
    assert_rounded_alike(mean, np.float32(RUNNING[is_training, factor][0]), SUMS)
    assert_rounded_alike(variance, np.float32(RUNNING[is_training, factor][1]), SUMS)
    for value, wanted in zip([y, *gradients], expected.values(), strict=True):
        wanted = np.array(wanted)
        if wanted.size > 2:
            wanted = laid_out(wanted.reshape(X.shape), data_format)
        assert_rounded_alike(value, wanted.astype(np.float32), SUMS.of(steps=6, size=1.0))


def test_variance_without_its_bias_as_recorded() -> None:
    recorded = oracle.case("batch_norm_update_ops")
    x = oracle.array(recorded["inputs"]["x4"])
    builder = GraphBuilder()
    ones, zeros = builder.constant(np.ones(2, np.float32)), np.zeros(2)
    y, mean, variance = tf.nn.fused_batch_norm(builder.constant(x), ones, zeros)
    found = evaluate(builder.build(), [y.ref, mean.ref, variance.ref])
    run = recorded["4d_fused"]["control_dependencies"]
    sums = Rounding(terms=x.size // 2, steps=3)
    assert_rounded_alike(found[0], oracle.array(run["h_first"]), sums)
    moved = [0.01 * found[1], 0.99 + 0.01 * found[2]]
    for name, value in zip(("moving_mean", "moving_variance"), moved, strict=True):
        assert_rounded_alike(value, oracle.array(run["steps"][0][name]), sums)


def test_half_precision_images_have_single_precision_statistics() -> None:
    builder, outputs, feeds = built("FusedBatchNormV3", X.astype(np.float16), epsilon=0.1)
    found = evaluate(builder.build(), [t.ref for t in outputs], feeds)
    assert [v.dtype.name for v in found] == ["float16"] + ["float32"] * 5
    np.testing.assert_allclose(found[0].ravel(), TRAINED["y"], rtol=2e-3, atol=2e-3)
    assert found[5].shape == ()


def test_one_pixel_has_no_variance() -> None:
    builder, outputs, feeds = built("FusedBatchNormV3", X[:1, :, :1])
    y, mean, variance, *_ = evaluate(builder.build(), [t.ref for t in outputs], feeds)
    np.testing.assert_array_equal(y.ravel(), VECTORS["offset"])
    np.testing.assert_array_equal(mean, X[0, 0, 0])
    np.testing.assert_array_equal(variance, [0, 0])


def test_no_pixels_have_no_mean() -> None:
    builder, outputs, feeds = built("FusedBatchNormV3", X[:0])
    y, mean, variance, *_ = evaluate(builder.build(), [t.ref for t in outputs], feeds)
    assert y.shape == (0, 1, 2, 2)
    assert np.isnan([mean, variance]).all()


@pytest.mark.parametrize("data_format", ["NDHWC", "NCDHW"])
def test_images_of_three_dimensions(data_format: str) -> None:
    deep = laid_out(X[None], data_format)
    builder, outputs, feeds = built("FusedBatchNormV3", deep, epsilon=0.1, data_format=data_format)
    (y,) = evaluate(builder.build(), [outputs[0].ref], feeds)
    expected = laid_out(np.reshape(TRAINED["y"], X[None].shape), data_format)
    assert_rounded_alike(y, expected.astype(np.float32), SUMS)


def test_gradient_op_with_channels_first_needs_the_batch() -> None:
    images = np.zeros((1, 2, 1, 1), np.float32)
    vectors = [np.ones(2, np.float32)] * 3
    attrs = {"data_format": "NCHW", "is_training": False}
    builder = GraphBuilder()
    inputs = [builder.constant(x) for x in (images, images, *vectors)]
    with pytest.raises(GradstepError, match="only support NHWC tensor format for now"):
        builder.op("FusedBatchNormGrad", *inputs, **attrs)


WRONG: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"x": np.zeros((2, 2), np.float32)}, {}, r"input must be 4 or 5-dimensional\[2,2\]"),
    (
        {"scale": np.ones(3, np.float32)},
        {},
        "scale must have the same number of elements as the channels of x, got 3 and 2",
    ),
    (
        {"mean": np.zeros(0, np.float32)},
        {"is_training": False},
        "When is_training=false, mean must have the same number of elements .* got 0 and 2",
    ),
    (
        {"variance": np.zeros(3, np.float32)},
        {"exponential_avg_factor": 0.5},
        "When exponential_avg_factor != 1, variance must have the same number .* got 3 and 2",
    ),
    ({"offset": np.zeros(2)}, {}, "float32 vectors with float32 images, not float64"),
    ({}, {"data_format": "NDHWC"}, "attribute 'data_format' is 'NDHWC', which is not one of"),
]


@each_of(("inputs", "attrs", "message"), WRONG)
def test_what_does_not_fit(inputs: dict[str, Any], attrs: dict[str, Any], message: str) -> None:
    given = {"x": X, **VECTORS, **inputs}
    builder = GraphBuilder()
    with pytest.raises(GradstepError, match=message):
        builder.op("FusedBatchNorm", *map(builder.constant, given.values()), **attrs)


def test_sizes_that_only_a_run_shows() -> None:
    builder = GraphBuilder()
    names = ["x", *VECTORS]
    outputs = builder.op("FusedBatchNorm", *(builder.placeholder(n) for n in names), name="bn")
    feeds = {"x": X, **VECTORS, "scale": np.ones(3, np.float32)}
    with pytest.raises(GradstepError, match="scale must have the same number of elements"):
        evaluate(builder.build(), [outputs[0].ref], feeds)
