"""Labels that are no class, and those that mean none on purpose."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import Constant
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings


def classified(labels: list[int], sparse: bool = False) -> Document:
    """Of three classes."""

    def draw(b: GraphBuilder) -> None:
        logits = b.variable("logits", shape=[2, 3])
        y = b.placeholder("y", DType.INT32, [2])
        if sparse:
            each = b.op("SparseSoftmaxCrossEntropyWithLogits", logits, y, name="each")[0]
        else:
            hot = b.one("OneHot", y, np.int32(3), 1.0, 0.0, name="hot")
            each = b.op("SoftmaxCrossEntropyWithLogits", logits, hot, name="each")[0]
        tf.reduce_sum(each, name="loss")

    feeds = {"y": Constant(np.array(labels, np.int32))}
    initial = {"logits": np.zeros((2, 3))}
    return drawn(draw, "loss", ["logits"], feeds=feeds, initial=initial)


@pytest.mark.parametrize("label", [3, -2])
def test_a_row_of_zeros(label: int) -> None:
    (found,) = findings(classified([0, label]), "label-range")
    assert (found.node, found.severity) == ("hot", "warning")
    assert "1 of 2 (50 %) of the labels in y are no class of the 3" in found.text
    assert f"{label} gives a row of zeros" in found.text


def test_a_sparse_label_fails_or_is_nan() -> None:
    (found,) = findings(classified([3, 0], sparse=True), "label-range")
    assert "fails on a CPU, and gives a loss of NaN on a GPU" in found.text


@pytest.mark.parametrize("labels", [[0, 2], [-1, 1]])
def test_classes_and_no_class_on_purpose_are_left_alone(labels: list[int]) -> None:
    assert not findings(classified(labels), "label-range")
