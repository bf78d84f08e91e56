"""What is to blame is told from what stands beside it: in branches, loops, and elements of many."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.core.checks.test_planted_causes import branch, product
from tests.support.whys import graph_of, why_gradient, why_value


def looped(
    body: Callable[[Tensor, Tensor, Tensor], Tensor], times: int = 5
) -> Callable[[GraphBuilder], object]:
    """loss = body(i, …body(0, x, c), c)."""

    def build(b: GraphBuilder) -> None:
        x, c = b.placeholder("x", shape=[]), b.placeholder("c", shape=[])
        turn = lambda i, a: (i + 1, body(i, a, c))  # noqa: E731
        tf.identity(tf.while_loop(lambda i, a: i < times, turn, (0, x))[1], name="loss")

    return build


def masked_or_doubled(flipped: bool) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    """The first three times one branch, then the other."""

    def body(i: Tensor, a: Tensor, c: Tensor) -> Tensor:
        branches = [
            lambda: tf.multiply(a, 2.0, name="twice"),
            lambda: tf.multiply(a, c, name="none"),
        ]
        first, then = reversed(branches) if flipped else branches
        return tf.cond(tf.less(i, 3), first, then)

    return body


@pytest.mark.parametrize(("flipped", "iteration"), [(False, 4), (True, 2)])
def test_a_branch_that_an_iteration_has_not_taken_is_no_way_back(
    flipped: bool, iteration: int
) -> None:
    """Nor what lies there from an iteration before."""
    graph = graph_of(looped(masked_or_doubled(flipped)))
    found = why_gradient(graph, "loss", "x", {"x": 1, "c": 0})
    told = (found.state, found.cause, found.node)
    assert told == ("zero", "zero_factor", "while/cond/none"), found.text
    assert found.chain[0].iterations == [(iteration, "while/While")]
    twice = why_gradient(graph, "loss", "x", {"x": 1, "c": 2})
    assert twice.state == "ok"


def test_a_branch_that_was_not_taken_is_no_other_way_back() -> None:
    def build(b: GraphBuilder) -> None:
        p, x, m = (b.placeholder("p", "bool", ()), *(b.placeholder(n, shape=[]) for n in "xm"))
        masked = lambda: tf.multiply(x, m, name="masked")  # noqa: E731
        tf.identity(tf.cond(p, lambda: tf.multiply(x, 2.0), masked), name="loss")

    found = why_gradient(graph_of(build), "loss", "x", {"x": 1, "m": 0, "p": np.array(False)})
    assert (found.cause, found.node) == ("zero_factor", "cond/masked")
    assert "other way" not in found.text


@pytest.mark.parametrize("lost", range(5))
def test_the_iteration_that_lets_no_gradient_through_is_named(lost: int) -> None:
    graph = graph_of(
        looped(lambda i, a, c: tf.multiply(a, tf.cast(tf.not_equal(i, lost), "float32"), name="m"))
    )
    found = why_gradient(graph, "loss", "x", {"x": 1, "c": 1})
    assert (found.cause, found.node) == ("zero_factor", "while/m")
    assert found.chain[0].iterations == [(lost, "while/While")]


def test_what_a_loop_reads_from_outside_is_the_operations_own_input() -> None:
    """The slope of its square is 0 there: it is no factor of it."""
    graph = graph_of(looped(lambda i, a, c: tf.add(a, tf.square(c, name="square"))))
    found = why_gradient(graph, "loss", "c", {"x": 1, "c": 0})
    assert (found.state, found.cause, found.node) == ("zero", "stationary", "while/square")
    assert found.chain[0].operand == "c" or found.chain[0].operand.startswith("while/")


def test_a_gradient_that_is_nan_by_what_an_iteration_computed() -> None:
    def root(i: Tensor, a: Tensor, c: Tensor) -> Tensor:
        return tf.sqrt(tf.subtract(a, tf.cast(i, "float32"), name="d"), name="root")

    found = why_gradient(graph_of(looped(root, 4)), "loss", "x", {"x": 16, "c": 1})
    assert (found.state, found.cause, found.node) == ("nan", "root_of_negative", "while/root")
    assert found.chain[0].iterations == [(2, "while/While")]


def test_a_tensor_in_a_loop_that_is_nan_once() -> None:
    def once(i: Tensor, a: Tensor, c: Tensor) -> Tensor:
        away = tf.abs(tf.cast(i, "float32") - 2.0)
        tf.sqrt(away - 0.5, name="root")
        return a + tf.where(away > 0.5, tf.sqrt(away - 0.5, name="kept"), tf.zeros_like(away))

    found = why_value(graph_of(looped(once)), "while/kept", {"x": 1, "c": 1}, fetch="loss")
    assert (found.state, found.node) == ("nan", "while/kept")
    assert found.chain[0].iterations == [(2, "while/While")]


def parts(b: GraphBuilder) -> None:
    x, y = (b.placeholder(name, shape=[3]) for name in ("x", "y"))
    both = tf.concat([tf.log(x, name="early"), tf.log(y, name="late")], 0, name="both")
    tf.slice(both, [3], [3], name="loss")


def test_a_nan_in_the_part_that_is_not_taken_is_not_to_blame() -> None:
    found = why_value(graph_of(parts), "loss", {"x": [-1, 1, 1], "y": [1, 1, -1]})
    assert (found.state, found.node, found.index) == ("nan", "late", [2])
    assert why_value(graph_of(parts), "loss", {"x": [-1, 1, 1], "y": [2, 3, 4]}).state == "ok"


@pytest.mark.parametrize("taken", [(0, 2), (2, 0), (2, 2), (1, 2)])
def test_the_first_of_all_elements_that_are_read_is_named(taken: tuple[int, int]) -> None:
    def build(b: GraphBuilder) -> None:
        logs = tf.log(b.placeholder("x", shape=[3]), name="log")
        first, second = (tf.slice(logs, [k], [1], name=f"from{n}") for n, k in enumerate(taken))
        tf.reduce_sum(tf.add(first, second, name="sum"), name="loss")

    found = why_value(graph_of(build), "loss", {"x": [-1, 1, -3]})
    assert (found.node, found.index) == ("log", [min({0, 2} & {*taken})])


@pytest.mark.parametrize(
    ("of", "values", "said"),
    [
        ("x", [1, 2, 3], "x is finite and not zero: it lies in [1, 3]."),
        ("x", [0, 0, 0], "x is zero: x holds 0 at index [0]: it was fed. To mend it, mend the "
         "feed."),
        ("x", [2, 0, np.inf], "x is infinite: x holds infinity at index [2]: it was fed. To mend "
         "it, mend the feed."),
    ],
)  # fmt: skip
def test_what_was_fed_itself(of: str, values: Any, said: str) -> None:
    found = why_value(graph_of(product), of, {"x": values, "mask": [1, 1, 1]}, fetch="loss")
    assert found.text == said


def test_beside_a_branch_that_was_not_taken() -> None:
    """What was fed has its value, although the last step was left out."""
    found = why_value(graph_of(branch), "x", {"x": 1, "p": np.array(False)}, fetch="cond/twice")
    assert found.text == "x is finite and not zero: it is 1."


def test_an_element_that_was_not_chosen_is_not_to_blame() -> None:
    def build(b: GraphBuilder) -> None:
        x, y = (b.placeholder(name, shape=[3]) for name in ("x", "y"))
        taken = np.array([True, False, True])
        tf.where(taken, tf.log(x, name="early"), tf.log(y, name="late"), name="loss")

    found = why_value(graph_of(build), "loss", {"x": [1, -1, -1], "y": [1, -1, 1]})
    assert (found.node, found.index) == ("early", [2])


@pytest.mark.parametrize(("taken", "node"), [(True, "cond/log"), (False, "cond/root")])
def test_a_nan_comes_from_the_branch_that_was_taken(taken: bool, node: str) -> None:
    def build(b: GraphBuilder) -> None:
        p, x = b.placeholder("p", "bool", ()), b.placeholder("x", shape=[])
        log, root = lambda: tf.log(x, name="log"), lambda: tf.sqrt(x, name="root")
        tf.identity(tf.cond(p, log, root), name="loss")

    found = why_value(graph_of(build), "loss", {"x": -1, "p": np.array(taken)})
    assert (found.state, found.node) == ("nan", node)
