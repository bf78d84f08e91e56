"""Linear algebra: conventions and edge values. The numbers are TensorFlow 2.21's."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.dtypes import DType
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.each_case import each_of
from tests.support.interpret import evaluate

INF, NAN = np.inf, np.nan


def f4(values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def result(type: str, *inputs: Any, **attrs: Any) -> list[np.ndarray]:
    builder = GraphBuilder()
    found = builder.op(type, *(builder.constant(x) for x in inputs), **attrs)
    return evaluate(builder.build(), [t.ref for t in found])


def gradient(function: Any, x: np.ndarray) -> np.ndarray:
    """Of the sum of a function of `tf`, or of its real part."""
    builder = GraphBuilder()
    p = builder.placeholder("x", str(x.dtype), x.shape)
    with builder.as_default():
        y = function(p)
        loss = tf.reduce_sum(tf.real(y) if y.dtype.is_complex else y)
    found = differentiate(builder.build(), GradientRequest((loss.ref,), (p.ref,)))
    return evaluate(found.graph, [found.gradients[p.ref]], {"x": x})[0]


A34 = np.arange(12, dtype=np.float32).reshape(3, 4)
BAND = np.array([-2, 3], np.int32)
PADDING = np.float32(99)

VALUES: list[tuple[str, tuple[Any, ...], dict[str, Any], Any]] = [
    ("MatrixInverse", (f4([[1, 2], [NAN, 4]]),), {}, [[NAN, NAN], [NAN, NAN]]),
    ("MatrixInverse", (np.zeros((0, 2, 2), np.float32),), {}, np.zeros((0, 2, 2))),
    ("Cholesky", (f4([[1, 2], [2, 3]]),), {}, [[NAN, 0], [NAN, NAN]]),
    ("Cholesky", (f4([[2, NAN], [1, 3]]),), {}, [[1.4142135, 0], [0.70710677, 1.5811388]]),
    (
        "Cholesky",
        (f4([[[1, 2], [2, 3]], [[2, 1], [1, 3]]]),),
        {},
        [[[NAN, 0], [NAN, NAN]], [[1.4142135, 0], [0.70710677, 1.5811388]]],
    ),
    (
        "CholeskyGrad",
        (f4([[2, 5], [1, 3]]), f4([[1, 2], [3, 4]])),
        {},
        [[0.04166667, 0.41666666], [0.41666666, 0.6666667]],
    ),
    ("MatrixDeterminant", (np.zeros((3, 0, 0), np.float32),), {}, [1, 1, 1]),
    ("MatrixDeterminant", (f4([[NAN, 2], [3, 4]]),), {}, NAN),
    ("MatrixTriangularSolve", (f4([[1, 2], [3, 0]]), f4([[1], [2]])), {}, [[1], [-INF]]),
    ("MatrixTriangularSolve", (f4([[1, NAN], [3, 4]]), f4([[1], [2]])), {}, [[1], [-0.25]]),
    (
        "MatrixDiagPartV3",
        (A34, BAND, PADDING),
        {"align": "RIGHT_LEFT"},
        [[99, 99, 3], [99, 2, 7], [1, 6, 11], [0, 5, 10], [4, 9, 99], [8, 99, 99]],
    ),
    (
        "MatrixDiagPartV3",
        (A34, BAND, PADDING),
        {"align": "LEFT_RIGHT"},
        [[3, 99, 99], [2, 7, 99], [1, 6, 11], [0, 5, 10], [99, 4, 9], [99, 99, 8]],
    ),
    (
        "MatrixDiagPartV2",
        (A34, BAND, PADDING),
        {},
        [[3, 99, 99], [2, 7, 99], [1, 6, 11], [0, 5, 10], [4, 9, 99], [8, 99, 99]],
    ),
    (
        "MatrixDiagV3",
        (f4([1, 2]), np.int32(1), np.int32(-1), np.int32(4), np.float32(9)),
        {},
        [[9, 1, 9, 9], [9, 9, 2, 9]],
    ),
    (
        "BatchMatMulV3",
        (np.array([[100, 100]], np.int8), np.array([[100], [100]], np.int8)),
        {"Tout": DType.INT32},
        [[20000]],
    ),
    (
        "Cross",
        (np.array([200, 2, 3], np.uint8), np.array([4, 5, 7], np.uint8)),
        {},
        [255, 148, 224],
    ),
    ("Einsum", (f4([1, 2]),), {"equation": "i->iii"}, [[[1, 0], [0, 0]], [[0, 0], [0, 2]]]),
    ("Einsum", (f4(np.ones((2, 3))),), {"equation": "i1->i"}, [3, 3]),
    ("MatMul", (np.zeros((2, 0)), np.zeros((0, 3))), {}, np.zeros((2, 3))),
]


@each_of(("type", "inputs", "attrs", "expected"), VALUES)
def test_values(type: str, inputs: Any, attrs: Any, expected: Any) -> None:
    np.testing.assert_allclose(result(type, *inputs, **attrs)[0], expected, rtol=1e-6)


def test_log_determinant_of_a_singular_matrix_and_of_nan() -> None:
    sign, size = result("LogMatrixDeterminant", f4([[[1, 2], [2, 4]], [[NAN, 0], [0, 0]]]))
    np.testing.assert_array_equal(sign, [0, NAN])
    np.testing.assert_array_equal(size, [-INF, NAN])


COMPLEX = np.array([[1 + 1j, 2], [0.5j, 3]])
WEIGHTS = np.array([[1, 2j], [3, 4]])


def test_gradients_of_complex_matrices_are_conjugated() -> None:
    found = gradient(lambda x: tf.linalg.inv(x) * WEIGHTS, COMPLEX)
    expected = [
        [0.62130178 - 1.00887574j, -0.03698225 + 0.4112426j],
        [-0.49112426 + 0.62130178j, -0.4112426 - 0.28698225j],
    ]
    np.testing.assert_allclose(found, expected, atol=1e-8)
    other = np.array([[1, 2j], [3j, 4]])
    found = gradient(lambda x: tf.matmul(x, other, transpose_a=True) * WEIGHTS, COMPLEX)
    np.testing.assert_allclose(found, [[-3, 3 - 8j], [-11j, 16 - 9j]], atol=1e-12)


def test_the_gradient_of_cholesky_is_spread_over_both_triangles() -> None:
    weights = np.array([[1.0, 5], [2, 3]])
    found = gradient(lambda x: tf.cholesky(x) * weights, np.array([[4.0, 1], [1, 3]]))
    np.testing.assert_allclose(found, [[0.18153338, 0.27386649], [0.27386649, 0.90453403]])


def test_padding_has_no_gradient() -> None:
    builder = GraphBuilder()
    x, padding = builder.placeholder("x", shape=(2,)), builder.placeholder("p", shape=())
    sizes = np.array(-1, np.int32), np.array(-1, np.int32)
    y = builder.one("MatrixDiagV3", x, np.array(1, np.int32), *sizes, padding)
    found = differentiate(builder.build(), GradientRequest((y.ref,), (x.ref, padding.ref)))
    assert x.ref in found.gradients
    assert padding.ref not in found.gradients


def test_names_that_mean_another_function_in_linalg() -> None:
    builder = GraphBuilder()
    x = builder.placeholder("x", shape=(2, 3))
    assert list(tf.diag(x).shape) == [2, 3, 2, 3]
    assert list(tf.linalg.diag(x).shape) == [2, 3, 3]
    assert list(tf.linalg.tensor_diag(x).shape) == [2, 3, 2, 3]
    assert list(tf.linalg.transpose(tf.linalg.diag(x, k=1)).shape) == [2, 4, 4]


RNG = np.random.default_rng(3)
X3, W = RNG.normal(size=(2, 3, 3)), RNG.normal(size=(3, 2))

SAMES: list[tuple[Any, Any, np.ndarray]] = [
    (lambda x: tf.einsum("bij, bjk", x, x), lambda x: np.einsum("bij,bjk", x, x), X3),
    (lambda x: tf.einsum("...ij,jk", x, W), lambda x: x @ W, X3),
    (lambda x: tf.einsum("bij,bjk,bkl->bil", x, x, x), lambda x: x @ x @ x, X3),
    (
        lambda x: tf.einsum("...ij,jk,...kl,lm->...im", x, W, np.ones((2, 2, 3)), W),
        lambda x: x @ W @ np.ones((2, 2, 3)) @ W,
        X3,
    ),
    (
        lambda x: tf.einsum("a,b,c,a->bc", x, x, x, x),
        lambda x: np.outer(x, x) * (x * x).sum(),
        W[:, 0],
    ),
    (lambda x: tf.tensordot(x, W, 1), lambda x: np.tensordot(x, W, 1), X3),
    (
        lambda x: tf.tensordot(x, x, [[0, -1], [0, 1]]),
        lambda x: np.tensordot(x, x, [[0, 2], [0, 1]]),
        X3,
    ),
    (lambda x: tf.linalg.matvec(x, W.T), lambda x: np.einsum("bij,bj->bi", x, W.T), X3),
    (lambda x: tf.trace(x), lambda x: np.trace(x, axis1=1, axis2=2), X3),
    (lambda x: tf.norm(x, axis=[-2, -1]), lambda x: np.linalg.norm(x, axis=(1, 2)), X3),
    (lambda x: tf.norm(x, 1, (1, 2)), lambda x: np.linalg.norm(x, 1, (1, 2)), X3),
    (lambda x: tf.norm(x, np.inf, (1, 2)), lambda x: np.linalg.norm(x, np.inf, (1, 2)), X3),
    (lambda x: tf.norm(x, 3, 0), lambda x: np.linalg.norm(x, 3, 0), W),
    (lambda x: tf.eye(3, dtype="float64") * x, lambda x: np.eye(3) * x, X3),
    (
        lambda x: tf.linalg.logdet(tf.matmul(x, x, adjoint_b=True)),
        lambda x: np.linalg.slogdet(x)[1] * 2,
        X3,
    ),
    (lambda x: tf.linalg.slogdet(x)[0], lambda x: np.linalg.slogdet(x)[0], X3),
]


@each_of(("function", "expected", "x"), SAMES)
@each_of("static", [True, False])
def test_functions_of_tf(function: Any, expected: Any, x: np.ndarray, static: bool) -> None:
    builder = GraphBuilder()
    with builder.as_default():
        shape = x.shape if static else (None,) * x.ndim
        y = function(builder.placeholder("x", "float64", shape))
    (found,) = evaluate(builder.build(), [y.ref], {"x": x})
    np.testing.assert_allclose(found, expected(x), rtol=1e-10)


def test_eye_that_is_not_square() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        wide, tall = tf.eye(2, 3), tf.eye(3, 2, batch_shape=[2])
    found = evaluate(builder.build(), [wide.ref, tall.ref])
    np.testing.assert_array_equal(found[0], np.eye(2, 3))
    np.testing.assert_array_equal(found[1], [np.eye(3, 2)] * 2)
