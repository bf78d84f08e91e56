"""Networks over time: what is done at once, however they are written, and what cannot be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from tests.support.layouts import EXACT, Case, check, passes
from tests.support.rounding import Rounding, assert_rounded_alike

STEPS, BATCH, INPUTS, UNITS = 6, 5, 3, 40
Cell = Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]
_random = np.random.default_rng(3)
X = _random.standard_normal((STEPS, BATCH, INPUTS)).astype(np.float32)


def after(gates: list[Tensor], c: Tensor) -> tuple[Tensor, Tensor]:
    i, f, g, o = gates
    c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    return tf.sigmoid(o) * tf.tanh(c), c


def projected(b: GraphBuilder) -> Cell:
    """The weights of inputs and state apart: what the passes are about."""
    wx, wh = (variable(b, n, (rows, 4 * UNITS)) for n, rows in (("wx", INPUTS), ("wh", UNITS)))
    bias = variable(b, "b", (4 * UNITS,))

    def cell(x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        gates = tf.nn.bias_add(tf.matmul(x, wx) + tf.matmul(h, wh), bias)
        return after(tf.split(gates, 4, axis=1), c)

    return cell


def joined(b: GraphBuilder) -> Cell:
    """One product of input and state side by side, as TensorFlow's cells have it."""
    w = variable(b, "w", (INPUTS + UNITS, 4 * UNITS))
    bias = variable(b, "b", (4 * UNITS,))

    def cell(x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        gates = tf.nn.bias_add(tf.matmul(tf.concat([x, h], 1), w), bias)
        return after(tf.split(gates, 4, axis=1), c)

    return cell


def gate_by_gate(b: GraphBuilder) -> Cell:
    """Four weights for the inputs, four for the state, four biases that are broadcast."""
    names = "ifgo"
    wx = [variable(b, f"wx_{n}", (INPUTS, UNITS)) for n in names]
    wh = [variable(b, f"wh_{n}", (UNITS, UNITS)) for n in names]
    biases = [variable(b, f"b_{n}", (UNITS,)) for n in names]

    def cell(x: Tensor, h: Tensor, c: Tensor) -> tuple[Tensor, Tensor]:
        weights = zip(wx, wh, biases, strict=True)
        return after([tf.matmul(x, v) + tf.matmul(h, w) + bias for v, w, bias in weights], c)

    return cell


def variable(b: GraphBuilder, name: str, shape: tuple[int, ...]) -> Tensor:
    return b.variable(name, shape=shape)


def network(make: Callable[[GraphBuilder], Cell], shape: tuple[int | None, ...] = X.shape) -> Case:
    """An LSTM over time, its loss and the gradients of all variables."""
    b = GraphBuilder()
    x = b.placeholder("x", shape=shape)
    cell = make(b)
    h = c = b.constant(np.zeros((BATCH, UNITS), np.float32))
    for x_t in tf.unstack(x, num=STEPS):
        h, c = cell(x_t, h, c)
    loss = tf.reduce_mean(tf.square(h))
    graph = b.build()
    variables = [op.output() for op in graph if op.type == "VariableV2"]
    grads = gradients(loss, [b.get(str(ref)) for ref in variables])
    random = np.random.default_rng(5)
    initial = {
        ref.op: (random.standard_normal(graph[ref.op].attrs["shape"].static()) / 8).astype(
            np.float32
        )
        for ref in variables
    }
    fetches = (loss.ref, *(g.ref for g in grads if isinstance(g, Tensor)))
    return Case(b.build(), fetches, (), {x.ref: X}, initial)


OVER_TIME = Rounding(terms=INPUTS + 4, steps=2 * 6)  # six steps of a cell, and back


def fast_run(case: Case) -> tuple[FastRun, list[np.ndarray]]:
    session = Session(case.graph, initial=case.initial, fast=True)
    values = session.run(case.fetches, case.feeds)
    (recording,) = session.recordings
    assert isinstance(recording, FastRun)
    return recording, values


@pytest.mark.parametrize(
    ("make", "products"),
    # the inputs' once, the state's a step; back through the state a step; a gradient for each
    [(projected, 1 + 6 + 5 + 2), (joined, 6 + 5 + 1), (gate_by_gate, 4 * (1 + 6 + 5 + 2))],
)
def test_however_it_is_written(make: Callable[[GraphBuilder], Cell], products: int) -> None:
    case = network(make)
    recording, values = fast_run(case)
    counts = Counter(step.op.type for step in recording.plan.steps)
    assert counts["MatMul"] == products
    wanted = Session(case.graph, initial=case.initial).run(case.fetches, case.feeds)
    for want, have in zip(wanted, values, strict=True):
        assert_rounded_alike(have, want, OVER_TIME)
    with passes(EXACT):  # the layouts of all values, not one of them rounded otherwise
        check(case)


def test_a_shape_that_is_known_while_running_only() -> None:
    """What is fed tells the shapes; without, everything is as it was drawn."""
    case = network(projected, (None, None, INPUTS))
    recording, values = fast_run(case)
    wanted = Session(case.graph, initial=case.initial).run(case.fetches, case.feeds)
    assert len(recording.plan.steps) < len(case.graph.operations)
    for want, have in zip(wanted, values, strict=True):
        assert_rounded_alike(have, want, OVER_TIME)


def test_a_product_waits_for_no_other() -> None:
    """The second depends on the first; the third is there beforehand, the fourth is fetched."""
    b = GraphBuilder()
    x = b.placeholder("x", shape=(2, 4, 4))
    w = b.placeholder("w", shape=(4, 4))
    first, second = tf.unstack(x)
    a = tf.matmul(first, w)
    chain = tf.matmul(tf.tanh(a), w)
    other = tf.matmul(second, w)
    random = np.random.default_rng(1)
    feeds = {t.ref: random.standard_normal(t.shape.static()).astype(np.float32) for t in (x, w)}
    case = Case(b.build(), (chain.ref, other.ref, a.ref), (), feeds)
    recording, values = fast_run(case)
    types = [step.op.type for step in recording.plan.steps]
    assert types.count("MatMul") == 2
    for want, have in zip(Session(case.graph).run(case.fetches, feeds), values, strict=True):
        assert_rounded_alike(have, want, Rounding(terms=4, steps=2))


def test_numbers_for_constants_of_equal_elements() -> None:
    b = GraphBuilder()
    x = b.placeholder("x", shape=(3, 2))
    halves, column = np.full((3, 2), 0.5, np.float32), np.full((3, 1), 3, np.float32)
    y = x * halves - column
    z = tf.maximum(x, column) + b.placeholder("r", shape=(1, 2)) * halves
    feeds = {x.ref: np.arange(6, dtype=np.float32).reshape(3, 2)}
    feeds[b.get("r:0").ref] = np.array([[np.nan, -0.0]], np.float32)
    case = Case(b.build(), (y.ref, z.ref), (), feeds)
    check(case)
    recording, _ = fast_run(case)
    ranks = {
        step.op.name: [recording.plan.values[v].type.shape.rank for v in step.reads]
        for step in recording.plan.steps
    }
    assert ranks[y.ref.op] == [2, 0]
    assert ranks[y.ref.op.replace("Sub", "Mul")] == [2, 0]
    assert [2, 2] in ranks.values()  # where the constant gives the result its shape
