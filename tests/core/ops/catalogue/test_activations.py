"""Activations are TensorFlow's: at their corners, at infinities, and in their derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support import oracle
from tests.support.derivatives import Build, derivatives
from tests.support.each_case import each_of
from tests.support.interpret import evaluate

NAN, INF = np.nan, np.inf


ROWS: dict[str, Build] = {
    "relu6": tf.nn.relu6,
    "elu": tf.nn.elu,
    "leaky_relu": tf.nn.leaky_relu,
    "softplus": tf.nn.softplus,
}


@pytest.mark.parametrize("row", ROWS)
def test_at_a_kink(row: str) -> None:
    expected = oracle.case("grad_nonsmooth_points")[row]
    value, gradient = derivatives(ROWS[row], oracle.array(expected["x"]), 1)
    np.testing.assert_allclose(value, oracle.array(expected["y"]), rtol=1e-15)
    np.testing.assert_allclose(gradient, oracle.array(expected["grad"]), rtol=1e-15)


def numbers(text: str) -> list[float]:
    return [float(word) for word in text.split()]


POINTS = [-7, -1, -0.25, 0, 0.5, 6, 8.0]
# TensorFlow 2.21 computed them in float64: value, first and second derivative at POINTS.
CURVES: dict[str, tuple[Build, list[list[float]]]] = {
    "relu6": (
        tf.nn.relu6,
        [[0, 0, 0, 0, 0.5, 6, 6], [0, 0, 0, 0, 1, 0, 0], [0] * 7],
    ),
    "leaky_relu": (
        tf.nn.leaky_relu,
        [
            [-1.4000000208616257, -0.20000000298023224, -0.05000000074505806, 0, 0.5, 6, 8],
            [0.20000000298023224] * 4 + [1, 1, 1],
            [0] * 7,
        ],
    ),
    "elu": (
        tf.nn.elu,
        [
            [-0.9990881180344455, -0.6321205588285577, -0.22119921692859512, 0, 0.5, 6, 8],
            [0.000911881965554473, 0.36787944117144233, 0.7788007830714049, 1, 1, 1, 1],
            [0.000911881965554473, 0.36787944117144233, 0.7788007830714049, 0, 0, 0, 0],
        ],
    ),
    "selu": (
        tf.nn.selu,
        [
            numbers(
                "-1.756496161764805 -1.1113307378125628 -0.388890197478119 0 "
                "0.5253504936777402 6.304205924132883 8.405607898843844"
            ),
            numbers("0.0016031790825719039 0.6467686030348141 1.369209143369258")
            + [1.0507009873554805] * 4,
            [0.0016031790825719039, 0.6467686030348141, 1.369209143369258, 0, 0, 0, 0],
        ],
    ),
    "softplus": (
        tf.nn.softplus,
        [
            numbers(
                "0.0009114664537742447 0.3132616875182228 0.5759394198788435 0.6931471805599453 "
                "0.9740769841801067 6.00247568513773 8.000335406372896"
            ),
            numbers(
                "0.0009110511944006454 0.2689414213699951 0.4378234991142019 0.5 "
                "0.6224593312018546 0.9975273768433652 0.9996646498695335"
            ),
            numbers(
                "0.0009102211801218265 0.19661193324148185 0.24613408273759838 0.25 "
                "0.2350037122015945 0.0024665092913600415 0.0003352376707564791"
            ),
        ],
    ),
    "softsign": (
        tf.nn.softsign,
        [
            [-0.875, -0.5, -0.2, 0, 1 / 3, 6 / 7, 8 / 9],
            [1 / 64, 0.25, 0.64, 1, 4 / 9, 1 / 49, 1 / 81],
        ],
    ),
}


@each_of("row", CURVES)
def test_value_and_derivatives(row: str) -> None:
    build, expected = CURVES[row]
    found = derivatives(build, np.array(POINTS), len(expected) - 1)
    for value, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("build", [tf.nn.softsign, tf.nn.lrn])
def test_where_tensorflow_has_no_second_derivative(build: Build) -> None:
    with pytest.raises(GradstepError, match=r"No gradient defined .* type: (Softsign|LRN)Grad"):
        derivatives(build, np.ones((1, 1, 1, 2)), 2)


# TensorFlow 2.21 computed them: what each op gives for NaN, the infinities and signed zeros.
ODD = np.array([NAN, INF, -INF, 0.0, -0.0])
AT_ODD: dict[str, tuple[Build, list[float]]] = {
    "relu6": (tf.nn.relu6, [NAN, 6, 0, 0, 0]),
    "leaky_relu": (tf.nn.leaky_relu, [NAN, INF, -INF, 0, -0.0]),
    "leaky_relu -1": (lambda x: tf.nn.leaky_relu(x, -1.0), [NAN, INF, INF, -0.0, 0]),
    "elu": (tf.nn.elu, [NAN, INF, -1, 0, -0.0]),
    "selu": (tf.nn.selu, [NAN, INF, -1.7580993408473768, 0, -0.0]),
    "softplus": (tf.nn.softplus, [NAN, INF, 0, 0.6931471805599453, 0.6931471805599453]),
    "softsign": (tf.nn.softsign, [NAN, NAN, NAN, 0, -0.0]),
}


@each_of("row", AT_ODD)
def test_at_what_is_no_ordinary_number(row: str) -> None:
    build, expected = AT_ODD[row]
    (found,) = derivatives(build, ODD, 0)
    np.testing.assert_allclose(found, expected, rtol=1e-15)
    zeros = np.array(expected) == 0
    np.testing.assert_array_equal(np.signbit(found[zeros]), np.signbit(np.array(expected)[zeros]))


# Likewise: backprops for an upstream gradient of 2, and of infinity, at ODD.
BACK_AT_ODD: dict[str, tuple[list[float], list[float]]] = {
    "ReluGrad": ([0, 2, 0, 0, 0], [NAN, INF, NAN, NAN, NAN]),
    "Relu6Grad": ([0, 0, 0, 0, 0], [NAN] * 5),
    "LeakyReluGrad": ([0.4, 2, 0.4, 0.4, 0.4], [INF] * 5),
    "EluGrad": ([2, 2, -INF, 2, 2], [INF, INF, -INF, INF, INF]),
    "SoftplusGrad": ([NAN, 2, 0, 1, 1], [NAN, INF, NAN, INF, INF]),
    "SoftsignGrad": ([NAN, 0, 0, 2, 2], [NAN, NAN, NAN, INF, INF]),
}


@each_of("type", BACK_AT_ODD)
def test_gradient_at_what_is_no_ordinary_number(type: str) -> None:
    for upstream, expected in zip((2.0, INF), BACK_AT_ODD[type], strict=True):
        builder = GraphBuilder()
        y = builder.one(type, builder.constant(np.full(5, upstream)), builder.constant(ODD))
        (found,) = evaluate(builder.build(), [y.ref])
        np.testing.assert_allclose(found, expected, rtol=1e-7)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_softplus_neither_overflows_nor_loses_small_values(dtype: Any) -> None:
    x = np.array([-1e4, -20, -10, 10, 20, 1e4], dtype)
    (found,) = derivatives(tf.nn.softplus, x, 0)
    assert found.dtype == dtype
    exact = np.logaddexp(x.astype(np.float64), 0)
    np.testing.assert_allclose(found, exact, rtol=2 * np.finfo(dtype).eps, atol=1e-7)


def test_integers_have_a_positive_part() -> None:
    x = np.array([-3, 0, 4, 9], np.int8)
    builder = GraphBuilder()
    given = builder.constant(x)
    grad = builder.one("Relu6Grad", given, given)
    both = [tf.nn.relu(given).ref, tf.nn.relu6(given).ref, grad.ref]
    relu, relu6, back = evaluate(builder.build(), both)
    assert relu.dtype == relu6.dtype == back.dtype == np.int8
    assert (relu.tolist(), relu6.tolist()) == ([0, 0, 4, 9], [0, 0, 4, 6])
    assert back.tolist() == [0, 0, 4, 0]


@pytest.mark.parametrize("build", [tf.nn.elu, tf.nn.softplus, tf.nn.softmax, tf.nn.lrn])
def test_what_has_no_meaning_for_integers_says_so(build: Build) -> None:
    builder = GraphBuilder()
    with pytest.raises(GradstepError, match="real floating-point numbers, not int32"):
        build(builder.placeholder("x", "int32", (1, 1, 1, 2)))


X = np.array([[-1.0, 0.5, 2.0]])
# TensorFlow 2.21 computed them: value and gradient at X.
COMPOSED: dict[str, tuple[Build, list[float], list[float]]] = {
    "swish": (
        lambda x: tf.nn.swish(x, 1.5),
        [-0.18242552380635632, 0.3395893495876965, 1.9051482536448665],
        [-0.04129415429914294, 0.8425999444967536, 1.0881041060151695],
    ),
    "gelu": (
        tf.nn.gelu,
        [-0.15865525807260966, 0.3457312291306712, 1.9544997324075772],
        [-0.08331546644653365, 0.8674951193839892, 1.085231804774261],
    ),
    "gelu approximate": (
        lambda x: tf.nn.gelu(x, approximate=True),
        [-0.15880800972132364, 0.3457140097922433, 1.9545976932119538],
        [-0.08296408293443802, 0.8673699032922123, 1.0860992569220098],
    ),
    "crelu": (tf.nn.crelu, [0, 0.5, 2, 1, 0, 0], [-1, 1, 1]),
}


@pytest.mark.parametrize("row", COMPOSED)
def test_activation_of_several_ops(row: str) -> None:
    build, value, gradient = COMPOSED[row]
    found = derivatives(build, X, 1)
    np.testing.assert_allclose(found[0].ravel(), value, rtol=1e-12)
    np.testing.assert_allclose(found[1].ravel(), gradient, rtol=1e-12)
