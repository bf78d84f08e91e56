"""Gradients ten thousand times apart: for whom that matters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings


def layers(scale: float, optimizer: str = "GradientDescent", apart: bool = False) -> Document:
    """y = scale · (x u) v; apart: u and v belong to different losses."""

    def draw(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[2, 2])
        u, v = b.variable("u", shape=[2, 2]), b.variable("v", shape=[2, 2])
        small = tf.multiply(tf.matmul(x, u, name="h"), scale, name="small")
        after = x if apart else small
        y = tf.matmul(after, v, name="y")
        total = tf.reduce_sum(y, name="sum")
        beside = tf.reduce_sum(small, name="beside")
        tf.add(total, beside if apart else tf.multiply(beside, 0.0, name="no"), name="loss")

    numbers = {"u": np.ones((2, 2)), "v": np.full((2, 2), 1.0 if apart else 1e-6)}
    rate = Optimizer(optimizer, {"learning_rate": 0.0})
    return drawn(
        draw, "loss", ["u", "v"], initial=numbers, feeds={"x": np.ones((2, 2))}, optimizers=(rate,)
    )


def test_one_learning_rate_does_not_suit_both() -> None:
    (found,) = findings(layers(1.0), "gradients-apart", runs=1)
    assert found.node == "u"
    assert "dloss/dv is 4 on average, and one of dloss/du 4e-06: 1e+06 times less" in found.text


@pytest.mark.parametrize("document", [layers(1.0, "Adam")], ids=["Adam"])
def test_adam_makes_every_step_alike(document: Document) -> None:
    assert not findings(document, "gradients-apart", runs=1)


def test_networks_that_have_nothing_to_do_with_each_other_are_not_compared() -> None:
    document = layers(1e-7, apart=True)
    both = (TensorRef("sum"), TensorRef("beside"))
    document = document.with_(request=replace(document.request, of=both))
    assert not findings(document, "gradients-apart", runs=1)
