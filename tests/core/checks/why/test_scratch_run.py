"""Runs of their own, for one question."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.cancellation import Cancelled, cancelled_when
from gradstep.core.checks.why.scratch_run import run_to_end, scratch_session
from gradstep.core.engine.numpy_backend import NumpyBackend
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support.whys import graph_of

X = TensorRef("x")


def test_it_is_run_to_its_end_unless_it_is_cancelled() -> None:
    def build(b: GraphBuilder) -> None:
        tf.negative(b.placeholder("x", shape=[]), name="y")

    given = {X: np.float32(3), TensorRef("elsewhere"): np.float32(0)}
    session = scratch_session(graph_of(build), [TensorRef("y")], given, {}, NumpyBackend())
    with cancelled_when(lambda: True), pytest.raises(Cancelled):
        run_to_end(session)
    run_to_end(session)
    assert session.frame().value("y") == -3


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
