"""Sums over the rows of a batch with the learning rate of a mean."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.diagnosing import drawn, findings

CODE = "summed-loss"
ROWS = 16


def regression(
    total: Callable[[Tensor], Tensor],
    rate: float = 0.1,
    optimizer: str = "GradientDescent",
    rows: int = ROWS,
    **more: float,
) -> Document:
    """total: the loss, of the squared errors [rows]."""

    def draw(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[None, 2])
        w = b.variable("w", shape=[2, 1])
        errors = tf.square(tf.squeeze(tf.matmul(x, w), [1]))
        decay = tf.reduce_sum(tf.square(w), name="decay") * 0.01
        tf.add(total(errors), decay, name="loss")

    return drawn(
        draw,
        "loss",
        ["w"],
        initial={"w": [[0.1], [0.2]]},
        feeds={"x": np.full((rows, 2), 0.01, np.float32)},
        optimizers=(Optimizer(optimizer, {"learning_rate": rate, **more}),),
    )


def summed(errors: Tensor) -> Tensor:
    return tf.reduce_sum(errors, name="total")


def test_it_says_what_the_rate_is_of_a_mean() -> None:
    (found,) = findings(regression(summed), CODE, runs=1)
    assert found.node == "total"
    assert "adds up 16 rows" in found.text
    assert "a learning rate of 0.1 is as 1.6 would be for their mean" in found.text


@pytest.mark.parametrize(
    "document",
    [
        regression(summed, rate=0.01),
        regression(summed, optimizer="Adam"),
        regression(summed, rows=4, rate=0.5),
        regression(lambda errors: tf.reduce_mean(errors)),
        regression(lambda errors: tf.reduce_sum(errors) / 16.0),
    ],
    ids=["a rate for sums", "Adam", "few rows", "a mean", "divided by their number"],
)
def test_what_may_be_meant_is_passed_over(document: Document) -> None:
    assert not findings(document, CODE, runs=1)


def test_momentum_has_a_rate_too() -> None:
    document = regression(summed, optimizer="Momentum", momentum=0.9)
    assert [found.node for found in findings(document, CODE, runs=1)] == ["total"]
