"""Softmax twice, and logarithms by hand; and what only looks like it."""

from __future__ import annotations

from collections.abc import Callable

from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.diagnosing import drawn, findings
from tests.support.each_case import each_of

LABELS = [[1.0, 0.0], [0.0, 1.0]]
TWICE, BY_HAND = "softmax-twice", "log-by-hand"


def found(code: str, loss: Callable[[GraphBuilder, Tensor, Tensor], Tensor]) -> list[str]:
    def draw(b: GraphBuilder) -> None:
        logits, labels = b.variable("logits", shape=[2, 2]), b.placeholder("labels", shape=[2, 2])
        tf.reduce_sum(loss(b, logits, labels), name="loss")

    document = drawn(draw, "loss", ["logits"], initial={"logits": LABELS}, feeds={"labels": LABELS})
    return [f.text for f in findings(document, code)]


def entropy(b: GraphBuilder, logits: Tensor, labels: Tensor) -> Tensor:
    return b.op("SoftmaxCrossEntropyWithLogits", logits, labels, name="each")[0]


def test_probabilities_given_as_logits_say_how_sure_it_can_be_at_best() -> None:
    (text,) = found(TWICE, lambda b, x, y: entropy(b, tf.nn.softmax(x, name="p"), y))
    assert "of the probabilities [2, 2] of p (Softmax)" in text
    assert "give no class of 2 more than 73 %" in text


def test_a_reshape_between_hides_nothing() -> None:
    assert found(
        TWICE,
        lambda b, x, y: entropy(b, tf.reshape(tf.nn.softmax(x, name="p"), [2, 2], name="r"), y),
    )


def test_a_softmax_of_a_softmax() -> None:
    assert found(TWICE, lambda b, x, y: tf.nn.softmax(tf.nn.softmax(x, name="p"), name="q"))


def test_a_sigmoid_before_a_sigmoid_cross_entropy() -> None:
    def loss(b: GraphBuilder, x: Tensor, y: Tensor) -> Tensor:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=tf.sigmoid(x, name="p"))

    (text,) = found(TWICE, loss)
    assert "makes a sigmoid of the probabilities [2, 2] of p (Sigmoid)" in text


@each_of("code", [TWICE, BY_HAND])
@each_of(
    "loss",
    [
        entropy,
        lambda b, x, y: entropy(b, tf.matmul(tf.nn.softmax(x, name="p"), x, name="mix"), y),
        lambda b, x, y: entropy(b, tf.nn.log_softmax(x, name="l"), y),
        lambda b, x, y: tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=x),
        lambda b, x, y: tf.log(tf.exp(x, name="e"), name="l"),
        lambda b, x, y: tf.square(tf.nn.softmax(x, name="p") - y, name="brier"),
    ],
    ids=["entropy", "attention", "log_softmax", "sigmoid", "log", "brier"],
)
def test_right_losses_are_left_alone(
    code: str, loss: Callable[[GraphBuilder, Tensor, Tensor], Tensor]
) -> None:
    assert not found(code, loss)


def test_a_logarithm_of_a_softmax_says_at_which_logits_it_is_infinite() -> None:
    (text,) = found(BY_HAND, lambda b, x, y: tf.log(tf.nn.softmax(x, name="p"), name="l"))
    assert "at logits that are 104 apart" in text


def test_one_that_is_kept_from_0_is_a_remark_and_one_that_is_caught_afterwards_is_fine() -> None:
    def clipped(b: GraphBuilder, x: Tensor, y: Tensor) -> Tensor:
        return tf.log(tf.maximum(tf.nn.softmax(x, name="p"), 1e-7, name="m"), name="l")

    def caught(b: GraphBuilder, x: Tensor, y: Tensor) -> Tensor:
        return tf.maximum(tf.log(tf.nn.softmax(x, name="p"), name="l"), -100.0, name="m")

    (text,) = found(BY_HAND, clipped)
    assert "caps the loss" in text
    assert not found(BY_HAND, caught)
