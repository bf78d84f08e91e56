"""Which feeds cut the way from one tensor to another."""

from __future__ import annotations

import pytest

from gradstep.core.checks.why.cutting_feeds import find_cutting_feeds
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.whys import graph_of


@pytest.fixture(scope="module")
def graph() -> Graph:
    """x → a → b → loss, x → c → loss; halves of y, of which one goes by way of d."""

    def build(b: GraphBuilder) -> None:
        x, y = b.placeholder("x", shape=[2]), b.placeholder("y", shape=[4])
        way = tf.exp(tf.exp(x, name="a"), name="b")
        tf.add(way, tf.exp(x, name="c"), name="loss")
        left, right = tf.split(y, 2, name="halves")
        tf.add(left, tf.exp(right, name="d"), name="other")

    return graph_of(build)


@pytest.mark.parametrize(
    ("of", "wrt", "fed", "cut"),
    [
        ("loss", "x", "", ""),
        ("loss", "x", "a", ""),  # another way is left
        ("loss", "x", "a c", "c a"),
        ("loss", "x", "a b c", "b c"),  # those nearest to what is asked about
        ("loss", "x", "b c y", "b c"),
        ("loss", "x", "loss", "loss"),
        ("loss", "a", "b", "b"),
        ("loss", "a", "b c", "b"),  # c does not follow a
        ("loss", "x", "x", ""),
        ("loss", "y", "a c", ""),  # there is no way anyway
        ("other", "halves:1", "d", "d"),  # the other half is another tensor
        ("other", "halves", "d", ""),
        ("other", "y", "d", ""),
    ],
)
def test_feeds_that_cut_the_way(graph: Graph, of: str, wrt: str, fed: str, cut: str) -> None:
    feeds = [TensorRef.parse(name) for name in fed.split()]
    found = find_cutting_feeds(graph, TensorRef.parse(of), TensorRef.parse(wrt), feeds)
    assert {ref.short for ref in found} == {*cut.split()}
    assert len(found) == len(cut.split())
