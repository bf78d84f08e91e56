"""Inputs of other sizes than 1, or of columns that are far apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from gradstep.core.checks.doctor.examined_document import Examined
from gradstep.core.document.document import Document, Optimizer
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.diagnosing import drawn, findings

CODE = "unscaled-input"
PIXELS = np.linspace(0, 255, 24, dtype=np.float32).reshape(12, 2)
APART = np.stack([np.linspace(-1, 1, 12), np.linspace(-1e-4, 1e-4, 12)], axis=1)


def layer(
    x: np.ndarray, before: Callable[[Tensor], Tensor] = lambda x: x, is_trained: bool = True
) -> Document:
    def draw(b: GraphBuilder) -> None:
        data = before(b.placeholder("x", shape=[None, 2]))
        h = tf.matmul(data, b.variable("w", shape=[2, 3]), name="h")
        tf.reduce_mean(tf.square(tf.tanh(h)), name="loss")

    rates = (Optimizer("GradientDescent", {"learning_rate": 1e-3}),) if is_trained else ()
    return drawn(
        draw, "loss", ["w"], initial={"w": np.full((2, 3), 0.1)}, feeds={"x": x}, optimizers=rates
    )


def test_pixels() -> None:
    (found,) = findings(layer(PIXELS), CODE, runs=1)
    assert found.node == "h"
    assert "x, which h multiplies by w, has numbers from 0 to 255" in found.text
    size = np.sqrt(np.mean(PIXELS.astype(np.float64) ** 2))
    assert f"a root mean square of {size:.3g}" in found.text


def test_columns_that_are_far_apart() -> None:
    (found,) = findings(layer(APART), CODE, runs=1)
    assert "column 0 of x varies by 0.63" in found.text
    assert "column 1 by 6.3e-05" in found.text


def test_what_is_reshaped_on_the_way_is_the_same_data() -> None:
    document = layer(PIXELS, lambda x: tf.reshape(x, [-1, 2]))
    assert [found.node for found in findings(document, CODE, runs=1)] == ["h"]


@pytest.mark.parametrize(
    "document",
    [
        layer(PIXELS / 255),
        layer(PIXELS, lambda x: x / 255.0),
        layer(PIXELS[:4]),
        layer(PIXELS, is_trained=False),
        layer(np.stack([np.linspace(-1, 1, 12), np.full(12, 1.0)], axis=1)),
    ],
    ids=["scaled", "scaled in the graph", "few rows", "not trained", "a constant column"],
)
def test_nothing_is_said_where_nothing_learns_worse(document: Document) -> None:
    assert not findings(document, CODE, runs=1)


def test_what_a_variable_has_made_is_no_data() -> None:
    def draw(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[None, 2])
        scaled = x * b.variable("scale", shape=[2])
        h = tf.matmul(scaled, b.variable("w", shape=[2, 3]), name="h")
        tf.reduce_mean(tf.square(h), name="loss")

    document = drawn(
        draw,
        "loss",
        ["w"],
        initial={"w": np.ones((2, 3)), "scale": [1.0, 1.0]},
        feeds={"x": PIXELS},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 1e-9}),),
    )
    assert not findings(document, CODE, runs=1)


def test_of_many_layers_what_is_before_each_is_not_looked_through(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else a deep network takes as its square."""
    depth, looked, sources = 40, list[int](), Examined.sources

    def counted(x: Examined, names: Iterable[str]) -> set[str]:
        found = sources(x, names)
        looked.append(len(found))
        return found

    def draw(b: GraphBuilder) -> None:
        h = b.placeholder("x", shape=[None, 2])
        for number in range(depth):
            h = tf.tanh(tf.matmul(h, b.variable(f"w{number}", shape=[2, 2]), name=f"h{number}"))
        tf.reduce_mean(tf.square(h), name="loss")

    names = [f"w{number}" for number in range(depth)]
    document = drawn(
        draw,
        "loss",
        names,
        initial={name: np.eye(2) for name in names},
        feeds={"x": PIXELS},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 1e-3}),),
    )
    monkeypatch.setattr(Examined, "sources", counted)
    assert [found.node for found in findings(document, CODE, runs=1)] == ["h0"]
    assert sum(looked) < 2 * len(document.graph)
