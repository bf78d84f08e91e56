"""Deleting out of the middle: what read the deleted reads what they read, where types allow."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.document.reconnection import remove_and_reconnect
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import anywhere, within
from gradstep.core.graph.model import Edge
from gradstep.core.graph.scopes import is_inside
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder


@pytest.fixture
def chain() -> Document:
    """x → hidden → relu → bias (which adds b) → both of y and z; labels, of other elements."""
    builder = GraphBuilder()
    with builder.as_default():
        x, w = (builder.placeholder(name, shape=(4, 4)) for name in "xw")
        b = builder.placeholder("b", shape=(4,))
        hidden = tf.matmul(x, w, name="hidden")
        relu = tf.nn.relu(hidden, name="relu")
        bias = tf.add(b, relu, name="bias")
        tf.matmul(bias, w, name="y")
        tf.exp(bias, name="z")
        labels = tf.argmax(bias, axis=1, name="labels")
        tf.gather(b, labels, name="picked")
    return Document(graph=builder.build())


def inputs(document: Document, name: str) -> list[str]:
    return ["" if ref is None else str(ref.op) for ref in document.graph[name].inputs]


def test_a_node_out_of_a_chain_leaves_a_chain(chain: Document) -> None:
    document, left_open = remove_and_reconnect(chain, ["relu"])
    assert "relu" not in document.graph
    assert inputs(document, "bias") == ["b", "hidden"]
    assert left_open == ()


def test_the_input_of_the_outputs_own_type_comes_before_others(chain: Document) -> None:
    document, _ = remove_and_reconnect(chain, ["bias"])
    assert [inputs(document, name) for name in ("y", "z")] == [["relu", "w"], ["relu"]]


def test_several_in_a_row_and_apart(chain: Document) -> None:
    document, _ = remove_and_reconnect(chain, ["hidden", "bias"])
    assert [inputs(document, name) for name in ("relu", "z")] == [["x"], ["relu"]]
    document, _ = remove_and_reconnect(chain, ["bias", "hidden", "relu", "x"])
    assert inputs(document, "z") == ["w"], "of what stays, as x goes, too"


def test_what_does_not_fit_is_left_open(chain: Document) -> None:
    """As after any other deletion, and told."""
    document, left_open = remove_and_reconnect(chain, ["labels"])
    assert inputs(document, "picked")[:2] == ["b", ""]
    assert left_open == (Edge("picked", 1),)
    document, left_open = remove_and_reconnect(chain, ["x"])
    assert (inputs(document, "hidden"), left_open) == (["", "w"], (Edge("hidden", 0),))


def test_in_and_around_a_loop() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=())
        inner = lambda i, y: (i + 1, tf.negative(y, name="inner") * tf.exp(x, name="e"))  # noqa: E731
        _, y = tf.while_loop(lambda i, y: i < 3, inner, [0, tf.identity(x, name="start")])
        tf.sqrt(y, name="root")
    document = Document(graph=builder.build())
    (product,) = (op.name for op in within(document.graph) if op.type == "Mul")
    smaller, left_open = remove_and_reconnect(document, ["while/inner"])
    assert left_open == ()
    before = anywhere(document.graph, "while/inner").inputs[0]
    assert anywhere(smaller.graph, product).inputs[0] == before

    every = [name for name in document.graph.operations if is_inside(name, "while")]
    smaller, left_open = remove_and_reconnect(document, every)
    assert inputs(smaller, "root") == ["start"], "what the variable starts with"
    assert left_open == ()


def test_what_holds_a_loop_together_stays() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        tf.while_loop(lambda i: i < 3, lambda i: (i + 1,), [0])
    document = Document(graph=builder.build())
    with pytest.raises(GradstepError, match="holds the loop"):
        remove_and_reconnect(document, ["while/Merge"])


def test_a_long_chain_takes_no_longer_than_it_is_long() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        tensor = builder.constant(np.zeros(3, np.float32), name="first")
        names = []
        for _ in range(1500):
            tensor = tf.add(tensor, tensor)
            names.append(tensor.ref.op)
        tf.exp(tensor, name="last")
    document, _ = remove_and_reconnect(Document(graph=builder.build()), names)
    assert inputs(document, "last") == ["first"]
