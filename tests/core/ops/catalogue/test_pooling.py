"""Pooling is TensorFlow's: values, the first of equal maxima, NaN and infinities."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, call
from gradstep.core.ops.catalogue.neural import image_blocks
from tests.support import oracle
from tests.support.derivatives import derivatives
from tests.support.each_case import each_of
from tests.support.interpret import evaluate
from tests.support.windows import STILL, explicit, first, ints, numbers, pattern, run

NAN, INF = np.nan, np.inf
TWOS = (1, 2, 2, 1)

# Type, attributes, shape and spread of the input's pattern; then what TensorFlow 2.21 made of it:
# the output, and the gradient of its sum weighted with a pattern of 9.
ROWS: list[tuple[str, dict[str, Any], tuple[int, ...], int, str, str]] = [
    (
        "MaxPool",
        {"ksize": (1, 3, 2, 1), "strides": (1, 1, 2, 1), "padding": "SAME"},
        (1, 4, 3, 2),
        3,
        "1 0 0 1 1 0 0 1 1 0 0 1 1 0 0 1",
        "0 -5 -1 0 0 5 0 -1 1 0 -3 4 0 0 2 0 -2 -4 0 0 0 0 0 0",
    ),
    (
        "MaxPool",
        {"ksize": (1, 3, 2, 1), "strides": (1, 2, 1, 1), **explicit(0, 0, 2, 1, 0, 1, 0, 0)},
        (1, 3, 3, 1),
        4,
        "1 0 -1 1 1 1",
        "1 -3 4 0 0 0 0 0 -2",
    ),
    (
        "AvgPool",
        {"ksize": (1, 2, 4, 1), "strides": (1, 1, 3, 1), "padding": "SAME"},
        (1, 3, 4, 1),
        5,
        "-0.5 0 0 -0.75 0.6666666865348816 -0.5",
        "-0.1666666716337204 -0.1666666716337204 -0.9166666865348816 -0.75 0.5 0.5 0.25 -0.25 "
        "0.6666666865348816 0.6666666865348816 0.16666674613952637 -0.5",
    ),
    (
        "AvgPool",
        {"ksize": TWOS, "strides": (1, 1, 2, 1), "padding": "VALID"},
        (1, 3, 5, 1),
        5,
        "-0.5 1 -0.5 1",
        "-0.25 -0.25 -0.75 -0.75 0 0.75 0.75 -0.25 -0.25 0 1 1 0.5 0.5 0",
    ),
]


@pytest.mark.parametrize(("type", "attrs", "shape", "spread", "output", "gradient"), ROWS)
def test_values_and_gradients(
    type: str, attrs: Any, shape: Any, spread: int, output: str, gradient: str
) -> None:
    x = pattern(shape, spread)
    weights = pattern(run(type, x, **attrs).shape, 9)
    found = derivatives(lambda x: call(type, x, **attrs), x, 1, weights)
    for value, text in zip(found, (output, gradient), strict=True):
        np.testing.assert_allclose(value.reshape(-1), numbers(text), rtol=1e-6)


def test_a_tie_goes_to_the_first() -> None:
    expected = oracle.case("grad_nonsmooth_points")["max_pool tie (2x2)"]
    x = oracle.array(expected["x"])

    def build(x: Any) -> Any:
        return tf.nn.max_pool(call("Reshape", x, ints(1, 2, 2, 1)), 2, 2, "VALID")

    value, gradient = derivatives(build, x, 1)
    assert np.array_equal(value, oracle.array(expected["y"]))
    assert np.array_equal(gradient, oracle.array(expected["grad"]))


ROW = {"ksize": (1, 1, 2, 1), "strides": (1, 1, 2, 1), "padding": "VALID"}
SPECIAL = [NAN, 1, 1, NAN, NAN, NAN, -INF, -INF, INF, INF, -INF, NAN, NAN, -INF, NAN, INF]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_nan_is_never_the_largest(dtype: Any) -> None:
    """TensorFlow 2.21 starts with the lowest finite number, and takes what is larger; the gradient
    goes to the first element unless another is larger."""
    x = np.array(SPECIAL, dtype).reshape(1, 1, -1, 1)
    y = run("MaxPool", x, **ROW)
    low = np.finfo(dtype).min
    assert y.reshape(-1).tolist() == [1, 1, low, low, INF, low, low, INF]
    if dtype == np.float32:
        g = np.arange(1, 9, dtype=dtype).reshape(y.shape)
        dx = run("MaxPoolGrad", x, y, g, **ROW)
        assert dx.reshape(-1, 2).T.tolist() == [[1, 2, 3, 4, 5, 6, 7, 8], [0] * 8]


def test_gradients_that_are_not_finite_stay_where_they_belong() -> None:
    x = np.array([1, 3, 2, 2], np.float32).reshape(1, 1, 4, 1)
    g = np.array([NAN, INF], np.float32).reshape(1, 1, 2, 1)
    dx = run("MaxPoolGrad", x, run("MaxPool", x, **ROW), g, **ROW)
    np.testing.assert_array_equal(dx.reshape(-1), [0, NAN, INF, 0])


def test_means_of_what_is_not_finite() -> None:
    """TensorFlow 2.21 computed the numbers."""
    x = np.array([NAN, 1, INF, -INF, 3, 3], np.float32).reshape(1, 1, -1, 1)
    y = run("AvgPool", x, ksize=(1, 1, 2, 1), strides=STILL, padding="SAME")
    np.testing.assert_array_equal(y.reshape(-1), [NAN, INF, NAN, -INF, 3, 3])


@each_of("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.int64])
def test_whole_numbers(dtype: Any) -> None:
    x = np.arange(16, dtype=dtype).reshape(1, 4, 4, 1)
    y = run("MaxPool", x, ksize=TWOS, strides=TWOS, padding="SAME")
    assert y.dtype == dtype
    assert y.reshape(-1).tolist() == [5, 7, 13, 15]
    dx = run("MaxPoolGrad", x, y, y, ksize=TWOS, strides=TWOS, padding="SAME")
    assert np.array_equal(dx, np.where(np.isin(x, y), x, 0))


def test_pooling_over_channels() -> None:
    x = pattern((1, 1, 2, 6), 7)
    window = (1, 1, 1, 3)
    y = run("MaxPool", x, ksize=window, strides=window, padding="VALID")
    assert np.array_equal(y, x.reshape(1, 1, 2, 2, 3).max(-1))


@pytest.mark.parametrize("type", ["MaxPool", "AvgPool"])
def test_nchw_is_nhwc_transposed(type: str) -> None:
    x = pattern((2, 5, 4, 3), 11)

    def build(x: Any, **attrs: Any) -> Any:
        return call(type, x, padding="SAME", **attrs)

    weights = pattern((2, 3, 2, 3), 7)
    last = derivatives(lambda x: build(x, ksize=(1, 3, 2, 1), strides=TWOS), x, 1, weights)
    nchw = {"ksize": (1, 1, 3, 2), "strides": (1, 1, 2, 2), "data_format": "NCHW"}
    found = derivatives(lambda x: build(x, **nchw), first(x), 1, first(weights))
    for ours, expected in zip(found, last, strict=True):
        assert np.array_equal(ours, first(expected))


@pytest.mark.parametrize("type", ["MaxPool", "AvgPool"])
def test_images_are_taken_a_few_at_a_time(type: str, monkeypatch: pytest.MonkeyPatch) -> None:
    x, weights = pattern((7, 5, 4, 3), 11), pattern((7, 3, 2, 3), 7)

    def build(x: Any) -> Any:
        return call(type, x, ksize=(1, 3, 3, 1), strides=TWOS, padding="SAME")

    together = derivatives(build, x, 1, weights)
    monkeypatch.setattr(image_blocks, "_HOST_BLOCK", 3 * 4 * 60)  # three images
    for ours, expected in zip(derivatives(build, x, 1, weights), together, strict=True):
        assert np.array_equal(ours, expected)


def test_means_in_half_precision_are_added_up_in_single_precision() -> None:
    """In half precision, 2048 + 1 is 2048."""
    x = np.ones((1, 1, 4096, 1), np.float16)
    y = run("AvgPool", x, ksize=(1, 1, 4096, 1), strides=STILL, padding="VALID")
    assert y.dtype == np.float16
    assert y.item() == 1


@pytest.mark.parametrize("type", ["MaxPool", "AvgPool"])
@pytest.mark.parametrize("shape", [(0, 5, 5, 2), (1, 0, 5, 2)])
def test_empty_images(type: str, shape: tuple[int, ...]) -> None:
    x = np.zeros(shape, np.float32)

    def build(x: Any) -> Any:
        return call(type, x, ksize=TWOS, strides=TWOS, padding="SAME")

    value, gradient = derivatives(build, x, 1)
    assert value.shape == (shape[0], (shape[1] + 1) // 2, 3, 2)
    assert gradient.shape == shape


def test_argmax() -> None:
    """TensorFlow 2.21 computed the numbers: indices in the image, or in the whole batch."""
    x = pattern((2, 3, 3, 1), 4)
    builder = GraphBuilder()
    window = {"ksize": 2, "strides": 2, "padding": "SAME"}
    image = tf.nn.max_pool_with_argmax(builder.constant(x), **window)
    batch = tf.nn.max_pool_with_argmax(builder.constant(x), **window, include_batch_in_index=True)
    narrow = tf.nn.max_pool_with_argmax(builder.constant(x), **window, Targmax="int32")
    y, at, at_batch, at_narrow = evaluate(
        builder.build(), [image[0].ref, image[1].ref, batch[1].ref, narrow[1].ref]
    )
    assert y.reshape(-1).tolist() == [1, 0, -1, 1, 1, -1, 1, 0]
    assert at.reshape(-1).tolist() == [0, 5, 6, 8, 3, 5, 7, 8]
    assert at_batch.reshape(-1).tolist() == [0, 5, 6, 8, 12, 14, 16, 17]
    assert (at.dtype, at_narrow.dtype) == (np.int64, np.int32)
    assert np.array_equal(at, at_narrow)


def test_argmax_from_elsewhere_is_refused() -> None:
    x, g = pattern((1, 2, 2, 1), 4), np.ones((1, 1, 1, 1), np.float32)
    with pytest.raises(GradstepError, match="Invalid element in argmax"):
        run("MaxPoolGradWithArgmax", x, g, np.full((1, 1, 1, 1), 4), ksize=TWOS, strides=TWOS,
            padding="VALID")  # fmt: skip


def test_explicit_padding_has_no_second_derivative() -> None:
    """As in TensorFlow, whose MaxPoolGradGrad does not have it."""
    attrs = {"ksize": TWOS, "strides": STILL, **explicit(0, 0, 1, 0, 0, 1, 0, 0)}
    with pytest.raises(GradstepError, match="'EXPLICIT', which is not one of 'SAME', 'VALID'"):
        derivatives(
            lambda x: call("Square", call("MaxPool", x, **attrs)), pattern((1, 3, 3, 1), 5), 2
        )
