"""Predictions that are judged behind a dropout which is always on."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings

CODE = "dropout-in-judgement"


def classifier(rate: str = "constant", judged: str = "dropped") -> Document:
    """rate: "constant" or "fed"; judged: the logits behind the dropout, or those without."""

    def draw(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[4, 3])
        w = b.variable("w", shape=[3, 2])
        keep = b.placeholder("keep", shape=[]) if rate == "fed" else np.float32(0.5)
        with b.as_default():
            draws = tf.random_uniform([4, 3], seed=3)
        mask = tf.cast(tf.greater_equal(draws, keep), "float32")
        dropped = tf.matmul(tf.multiply(x, mask, name="drop"), w)
        tf.reduce_mean(tf.square(dropped), name="loss")
        tf.argmax(dropped if judged == "dropped" else tf.matmul(x, w), 1, name="best")

    feeds = {"x": np.ones((4, 3))} | ({"keep": 0.5} if rate == "fed" else {})
    return drawn(
        draw,
        "loss",
        ["w"],
        initial={"w": np.ones((3, 2))},
        feeds=feeds,
        fetches=["best:0", "loss:0"],
    )


def test_the_choice_is_named_with_the_dropout() -> None:
    (found,) = findings(classifier(), CODE)
    assert (found.node, found.severity) == ("best", "info")
    assert "best (ArgMax) judges predictions that went through the dropout drop" in found.text


@pytest.mark.parametrize(
    "document", [classifier("fed"), classifier(judged="all")], ids=["a rate that is fed", "without"]
)
def test_nothing_is_said_of_what_can_be_judged_without(document: Document) -> None:
    assert not findings(document, CODE)
