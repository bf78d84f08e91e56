"""Updates that nothing runs: moving averages, and any other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from gradstep.core.document.document import Document, Optimizer
from gradstep.core.document.lint_remedies import mend
from gradstep.core.graph.model import Graph
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder
from tests.support import tensorflow_graphs
from tests.support.diagnosing import drawn, findings

SGD = (Optimizer("GradientDescent", {"learning_rate": 0.1}),)
X = [[1.0], [3.0]]


def normalised(b: GraphBuilder, waits: bool = False) -> None:
    """y = w (x - mean of the batch), and a moving average of that mean."""
    x, w, average = b.placeholder("x", shape=[2, 1]), b.variable("w"), b.variable("moving")
    mean = tf.reduce_mean(x, name="mean")
    step = tf.multiply(tf.subtract(average, mean, name="far"), 0.1, name="step")
    b.one("AssignSub", average, step, name="move")
    with b.control_dependencies(["move"] if waits else []):
        y = tf.multiply(w, tf.subtract(x, mean, name="centred"), name="y")
    tf.reduce_mean(tf.square(y, name="square"), name="loss")


def trained(draw: object = normalised, **parts: object) -> Document:
    return drawn(draw, "loss", ["w"], feeds={"x": X}, optimizers=SGD, **parts)  # type: ignore[arg-type]


START = {"w": 1.0, "moving": 0.0}


def test_an_average_that_nothing_runs_is_forgotten_and_mended_by_running_it() -> None:
    document = trained(initial=START)
    (found,) = findings(document, "forgotten-average")
    assert (found.node, found.severity) == ("move", "warning")
    assert found.text.startswith("move moves moving after the statistics of each batch, and no run")
    assert found.remedy is not None
    mended = mend(document, found.remedy.kind, found.remedy.names)
    assert "move" in mended.targets
    assert not findings(mended, "forgotten-average")
    assert mend(mended, found.remedy.kind, found.remedy.names) is mended


def test_an_average_is_said_once_and_as_no_other_update() -> None:
    assert not findings(trained(initial=START), "idle-update")


def test_one_that_the_loss_waits_for_is_not_forgotten() -> None:
    assert not findings(
        trained(lambda b: normalised(b, waits=True), initial=START), "forgotten-average"
    )


def test_one_that_is_a_target_is_not_forgotten() -> None:
    assert not findings(trained(initial=START, targets=("move",)), "forgotten-average")


def test_an_average_of_weights_is_no_statistic_of_a_batch() -> None:
    def draw(b: GraphBuilder) -> None:
        x, w, shadow = b.placeholder("x", shape=[2, 1]), b.variable("w"), b.variable("shadow")
        read = tf.identity(w, name="w/read")
        tf.reduce_mean(tf.square(tf.multiply(read, x, name="y"), name="square"), name="loss")
        step = tf.multiply(tf.subtract(shadow, read, name="far"), 0.1, name="step")
        b.one("AssignSub", shadow, step, name="move")

    document = trained(draw, initial={"w": 1.0, "shadow": 0.0})
    assert not findings(document, "forgotten-average")
    (found,) = findings(document, "idle-update")
    assert (found.node, found.severity) == ("move", "info")


def test_what_is_trained_itself_is_no_average() -> None:
    document = drawn(normalised, "loss", ["w", "moving"], feeds={"x": X}, initial=START)
    assert not findings(document, "forgotten-average")


@pytest.mark.parametrize("asked", [True, False])
def test_a_count_is_idle_only_where_something_else_is_asked_for(asked: bool) -> None:
    """A document that asks for nothing runs all that it has."""

    def draw(b: GraphBuilder) -> None:
        count = b.variable("count")
        b.one("AssignAdd", count, 1.0, name="tick")
        tf.identity(b.constant(1.0, name="one"), name="out")

    document = drawn(draw, initial={"count": 0.0}, fetches=["out"] if asked else [])
    assert [f.node for f in findings(document, "idle-update")] == (["tick"] if asked else [])


def test_what_only_gives_a_first_value_is_no_update() -> None:
    def draw(b: GraphBuilder) -> None:
        v = b.variable("v")
        b.one("Assign", v, b.constant(1.0, name="first"), name="begin")
        tf.identity(v, name="out")

    assert not findings(drawn(draw, initial={"v": 0.0}, fetches=["out"]), "idle-update")


def test_tensorflows_own_batch_norm_with_its_update_ops_is_not_forgotten() -> None:
    document = tensorflow_graphs.document("batch_norm_update_ops")
    assert not findings(document, "forgotten-average")


def test_an_imported_training_that_does_not_wait_for_them_has_forgotten_them() -> None:
    """The same graph without the control dependencies of its loss or training operation."""
    document = tensorflow_graphs.document("batch_norm_update_ops")
    moves = {"AssignSub", "cond_2/Merge"}
    cut = [
        replace(op, control_inputs=tuple(n for n in op.control_inputs if n not in moves))
        for op in document.graph
    ]
    ends = (*document.targets, "AssignSub")  # as nothing reads it any more
    document = document.with_(graph=Graph.of(cut), targets=ends)
    (found,) = findings(document, "forgotten-average")
    assert "AssignSub moves moving_variance" in found.text
    assert "no training operation waits for it" in found.text
    assert found.remedy is None
