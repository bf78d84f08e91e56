"""Waits that order nothing, and those that do."""

from __future__ import annotations

import pytest

from gradstep.core.document.document import Document
from gradstep.core.document.lint_remedies import mend
from gradstep.core.graph import edits
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.diagnosing import drawn, findings

CODE = "idle-wait"


def waiting(kind: str) -> Document:
    """`out` waits for something."""

    def draw(b: GraphBuilder) -> None:
        v, c = b.variable("v"), b.constant(2.0, name="c")
        pure = tf.square(c, name="pure")
        update = b.one("AssignAdd", v, 1.0, name="update")
        far = tf.negative(tf.square(pure, name="on"), name="far")
        before = {"pure": "pure", "chain": "pure", "update": "update", "value": "v2"}
        tf.identity(v, name="v2")
        source = c if kind in ("pure", "update", "value") else far
        with b.control_dependencies([before[kind]] if kind in before else []):
            tf.identity(source, name="out")
        assert update is not None

    document = drawn(draw, fetches=["out"], targets=("update",), initial={"v": 1.0})
    read = edits.add_control(document.graph, "out", "far")  # which a builder leaves out
    return document.with_(graph=read) if kind == "read" else document


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("read", "out reads far"),
        ("chain", "out is computed from pure"),
        ("pure", "pure only computes"),
    ],
)
def test_a_wait_that_orders_nothing_is_taken_away(kind: str, why: str) -> None:
    document = waiting(kind)
    (found,) = findings(document, CODE)
    assert found.node == "out"
    assert why in found.text
    assert found.remedy is not None
    assert not findings(mend(document, found.remedy.kind, found.remedy.names), CODE)


@pytest.mark.parametrize("kind", ["update", "value"])
def test_waiting_for_an_update_or_a_read_of_a_variable_is_an_order(kind: str) -> None:
    assert not findings(waiting(kind), CODE)
