"""Dead and saturated units of hidden layers: the share, and since when."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings

X = np.tile(np.linspace(-1, 1, 16).reshape(8, 2), (4, 1))
HIDDEN = {"relu": tf.nn.relu, "sigmoid": tf.sigmoid, "tanh": tf.tanh}


def network(
    kind: str, bias: list[float], rows: int = 8, rate: float = 0.0, **how: bool
) -> Document:
    """Two inputs, four hidden units with these biases, one output. last: no layer after them."""

    def draw(b: GraphBuilder) -> None:
        x, w = b.placeholder("x", shape=[rows, 2]), b.variable("w", shape=[2, 4])
        c, v = b.variable("c", shape=[4]), b.variable("v", shape=[4, 1])
        inner = tf.add(tf.matmul(x, w, name="m"), c, name="a")
        h = HIDDEN[kind](inner, name="h")
        y = h if how.get("last") else tf.matmul(h, v, name="y")
        tf.reduce_mean(tf.square(y, name="s"), name="loss")

    start = {"w": np.ones((2, 4)) * 0.1, "c": np.array(bias), "v": np.ones((4, 1))}
    sgd = Optimizer("GradientDescent", {"learning_rate": rate})
    wrt = ["w", "c"] if how.get("last") else ["w", "c", "v"]
    feeds = {"x": X[:rows]}
    return drawn(draw, "loss", wrt, initial=start, feeds=feeds, optimizers=(sgd,))


DEAD = [-9.0, -9.0, -9.0, 9.0]


def test_units_that_are_0_for_every_row_are_dead() -> None:
    (found,) = findings(network("relu", DEAD), "dead-units", runs=1)
    assert found.node == "h"
    assert "3 of 4 (75 %) of the units of h give 0 for each of the 8 rows" in found.text
    assert "since run" not in found.text


@pytest.mark.parametrize(("rows", "expected"), [(8, 0), (31, 0), (32, 1)])
def test_half_of_them_are_so_by_chance_where_rows_are_few(rows: int, expected: int) -> None:
    half = network("relu", [-9.0, -9.0, 9.0, 9.0], rows)
    assert len(findings(half, "dead-units", runs=1)) == expected


def test_they_have_been_so_since_the_first_run_that_is_recorded() -> None:
    (found,) = findings(network("relu", DEAD), "dead-units", runs=4)
    assert "of the batch, since run 1:" in found.text


def test_a_step_that_kills_them_is_named() -> None:
    """One step of a rate that is much too high brings the biases far below 0."""
    (found,) = findings(network("relu", [0.5] * 4, rate=5.0), "dead-units", runs=5)
    assert "since run 2:" in found.text


def test_since_when_is_said_of_all_of_them() -> None:
    """One was dead before the step that killed the others."""
    (found,) = findings(network("relu", [-9.0, 0.5, 0.5, 0.5], rate=9.0), "dead-units", runs=4)
    assert "4 of 4 (100 %)" in found.text
    assert "since run 2:" in found.text


@pytest.mark.parametrize(
    "document",
    [
        network("relu", [9.0, 9.0, 9.0, -9.0]),
        network("relu", [0.0] * 4),
        network("relu", DEAD, rows=4),
        network("relu", DEAD).with_(optimizers=()),
    ],
    ids=["a few", "some rows", "few rows", "not trained"],
)
def test_living_units_are_left_alone(document: Document) -> None:
    assert not findings(document, "dead-units", runs=1)


def test_without_a_run_nothing_is_known() -> None:
    assert not findings(network("relu", DEAD), "dead-units")


@pytest.mark.parametrize("kind", ["sigmoid", "tanh"])
def test_where_they_are_flat_they_are_saturated(kind: str) -> None:
    (found,) = findings(network(kind, [9.0, -9.0, 9.0, 9.0]), "saturated-units", runs=1)
    assert "32 of 32 (100 %) of the numbers of h" in found.text


@pytest.mark.parametrize("kind", ["sigmoid", "tanh"])
def test_in_the_middle_and_at_the_end_they_are_not(kind: str) -> None:
    flat = [9.0, -9.0, 9.0, 9.0]
    assert not findings(network(kind, [0.0] * 4), "saturated-units", runs=1)
    assert not findings(network(kind, flat, last=True), "saturated-units", runs=1)
    assert not findings(network(kind, flat, rows=4), "saturated-units", runs=1)
