"""Softmax along any axis, and the losses of `tf.nn`, with TensorFlow's numbers and words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support import oracle
from tests.support.derivatives import gradients
from tests.support.each_case import each_of
from tests.support.interpret import evaluate

Loss = Callable[..., Tensor]

RECORDED: dict[str, tuple[Loss, tuple[str, ...]]] = {
    "softmax_cross_entropy_with_logits (v1, labels gradient stopped)": (
        lambda x, z: tf.nn.softmax_cross_entropy_with_logits(labels=z, logits=x),
        ("logits", "onehot"),
    ),
    "softmax_cross_entropy_with_logits_v2 (labels get gradient)": (
        lambda x, z: tf.nn.softmax_cross_entropy_with_logits_v2(labels=z, logits=x),
        ("logits", "onehot"),
    ),
    "sparse_softmax": (
        lambda x, z: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=z, logits=x),
        ("logits", "sparse"),
    ),
    "sigmoid_xent": (
        lambda x, z: tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=x),
        ("logits", "onehot"),
    ),
    "weighted_xent pos_weight=3": (
        lambda x, z: tf.nn.weighted_cross_entropy_with_logits(labels=z, logits=x, pos_weight=3.0),
        ("logits", "onehot"),
    ),
}


@pytest.mark.parametrize("row", RECORDED)
def test_loss_as_recorded(row: str) -> None:
    recorded = oracle.case("losses")
    loss, names = RECORDED[row]
    expected = recorded[row]
    found = gradients(loss, *(oracle.array(recorded["inputs"][name]) for name in names))
    np.testing.assert_allclose(found[0], oracle.array(expected["value"]), rtol=1e-14)
    for value, wanted in zip(found[1:], expected["grads"], strict=False):
        if wanted is None:
            assert value is None
        else:
            np.testing.assert_allclose(value, oracle.array(wanted), rtol=1e-13, atol=1e-16)


def test_whole_number_labels_of_the_tutorial() -> None:
    recorded = oracle.case("softmax_onehot_label_rows")
    labels = np.array(recorded["inputs"]["labels"], np.int32)
    value, gradient = gradients(
        lambda x: tf.nn.softmax_cross_entropy_with_logits(labels, x),
        oracle.array(recorded["inputs"]["a"]),
    )
    np.testing.assert_allclose(value, oracle.array(recorded["loss"]), rtol=1e-6)
    np.testing.assert_allclose(gradient, oracle.array(recorded["dL_da"]), rtol=1e-6)


LOGITS = np.array([[1.0, -2, 0.5], [0, 3, -1]])
LABELS = np.array([[0.2, 0.5, 0.3], [1, 0, 0]])


def second(loss: Loss, *values: np.ndarray) -> list[np.ndarray | None]:
    """Gradients of the gradient to the first input, weighted by LABELS, of a weighted loss."""
    builder, feeds = GraphBuilder(), {f"x{i}": value for i, value in enumerate(values)}
    inputs = [builder.placeholder(name, str(v.dtype), v.shape) for name, v in feeds.items()]
    y = loss(*inputs) * np.array([1.0, 2])
    refs = tuple(x.ref for x in inputs)
    first = differentiate(builder.build(), GradientRequest((y.ref,), refs[:1]))
    again = GraphBuilder(first.graph)
    weighted = again.get(first.gradients[refs[0]]) * LABELS
    result = differentiate(again.build(), GradientRequest((weighted.ref,), refs))
    found = (result.gradients.get(ref) for ref in refs)
    return [None if ref is None else evaluate(result.graph, [ref], feeds)[0] for ref in found]


# TensorFlow 2.21 computed it; the same for labels as numbers and as rows.
TO_LOGITS_AGAIN = [
    [-0.027553220692711367, 0.007645872188489342, 0.019907348504222006],
    [0.0888797719887545, -0.08728116174838195, -0.0015986102403725624],
]


def test_second_derivative() -> None:
    to_logits, to_labels = second(
        lambda x, z: tf.nn.softmax_cross_entropy_with_logits_v2(labels=z, logits=x), LOGITS, LABELS
    )
    np.testing.assert_allclose(to_logits, TO_LOGITS_AGAIN, rtol=1e-12)
    np.testing.assert_array_equal(to_labels, np.zeros((2, 3)))  # zeros, as TensorFlow's rule has it
    to_logits, to_numbers = second(
        lambda x, z: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=z, logits=x),
        LOGITS,
        np.array([1, 2]),
    )
    np.testing.assert_allclose(to_logits, TO_LOGITS_AGAIN, rtol=1e-12)
    assert to_numbers is None


@each_of("rows", [(), (4,), (2, 2)])
@each_of("known", [True, False])
def test_class_numbers_of_any_rank(rows: tuple[int, ...], known: bool) -> None:
    rng = np.random.default_rng(1)
    logits, labels = rng.normal(size=(*rows, 3)), rng.integers(0, 3, rows)
    builder = GraphBuilder()
    x = builder.placeholder("x", "float64", logits.shape if known else None)
    z = builder.placeholder("z", "int64", labels.shape if known else None)
    y = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=z, logits=x)
    (found,) = evaluate(builder.build(), [y.ref], {"x": logits, "z": labels})
    expected = np.log(np.exp(logits).sum(-1)) - np.take_along_axis(
        logits, labels[..., None], -1
    ).reshape(rows)
    np.testing.assert_allclose(found, expected, rtol=1e-13)


CUBE = np.random.default_rng(2).normal(size=(2, 3, 2))


@each_of("axis", [0, 1, 2, -1, -2, -3])
def test_softmax_along_an_axis(axis: int) -> None:
    found, gradient = gradients(lambda x: tf.nn.softmax(x, axis=axis) * CUBE, CUBE)
    powers = np.exp(CUBE)
    expected = powers / powers.sum(axis, keepdims=True)
    np.testing.assert_allclose(found, expected * CUBE, rtol=1e-13)
    mean = (expected * CUBE).sum(axis, keepdims=True)
    np.testing.assert_allclose(gradient, expected * (CUBE - mean), rtol=1e-12)
    logs, _ = gradients(lambda x: tf.nn.log_softmax(x, axis=axis), CUBE)
    np.testing.assert_allclose(logs, np.log(expected), rtol=1e-12)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_cross_entropy_along_an_axis(axis: int) -> None:
    labels = np.exp(CUBE) / np.exp(CUBE).sum(axis, keepdims=True)

    def loss(x: Tensor) -> Tensor:
        return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x, dim=axis)

    value, gradient = gradients(loss, CUBE)
    np.testing.assert_allclose(value, -(labels * np.log(labels)).sum(axis), rtol=1e-12)
    np.testing.assert_allclose(gradient, 0, atol=1e-15)


def test_half_precision_is_summed_in_single() -> None:
    logits = np.array([[9.0, 8, 7], [0, 0, 0]], np.float16)
    labels = np.array([[0, 0, 1], [1, 0, 0]], np.float16)
    for loss in (
        lambda x: tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=x),
        lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[2, 0], logits=x),
    ):
        value, gradient = gradients(loss, logits)
        assert value is not None
        assert gradient is not None
        assert value.dtype == gradient.dtype == np.float16
        np.testing.assert_array_equal(value, np.array([2.4076059, 1.0986123], np.float16))


def test_log_poisson_loss() -> None:
    log_input, targets = np.array([0.5, -1, 0, 2]), np.array([0.0, 0.5, 1, 7])
    plain = np.exp(log_input) - log_input * targets
    (found,) = gradients(lambda c: tf.nn.log_poisson_loss(targets, c), log_input)[:1]
    np.testing.assert_allclose(found, plain)
    (full,) = gradients(lambda c: tf.nn.log_poisson_loss(targets, c, True), log_input)[:1]
    stirling = 7 * np.log(7) - 7 + 0.5 * np.log(2 * np.pi * 7)
    np.testing.assert_allclose(full, [*plain[:3], plain[3] + stirling])


REFUSED: list[tuple[Callable[[Any], Any], str]] = [
    (
        lambda p: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=p(3), logits=p(2, 3)),
        r"`labels.shape` must equal `logits.shape` except for the last dimension",
    ),
    (
        lambda p: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=p(2, 3), logits=p(2, 3)),
        r"`labels.shape.rank` must equal `logits.shape.rank - 1`",
    ),
    (
        lambda p: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=p(), logits=p()),
        "`logits` cannot be a scalar",
    ),
    (
        lambda p: tf.nn.softmax_cross_entropy_with_logits(labels=p(2)),
        "Both `labels` and `logits` must be provided for softmax_cross_entropy_with_logits",
    ),
    (
        lambda p: tf.nn.sigmoid_cross_entropy_with_logits(labels=p(2), logits=p(3)),
        r"`logits` and `labels` must have the same shape, received \(\[3\] vs \[2\]\)",
    ),
    (lambda p: tf.nn.log_poisson_loss(p(2), p(3)), "`log_input` and `targets` must have the same"),
    (lambda p: tf.nn.softmax(p(2, 3), axis=5), r"`dim` must be in the range \[-2, 2\)"),
    (lambda p: tf.nn.softmax(p(2), axis=0, dim=0), "Cannot specify both 'dim' and 'axis'"),
]


@each_of(("build", "message"), REFUSED)
def test_what_tensorflows_functions_refuse(build: Any, message: str) -> None:
    builder = GraphBuilder()
    with pytest.raises(ValueError, match=message):
        build(lambda *shape: builder.placeholder("x", "float32", shape))
