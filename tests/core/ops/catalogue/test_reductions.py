"""Reductions and running sums: edge values and conventions. Numbers are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support import oracle
from tests.support.each_case import each_of
from tests.support.interpret import evaluate

INF, NAN = np.inf, np.nan
FIRST = np.array([0], np.int32)
AXIS = np.array(0, np.int32)


def result(type: str, *inputs: Any, **attrs: Any) -> np.ndarray:
    builder = GraphBuilder()
    y = builder.one(type, *(builder.constant(x) for x in inputs), **attrs)
    return evaluate(builder.build(), [y.ref])[0]


def gradient(function: Any, x: np.ndarray, shape: Any = None) -> np.ndarray:
    """Of the sum of a function of `tf`, or of its real part; shapes are unknown if not given."""
    builder = GraphBuilder()
    p = builder.placeholder("x", str(x.dtype), shape)
    with builder.as_default():
        y = function(p)
        loss = tf.reduce_sum(tf.real(y) if y.dtype.is_complex else y)
    found = differentiate(builder.build(), GradientRequest((loss.ref,), (p.ref,)))
    return evaluate(found.graph, [found.gradients[p.ref]], {"x": x})[0]


REDUCED: list[tuple[str, Any, str, Any]] = [
    ("Sum", [], "float32", 0),
    ("Sum", [100, 100], "int8", -56),
    ("Mean", [], "float32", NAN),
    ("Mean", [], "int32", 0),
    ("Mean", [100, 100, 100], "int8", 100),
    ("Mean", [-7, 0], "int32", -3),
    ("Mean", [2**31 - 1, 2**31 - 1], "int32", 2**31 - 1),
    ("Mean", [2**62, 2**62, 2**62], "int64", -1537228672809129301),
    ("Mean", [1 + 2j, 3], "complex64", 2 + 1j),
    ("Prod", [], "float32", 1),
    ("Prod", [100, 3], "int8", 44),
    ("Max", [], "float32", -INF),
    ("Min", [], "float16", INF),
    ("Max", [], "int32", -(2**31)),
    ("Min", [], "uint8", 255),
    ("Max", [1, NAN, 2], "float32", NAN),
    ("Min", [1, NAN, 2], "float32", NAN),
    ("All", [], "bool", True),
    ("Any", [], "bool", False),
    ("EuclideanNorm", [], "float32", 0),
    ("EuclideanNorm", [3, 5], "int32", 5),
    ("EuclideanNorm", [100, 100], "int8", 5),
    ("EuclideanNorm", [3, 4j], "complex64", 5),
    ("EuclideanNorm", [1, 2, NAN], "float32", NAN),
]


@each_of(("type", "values", "dtype", "expected"), REDUCED)
def test_reductions(type: str, values: Any, dtype: str, expected: Any) -> None:
    found = result(type, np.array(values, dtype), FIRST)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.array(expected, dtype))


def test_an_axis_that_is_not_reduced_may_be_empty() -> None:
    x = np.zeros((0, 3), np.float32)
    last = np.array([1], np.int32)
    assert [result(t, x, last).shape for t in ("Max", "Mean", "Sum")] == [(0,)] * 3
    np.testing.assert_array_equal(result("Max", x, FIRST), [-INF] * 3)
    assert result("ArgMax", x, np.array(1, np.int32)).shape == (0,)


PLACES: list[tuple[str, Any, int]] = [
    ("ArgMax", [1, 3, 3, 2], 1),
    ("ArgMax", [1, NAN, 3, 2], 2),
    ("ArgMax", [NAN, -INF], 0),
    ("ArgMax", [NAN, NAN], 0),
    ("ArgMin", [2, NAN, 1, 1], 2),
    ("ArgMin", [NAN, INF], 0),
]


@each_of(("type", "values", "expected"), PLACES)
def test_places_pass_over_nan_and_take_the_first_of_equals(
    type: str, values: Any, expected: int
) -> None:
    assert result(type, np.array(values, np.float32), AXIS) == expected


def test_places_are_of_the_type_asked_for() -> None:
    x = np.array([True, False])
    assert result("ArgMax", x, AXIS).dtype == np.int64
    assert result("ArgMax", x, AXIS, output_type=DType.UINT16).dtype == np.uint16
    with pytest.raises(GradstepError, match="output_type"):
        result("ArgMin", x, AXIS, output_type=DType.INT16)


REFUSED: list[tuple[str, Any, Any, str]] = [
    ("ArgMax", [1.0], 3, r"Expected dimension in the range \[-1, 1\), but got 3"),
    ("ArgMax", np.zeros((0, 3)), 0, r"Reduction axis 0 is empty in shape \[0,3\]"),
    ("ArgMax", [1.0], [0], "Shape must be rank 0 but is rank 1"),
    ("ArgMax", [1j], 0, "ArgMax takes real numbers or bool, not complex128"),
    ("Max", [1j], 0, "Max takes real numbers, not complex128"),
    ("All", [1.0], 0, "All takes bool, not float64"),
    ("Sum", [1.0], 1, "Invalid reduction dimension 1 for input with 1 dimensions."),
    ("Sum", [1.0], [0, -1], "Axes contains duplicate dimension: 0"),
    ("Sum", [1.0], [[0]], "Shape must be at most rank 1 but is rank 2"),
    ("Cumsum", [1.0], 5, r"ScanOp: Expected scan axis in the range \[-1, 1\), but got 5"),
    ("Cumsum", 1.0, 0, r"ScanOp: Expected scan axis in the range \[0, 0\), but got 0"),
    ("Cumprod", [1.0], [0], r"ScanOp: axis must be a scalar, not \[1\]"),
    ("CumulativeLogsumexp", [1], 0, "takes real floating-point numbers, not int64"),
]


@each_of(("type", "values", "axis", "words"), REFUSED)
def test_what_tensorflow_refuses(type: str, values: Any, axis: Any, words: str) -> None:
    with pytest.raises(GradstepError, match=words):
        result(type, np.asarray(values), np.array(axis, np.int32))


def test_an_axis_out_of_range_while_running() -> None:
    builder = GraphBuilder()
    y = builder.one("Sum", builder.placeholder("x"), builder.placeholder("axes", "int32"))
    with pytest.raises(GradstepError) as caught:
        evaluate(builder.build(), [y.ref], {"x": np.ones(2, np.float32), "axes": FIRST + 1})
    words = "Invalid reduction dimension (1 for input with 1 dimension(s)"
    assert (caught.value.message, caught.value.kind) == (words, "InvalidArgumentError")


RUNNING: list[tuple[Any, dict[str, bool], Any]] = [
    ([1, 2, 3], {}, [1, 2.3132617, 3.4076061]),
    ([1, 2, 3], {"exclusive": True}, [-INF, 1, 2.3132617]),
    ([1, 2, 3], {"exclusive": True, "reverse": True}, [3.3132617, 3, -INF]),
    ([-INF, -INF, 3, INF, 1], {}, [-INF, -INF, 3, INF, INF]),
    ([INF, INF, INF], {}, [INF, NAN, NAN]),
    ([], {}, []),
]


@each_of(("values", "attrs", "expected"), RUNNING)
def test_running_logsumexp(values: Any, attrs: Any, expected: Any) -> None:
    found = result("CumulativeLogsumexp", np.array(values, np.float32), AXIS, **attrs)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_the_gradient_of_an_exclusive_running_logsumexp() -> None:
    def weighted(x: Any) -> Any:
        total = tf.cumulative_logsumexp(x, exclusive=True)
        return tf.slice(total, [1], [3]) * np.array([1.0, -2.0, 0.0])

    found = gradient(weighted, np.array([1.0, 2.0, -3.0, 0.0]))
    np.testing.assert_allclose(found, [0.46211716, -1.46211716, 0, 0], atol=1e-8)


@each_of("row", ["no zero", "one zero", "two zeros", "negative"])
@each_of("axes_type", ["int32", "int64"])
def test_gradient_of_a_product_over_axes_known_while_running(row: str, axes_type: str) -> None:
    expected = oracle.case("reduce_prod_gradient")[row]
    builder = GraphBuilder()
    x, axes = builder.placeholder("x", "float64"), builder.placeholder("axes", axes_type)
    y = builder.one("Prod", x, axes)
    found = differentiate(builder.build(), GradientRequest((y.ref,), (x.ref,)))
    feeds = {"x": oracle.array(expected["x"]), "axes": np.array([-1], axes_type)}
    (value,) = evaluate(found.graph, [found.gradients[x.ref]], feeds)
    np.testing.assert_array_equal(value, oracle.array(expected["grad"]))


def test_gradients_of_complex_products_are_conjugated() -> None:
    x = np.array([1 + 1j, 0, 2 - 1j])
    found = gradient(lambda x: tf.reduce_prod(x) * (1 + 2j), x)
    np.testing.assert_array_equal(found, [0, 1 - 7j, 0])


def test_the_norm_has_no_gradient_at_zero() -> None:
    found = gradient(tf.reduce_euclidean_norm, np.zeros(2))
    np.testing.assert_array_equal(found, [NAN, NAN])


def test_linspace_has_a_gradient_though_its_op_has_none() -> None:
    weights = np.array([[1.0], [2.0], [3.0], [4.0]])
    found = gradient(
        lambda x: tf.linspace(x, np.array([3.0, 3.0]), 4) * weights, np.array([0.0, 1.0]), (2,)
    )
    np.testing.assert_allclose(found, [10 / 3, 10 / 3])
    np.testing.assert_array_equal(
        result("LinSpace", np.float32(-INF), np.float32(0), np.int32(3))[[0, 2]], [-INF, 0]
    )


X = np.array([[0.5, -2.0, 0.0], [1.0, 3.0, -1.0]])
SAMES: list[tuple[Any, Any]] = [
    (lambda x: tf.reduce_logsumexp(x, 1), lambda x: np.log(np.exp(x).sum(1))),
    (lambda x: tf.reduce_logsumexp(x, keepdims=True), lambda x: np.log([[np.exp(x).sum()]])),
    (lambda x: tf.math.reduce_variance(x, 0), lambda x: x.var(0)),
    (lambda x: tf.math.reduce_std(x), np.std),
    (lambda x: tf.count_nonzero(x, axis=1), lambda x: np.count_nonzero(x, axis=1)),
    (lambda x: tf.reduce_all(tf.greater(x, -2.5), [0, 1]), lambda x: (x > -2.5).all()),
    (lambda x: tf.reduce_any(x > 2.0, 1), lambda x: (x > 2).any(1)),
    (
        lambda x: tf.reduce_sum(x, reduction_indices=[1], keep_dims=True),
        lambda x: x.sum(1)[:, None],
    ),
    (lambda x: tf.argmin(x, 1, output_type="int32"), lambda x: x.argmin(1)),
    (lambda x: tf.cumprod(x, 1, reverse=True), lambda x: x[:, ::-1].cumprod(1)[:, ::-1]),
    (lambda x: tf.nn.l2_loss(x), lambda x: (x * x).sum() / 2),
    (lambda x: tf.linspace(x, 1 + x, 3, axis=-1), lambda x: np.linspace(x, 1 + x, 3, axis=-1)),
    (lambda x: tf.linspace(x, 0.0, 2), lambda x: np.stack([x, 0 * x])),
]


@each_of(("function", "expected"), SAMES)
def test_functions_of_tf(function: Any, expected: Any) -> None:
    builder = GraphBuilder()
    with builder.as_default():
        y = function(builder.placeholder("x", "float64", X.shape))
    (found,) = evaluate(builder.build(), [y.ref], {"x": X})
    np.testing.assert_allclose(found, expected(X), rtol=1e-12)


def test_logsumexp_of_infinities() -> None:
    x = np.array([[INF, 1], [-INF, -INF], [1, 2]], np.float32)
    builder = GraphBuilder()
    y = tf.reduce_logsumexp(builder.placeholder("x", shape=(3, 2)), axis=1)
    (found,) = evaluate(builder.build(), [y.ref], {"x": x})
    np.testing.assert_allclose(found, [INF, -INF, 2.3132617], rtol=1e-6)
