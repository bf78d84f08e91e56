"""Where a gradient grows or shrinks most, by hand."""

from __future__ import annotations

import numpy as np
import pytest

from core.checks.growth import Growth
from core.ops import api as tf
from core.ops.builder import GraphBuilder
from tests.support.whys import graph_of, why_gradient

X = [1, 2, 3]


def by(*factors: float) -> object:
    """loss = the sum of f3 · (f2 · (f1 · x))."""

    def build(b: GraphBuilder) -> None:
        y = b.placeholder("x", shape=[3])
        for number, factor in enumerate(factors, 1):
            y = tf.multiply(y, np.float32(factor), name=f"f{number}")
        tf.reduce_sum(y, name="loss")

    return graph_of(build)


@pytest.mark.parametrize(
    ("factors", "cause", "node", "said"),
    [
        ((10, 1e5), "exploding", "f2", "grows 1e+06 times, most of it at f2 (1e+05 times) and f1"),
        ((10, 9e4), "", None, ""),
        ((1e-5, 1e-2), "vanishing", "f1", "shrinks 1e-07 times, most of it at f1 (1e-05 times)"),
        ((1e-5, 1.1e-2), "", None, ""),
        ((1, 1), "", None, ""),
        ((1e7, 1, 0.9), "exploding", "f1", "9e+06 times, most of it at f1 (1e+07 times)."),
        ((-1e7,), "exploding", "f1", "grows 1e+07 times, most of it at f1 (1e+07 times)."),
    ],
)
def test_from_a_millionfold_on_it_is_said(
    factors: tuple[float, ...], cause: str, node: str | None, said: str
) -> None:
    found = why_gradient(by(*factors), "loss", "x", {"x": X})  # type: ignore[arg-type]
    assert (found.state, found.cause, found.node) == ("ok", cause, node)
    assert said in found.text
    assert ("most of it" in found.text) == bool(cause)


def test_no_more_than_three_are_named_and_none_that_does_nothing() -> None:
    grown = Growth(1e9, (("a", 100.0), ("b", 50.0), ("c", 20.0), ("d", 10.0)))
    assert grown.text == (
        "on its way back it grows 1e+09 times, most of it at a (100 times), b (50 times) and c "
        "(20 times)"
    )
    shrunk = Growth(1e-9, (("a", 1e-9), ("b", 0.9), ("c", 1.1)))
    assert shrunk.text == "on its way back it shrinks 1e-09 times, most of it at a (1e-09 times)"
    assert Growth(0.0, (("a", 0.0),)).cause == ""


def test_of_several_ways_the_strongest_is_gone() -> None:
    def build(b: GraphBuilder) -> None:
        x = b.placeholder("x", shape=[3])
        weak, strong = tf.multiply(x, 1e-3, name="weak"), tf.multiply(x, 1e7, name="strong")
        tf.reduce_sum(tf.add(weak, strong, name="both"), name="loss")

    found = why_gradient(graph_of(build), "loss", "x", {"x": X})
    assert (found.cause, found.node) == ("exploding", "strong")
    assert "weak" not in found.text


@pytest.mark.parametrize(("of", "node"), [("split", "weak"), ("split:1", "strong")])
def test_of_several_results_only_the_one_that_is_asked_about_is_followed(
    of: str, node: str
) -> None:
    def build(b: GraphBuilder) -> None:
        left, right = tf.split(b.placeholder("x", shape=[4]), 2, name="split")
        both = tf.multiply(left, 1e7, name="weak") + tf.multiply(right, 1e9, name="strong")
        tf.reduce_sum(both, name="loss")

    found = why_gradient(graph_of(build), "loss", of, {"x": [1, 2, 3, 4]})
    assert (found.cause, found.node) == ("exploding", node)
