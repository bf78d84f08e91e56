"""Where a gradient grows or shrinks most, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.checks.why.gradient_growth import LARGE, SMALL, Growth, growth
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.each_case import each_of
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


@each_of(
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


@pytest.mark.parametrize(
    ("total", "cause"),
    [(LARGE, "exploding"), (0.99 * LARGE, ""), (SMALL, "vanishing"), (1.01 * SMALL, ""), (0, "")],
)
def test_from_where_on_it_has_a_name(total: float, cause: str) -> None:
    assert Growth(total, (("a", total),)).cause == cause
    fitted = "fitted" if cause == "vanishing" else cause
    assert Growth(total, (("a", total),), "a").cause == fitted


@each_of(
    ("factor", "is_named"),
    [(0.5, True), (0.8, True), (0.81, False), (1, False), (1.24, False), (1.25, True), (2, True)],
)
def test_what_does_a_little_is_not_named(factor: float, is_named: bool) -> None:
    assert ("b (" in Growth(1e9, (("a", 1e9), ("b", factor))).text) == is_named


def test_words_for_more_and_for_less() -> None:
    assert "it grows 2 times" in Growth(2, (("a", 2),)).text
    assert "it shrinks 0.5 times" in Growth(0.5, (("a", 0.5),)).text


def two_halves() -> Graph:
    def build(b: GraphBuilder) -> None:
        left, right = tf.split(b.placeholder("x", shape=[4]), 2, name="split")
        both = tf.multiply(left, 2.0, name="twice") + tf.multiply(right, 3.0, name="thrice")
        tf.reduce_sum(both, name="loss")

    return graph_of(build)


def grown(sizes: dict[str, float], wrt: str = "split") -> Growth | None:
    """sizes: of the gradient of a tensor, or of what came over a wire: "twice/0"; else 1."""
    graph = two_halves()
    derived = differentiate(graph, GradientRequest.to("loss", wrt), {})
    named = {str(g.short): x.short for x, g in derived.gradients.items()}
    named |= {
        g.short: f"{e.op}/{e.index}" for e, g in derived.edges.items() if g.short not in named
    }

    def value(ref: TensorRef) -> np.ndarray | None:
        size = sizes.get(named[ref.short], 1.0)
        return None if size is None else np.array([0.0, -size])

    return growth(graph, derived, TensorRef.parse(wrt), value)


def test_it_is_held_against_what_it_begins_with() -> None:
    """And each operation against what arrived at it."""
    found = grown({"loss": 4.0, "split": 8.0, "twice": 4.0})
    assert found is not None
    assert found.total == 2.0
    assert dict(found.by)["twice"] == 2.0


@pytest.mark.parametrize("nothing", ["loss", "split"])
def test_without_numbers_there_is_nothing_to_hold(nothing: str) -> None:
    assert grown({nothing: 0.0}) is None
    assert grown({nothing: float("nan")}) is not None
    assert grown({}) is not None


@each_of(
    ("factor", "x", "then", "cause", "node"),
    [
        (1, 1e-9, tf.identity, "fitted", "square"),
        (1, 1e-9, lambda y: tf.multiply(y, 0.5), "fitted", "square"),
        (1, 1e-9, tf.tanh, "vanishing", "square"),  # no loss, but what a unit makes
        (1e-9, 1e8, tf.identity, "vanishing", "small"),
        (1e-8, 1e7, tf.identity, "vanishing", "small"),
        (5e-8, 0.1, tf.identity, "vanishing", "square"),  # by both
    ],
)
def test_what_is_small_as_the_loss_is(
    factor: float, x: float, then: Any, cause: str, node: str
) -> None:
    """Not where something else shrinks it."""

    def build(b: GraphBuilder) -> None:
        small = tf.multiply(b.placeholder("x", shape=[2]), np.float32(factor), name="small")
        tf.reduce_sum(then(tf.square(small, name="square")), name="loss")

    found = why_gradient(graph_of(build), "loss", "x", {"x": [x, -x]})
    assert (found.cause, found.node) == (cause, node)
    said = "there is next to nothing left to learn: what square measures is almost 0."
    assert found.text.endswith(said) == (cause == "fitted")


def test_nothing_grows_where_there_is_no_way_to_go() -> None:
    found = why_gradient(by(2), "loss", "loss", {"x": X})  # type: ignore[arg-type]
    assert (found.state, found.cause) == ("ok", "")


def test_a_prediction_that_is_the_label_almost() -> None:
    def build(b: GraphBuilder) -> None:
        labels = np.array([[1, 0, 0]], np.float32)
        x = b.placeholder("x", shape=[1, 3])
        tf.reduce_sum(
            b.op("SoftmaxCrossEntropyWithLogits", x, labels, name="entropy")[0], name="loss"
        )

    found = why_gradient(graph_of(build), "loss", "x", {"x": [[20, 0, 0]]})
    assert (found.state, found.cause, found.node) == ("ok", "fitted", "entropy")
