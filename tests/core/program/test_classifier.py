"""Which output and which labels a loss tells, as graphs are written."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from gradstep.core.errors import GradstepError
from gradstep.core.ops.api import tf_cross_entropies as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.program.classifier import classifier_of


@pytest.mark.parametrize(
    ("kind", "loss", "labels_type", "labels_shape"),
    [
        ("softmax", tf.softmax_cross_entropy_with_logits_v2, "float32", (None, 3)),
        ("sparse", tf.sparse_softmax_cross_entropy_with_logits, "int32", (None,)),
        ("sigmoid", tf.sigmoid_cross_entropy_with_logits, "float32", (None, 3)),
    ],
)
def test_output_and_labels_are_the_cross_entropys_inputs(
    kind: str, loss: Callable[..., Tensor], labels_type: str, labels_shape: tuple[int | None, ...]
) -> None:
    g = GraphBuilder()
    logits = g.placeholder("out", "float32", (None, 3))
    labels = g.placeholder("wanted", labels_type, labels_shape)
    each = loss(labels=labels, logits=logits)
    mean = g.one("Mean", each * 2.0, g.constant(0, "int32"), name="mean")
    found = classifier_of(g.build(), [mean.ref])
    assert (found.kind, found.logits, found.labels) == (kind, logits.ref, labels.ref)
    assert found.losses.op == each.ref.op


def test_what_cannot_be_told_is_said_in_a_line() -> None:
    g = GraphBuilder()
    x = g.placeholder("x", "float32", (None,))
    z = g.placeholder("z", "float32", (None,))
    square = g.one("Square", x - z, name="square")
    one = tf.sigmoid_cross_entropy_with_logits(labels=z, logits=x, name="one")
    two = tf.sigmoid_cross_entropy_with_logits(labels=z, logits=square, name="two")
    both = g.one("Add", one, two, name="both")
    graph = g.build()
    for losses, words in (
        ([], "nothing is minimized"),
        ([square.ref], "no cross-entropy behind square"),
        ([both.ref], "several cross-entropies are behind both: one, two"),
    ):
        with pytest.raises(GradstepError, match=words) as failed:
            classifier_of(graph, losses)
        assert failed.value.hint
