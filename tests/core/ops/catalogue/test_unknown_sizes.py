"""Tensors whose sizes depend on values: other sizes in other runs, recorded and stepped through."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.differentiate import differentiate
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.debug.motion.debug_session import DebugSession
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.dtypes import UNKNOWN, Shape
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder

VECTORS = ([1.0, -2.0, 3.0], [0.5], [2.0, 2.0, -1.0, 4.0, 5.0], [], [-1.0, -1.0])


@pytest.mark.parametrize("shape", [Shape.of(None), UNKNOWN])
def test_one_session_runs_every_size(shape: Shape) -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", "float32", shape)
        positive = tf.gather_nd(x, tf.where(x > 0.0))
        distinct, which = tf.unique(tf.cast(x, "int32"))
        small, large = tf.dynamic_partition(x * 6.0, tf.cast(x > 1.0, "int32"), 2)
        joined = tf.concat([small, large, positive], 0)
        loss = tf.reduce_sum(tf.square(joined))
    found = differentiate(builder.build(), GradientRequest((loss.ref,), (x.ref,)))
    session = Session(found.graph)
    fetches = [joined.ref, distinct.ref, which.ref, found.gradients[x.ref]]
    for values in VECTORS * 2:
        given = np.array(values, np.float32)
        results = session.run(fetches, {"x": given})
        parts = 6 * given[given <= 1], 6 * given[given > 1], given[given > 0]
        np.testing.assert_allclose(results[0], np.concatenate(parts), rtol=1e-6)
        np.testing.assert_array_equal(results[1][results[2]], given.astype(np.int32))
        wanted = 72 * given + np.where(given > 0, 2 * given, 0)
        np.testing.assert_allclose(results[3], wanted, rtol=1e-6)


def _growing() -> tuple[GraphBuilder, list[str]]:
    """What is below a variable that each run raises by 1, and what is not."""
    builder = GraphBuilder()
    with builder.as_default():
        bound = builder.variable("bound", "float32", ())
        x = builder.constant(np.arange(6, dtype=np.float32))
        below = tf.less(x, bound + 0.0)
        rest, chosen = tf.dynamic_partition(x, tf.cast(below, "int32"), 2)
        total = tf.reduce_sum(tf.gather_nd(x, tf.where(below)))
        with builder.control_dependencies([total.op.name]):
            builder.one("AssignAdd", bound, builder.constant(np.float32(1)), name="raise")
    return builder, [str(t.ref) for t in (rest, chosen, total)]


def _debugged() -> tuple[DebugSession, Sequence[str]]:
    builder, names = _growing()
    graph = builder.build()
    fetches = tuple(builder.get(name).ref for name in names)
    initial = {"bound": np.array(2, np.float32)}
    program = Program(graph, graph, fetches=fetches, targets=("raise",), initial=initial)
    return DebugSession(program), names


def _below(bound: int) -> tuple[list[float], list[float], float]:
    numbers = [float(i) for i in range(6)]
    return numbers[bound:], numbers[:bound], float(sum(numbers[:bound]))


def test_recorded_runs_keep_their_own_sizes() -> None:
    session, names = _debugged()
    for run in range(3):
        if run:
            session.step()  # into the next run
        session.continue_()
        assert session.stop.run == run
    for run in range(3):
        frame = session.frame(run, session.timeline.length)
        found = tuple(frame.value(name).tolist() for name in names)
        assert found == _below(2 + run)


def test_stepping_back_and_on_again_gives_the_same_sizes() -> None:
    session, names = _debugged()
    session.continue_()
    session.step()
    session.continue_()
    for _ in range(4):
        session.step_back()
    session.continue_()
    frame = session.frame()
    assert tuple(frame.value(name).tolist() for name in names) == _below(3)
    assert session.frame(0, 1).value(names[0]) is None  # not there yet
