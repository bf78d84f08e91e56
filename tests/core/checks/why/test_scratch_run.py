"""Runs of their own, for one question."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.checks.why import scratch_run
from gradstep.core.checks.why.scratch_run import run_to_end, scratch_session
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.whys import graph_of

X = TensorRef("x")


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_it_is_run_to_its_end_however_long(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two steps at once; who wants it may stop it in between."""
    monkeypatch.setattr(scratch_run, "_AT_ONCE", 2)

    def build(b: GraphBuilder) -> None:
        y = b.placeholder("x", shape=[])
        for number in range(length):
            y = tf.negative(y, name=f"y{number}")

    graph, last, asked = graph_of(build), TensorRef(f"y{length - 1}"), []
    given = {X: np.float32(3), TensorRef("elsewhere"): np.float32(0)}
    session = scratch_session(graph, [last], given, {}, NumpyBackend())
    run_to_end(session, lambda: asked.append(session.stop.step))
    assert session.frame().value(last.op) == 3 * (-1) ** length
    assert asked == list(range(0, session.timeline.length, 2))


def test_variables_hold_what_is_given_or_kept() -> None:
    def build(b: GraphBuilder) -> None:
        v, w = b.variable("v", shape=[]), b.variable("w", shape=[])
        tf.add(v, w, name="y")

    given = {TensorRef("v"): np.float32(3), TensorRef("w"): np.float32(4)}
    kept = {"w": np.float32(10), "elsewhere": np.float32(1), "v": None}
    for start, total in (({}, 7), (kept, 13)):
        session = scratch_session(
            graph_of(build), [TensorRef("y")], given, {}, NumpyBackend(), start
        )
        run_to_end(session)
        assert session.frame().value("y") == total


def test_a_run_that_fails_says_why() -> None:
    def build(b: GraphBuilder) -> None:
        v = b.variable("v", shape=[])
        tf.negative(v, name="y")

    session = scratch_session(graph_of(build), [TensorRef("y")], {}, {}, NumpyBackend())
    with pytest.raises(GradstepError):
        run_to_end(session)
