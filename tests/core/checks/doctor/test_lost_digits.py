"""What is added and rounded away: counters that stand still, float16 weights, long sums."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.graph.model import Constant
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings

CODE = "lost-digits"


def counter(start: float, dtype: str = "float32", added: float = 1.0) -> Document:
    def draw(b: GraphBuilder) -> None:
        count = b.variable("count", dtype=dtype, shape=[])
        b.one("AssignAdd", count, np.array(added, dtype), name="add")

    return drawn(draw, initial={"count": Constant(np.array(start, dtype))}, targets=("add",))


def weights(dtype: str, slope: float) -> Document:
    """One step of 0.01 times `slope` from 1."""

    def draw(b: GraphBuilder) -> None:
        w = b.variable("w", dtype=dtype, shape=[3])
        tf.reduce_sum(tf.multiply(w, np.full(3, slope, dtype)), name="loss")

    return drawn(
        draw,
        "loss",
        ["w"],
        initial={"w": Constant(np.ones(3, dtype))},
        optimizers=(Optimizer("GradientDescent", {"learning_rate": 0.01}),),
    )


def column(values: np.ndarray, kind: str = "reduce_sum") -> Document:
    """Of the rows of a matrix: NumPy adds them one after the other."""

    def draw(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[None, 2])
        getattr(tf, kind)(x, 0, name="total")

    return drawn(draw, feeds={"x": values}, fetches=["total:0"])


def test_a_counter_that_can_count_no_further() -> None:
    (found,) = findings(counter(2.0**24), CODE, runs=1)
    assert found.node == "count"
    assert "16777216 and 1 give 16777216 in float32" in found.text


@pytest.mark.parametrize(
    "document",
    [
        counter(2.0**24 - 8),
        counter(2.0**24, "float64"),
        counter(2.0**24, "int32"),
        counter(1, added=0),
    ],
    ids=["smaller", "float64", "int32", "nothing is added"],
)
def test_others_go_on(document: Document) -> None:
    assert not findings(document, CODE, runs=1)


def test_weights_of_16_bits_that_are_not_moved() -> None:
    (found,) = findings(weights("float16", 0.02), CODE, runs=1)
    assert (
        "adds to w and leaves 3 of 3 (100 %) of the elements as they were: 1 and -0.0002 give 1"
        in found.text
    )
    assert "in float16" in found.text
    assert not findings(weights("float16", 0.3), CODE, runs=1)
    assert not findings(weights("float32", 1e-7), CODE, runs=1)


@pytest.mark.parametrize("kind", ["reduce_sum", "reduce_mean"])
def test_a_long_sum_that_is_another_in_float64(kind: str) -> None:
    values = np.full((400_000, 2), 0.1, np.float32)
    (found,) = findings(column(values, kind), CODE, runs=1)
    assert found.node == "total"
    assert "of 400,000 numbers in float32 gives" in found.text
    exact = 400_000 * float(np.float32(0.1)) / (400_000 if kind == "reduce_mean" else 1)
    assert f"in float64 they give {exact:.8g}" in found.text


def test_a_short_one_is_not_computed_again() -> None:
    assert not findings(column(np.full((4000, 2), 0.1, np.float32)), CODE, runs=1)
