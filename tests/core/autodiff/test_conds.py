"""Gradients through tf.cond: TensorFlow's numbers, and why they are zero."""

from __future__ import annotations

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.autodiff.reverse.tf_gradients import Gradient, gradients
from gradstep.core.checks.why.why_answers import Explainer
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import Graph, TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor, call
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.program.gradient_context import Situation
from tests.support import tensorflow_graphs as written

NAMES = [name for name in written.names() if name.startswith("cond_")]
LOSS = TensorRef("loss")


@pytest.mark.parametrize("name", [n for n in NAMES if n not in ("cond_v1", "cond_with_while")])
def test_as_in_tensorflow(name: str) -> None:
    """Of the forward part of a graph that it wrote; the gradients it recorded are called d_*."""
    whole = written.document(name).graph
    init = written.initializer(name)
    needed = whole.ancestors(["loss", *([init] if init else [])])
    build = GraphBuilder(Graph.of(op for op in whole if op.name in needed))
    steps = list(written.steps(name))
    wanted = [ref for ref in steps[0].fetches if ref.startswith("d_")]
    found = gradients(build.get(LOSS), [build.get(f"{ref[2:]}") for ref in wanted])
    refs = [_dense(gradient) for gradient in found]
    for fast in (False, True):
        session = Session(build.build(), fast=fast)
        session.run([], targets=[init] if init else ["loss"][:0])
        for step in steps[: len(steps) - bool(init)]:
            values = session.run([LOSS, *refs], step.feeds)
            expected = [step.fetches[ref] for ref in ("loss:0", *wanted)]
            for value, number in zip(values, expected, strict=True):
                np.testing.assert_allclose(value, number, rtol=2e-5, atol=1e-6)


def _dense(gradient: Gradient) -> TensorRef:
    assert gradient is not None
    return (gradient.dense() if isinstance(gradient, IndexedSlices) else gradient).ref


def test_rows_stay_rows() -> None:
    """Where the branch is not taken they are zeros: all rows, as in TensorFlow."""
    build = GraphBuilder()
    with build.as_default():
        p, table = build.placeholder("p", "bool", ()), build.placeholder("t", shape=(3, 2))
        y = tf.cond(p, lambda: tf.gather(table, [1, 1]) * 2.0, lambda: tf.zeros([2, 2]))
        (rows,) = gradients(y, table)
        assert isinstance(rows, IndexedSlices)
        session = Session(build.build())
    feeds = {"t": np.ones((3, 2), np.float32)}
    taken = session.run([rows.values.ref, rows.indices.ref], {**feeds, "p": True})
    assert [x.tolist() for x in taken] == [[[2, 2], [2, 2]], [1, 1]]
    other = session.run([rows.values.ref, rows.indices.ref], {**feeds, "p": False})
    assert [x.tolist() for x in other] == [[[0, 0]] * 3, [0, 1, 2]]


@pytest.mark.parametrize(
    ("p", "q", "state", "node", "because"),
    [
        (True, True, "ok", None, ""),
        (True, False, "zero", "outer/cond/twice", "q is False"),
        (False, True, "zero", "outer/cond/Merge", "p is False"),
    ],
)
def test_why_says_which_branch_was_not_taken(
    p: bool, q: bool, state: str, node: str | None, because: str
) -> None:
    build = GraphBuilder()
    with build.as_default():
        outer, inner = (build.placeholder(name, "bool", ()) for name in "pq")
        x = build.placeholder("x", shape=())

        def squared() -> Tensor:
            return tf.cond(inner, lambda: call("Mul", x, x, name="twice"), lambda: 2.0)

        y = tf.cond(outer, squared, lambda: 5.0, name="outer")
    request = GradientRequest((y.ref,), (x.ref,))
    given = {outer.ref: np.array(p), inner.ref: np.array(q), x.ref: np.array(3, np.float32)}
    here = Situation(build.build(), request, {}, given)
    found = Explainer(here).gradient("outer/Merge", "x")
    assert (found.state, found.node) == (state, node)
    assert found.cause == ("untaken" if because else "")
    assert because in found.text
    assert found.path[-1] == (node or "x")


def test_the_path_leads_through_the_branch_that_was_taken() -> None:
    build = GraphBuilder()
    with build.as_default():
        p, x = build.placeholder("p", "bool", ()), build.placeholder("x", shape=())
        y = tf.cond(p, lambda: tf.square(x, name="yes"), lambda: tf.exp(x, name="no"))
    request, graph = GradientRequest((y.ref,), (x.ref,)), build.build()
    for taken, name in ((True, "cond/yes"), (False, "cond/no")):
        given = {p.ref: np.array(taken), x.ref: np.array(3, np.float32)}
        here = Situation(graph, request, {}, given)
        path = Explainer(here).gradient("cond/Merge", "x").path
        assert [*path] == ["cond/Merge", name, f"{name}/Switch", "x"]
