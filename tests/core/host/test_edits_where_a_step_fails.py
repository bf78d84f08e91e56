"""Where a step fails, an edit keeps nothing of what was open before it: an error has the frames
that it came through, and those had the document at hand."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from gradstep.core.document.document import Document
from gradstep.core.graph.model import Constant, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.core.host.test_edits import Editor

ONE, NOTHING = np.ones(1, np.int32), np.zeros(1, np.int32)


def dividing(is_fed: bool) -> tuple[Document, str]:
    """By a constant, whose name it is: what is fed, or another constant; then the quotient is found
    before any run."""
    builder = GraphBuilder()
    with builder.as_default():
        x, by = builder.placeholder("x", dtype="int32", shape=[1]), tf.constant(ONE)
        of = x if is_fed else tf.constant(ONE)
        (quotient,) = builder.op("FloorDiv", of, by, name="it")
        builder.op("AddV2", quotient, x, name="then")
    feeds = {"x": Constant(ONE)}
    return Document(graph=builder.build(), feeds=feeds, fetches=(TensorRef("then"),)), by.ref.op


@pytest.mark.parametrize("is_fed", [True, False])
def test_what_was_open_before_an_edit_goes(is_fed: bool) -> None:
    user = Editor()
    document, by = dividing(is_fed)
    user.open(document, trusted=True, limit=2 << 30)
    user.control("continue_")
    user.edit("set_attr", (by, "value", Constant(NOTHING)))
    before = []
    for number in range(3):
        assert user.stop is not None
        assert (user.stop.op, user.stop.reason) == ("it", "exception")
        before.append(weakref.ref(user.service._service._threads))
        user.edit("set_attr", ("then", "_note", f"edit {number}"))
    gc.collect()
    assert [each() for each in before] == [None] * 3
