"""Values in the memory of others: nothing is copied, and nobody sees a difference."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.fast_run import FastRun
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.graph.model import TensorRef
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor
from gradstep.core.train.optimizers import apply_updates
from tests.support.layouts import Case, check

NAMES = (("v", 1.0), ("w", 2.0))
WIDE = np.linspace(-2, 2, 4 * 160, dtype=np.float32).reshape(4, 160)


def ran(*fetched: Tensor, x: np.ndarray = WIDE) -> FastRun:
    """The fast run of a program that reads x and v, after it has shown the same bits as others."""
    graph = fetched[0].builder.build()
    refs = tuple(dict.fromkeys(t.ref for t in fetched))
    feeds = {TensorRef("x", 0): x}
    initial = {"v": WIDE} if "v" in graph else {}
    check(Case(graph, refs, (), feeds, initial))
    session = Session(graph, initial=initial, fast=True)
    session.run(refs, feeds)
    (recording,) = session.recordings
    assert isinstance(recording, FastRun)
    return recording


def types(run: FastRun) -> list[str]:
    """Op types of the calls that a run makes."""
    return [run.plan.steps[index].op.type for index, _ in run.calls]


@pytest.fixture
def b() -> GraphBuilder:
    return GraphBuilder()


@pytest.fixture
def x(b: GraphBuilder) -> Tensor:
    return b.placeholder("x", shape=WIDE.shape)


def test_gates_are_neither_taken_apart_nor_put_together(x: Tensor) -> None:
    left, right = tf.split(tf.exp(x), 2, axis=1)
    run = ran(tf.concat([tf.tanh(left), left * right], 1) * 2.0)
    assert types(run) == ["Exp", "Tanh", "Mul", "Mul"]


def test_rows_of_what_is_fed(x: Tensor, b: GraphBuilder) -> None:
    """Fed anew, they are new: the memory of what is fed stays where it is."""
    rows = tf.unstack(x)
    y = tf.stack([rows[2] + rows[0], rows[1] * rows[3]], axis=0) - 1.0
    assert types(ran(y)) == ["AddV2", "Mul", "Sub"]
    session = Session(b.build(), fast=True)
    for feed in (WIDE, WIDE[::-1]):
        wanted = np.stack([feed[2] + feed[0], feed[1] * feed[3]]) - 1
        np.testing.assert_array_equal(session.run([y.ref], {"x": feed})[0], wanted)


def test_a_part_of_a_part(x: Tensor) -> None:
    upper, _ = tf.split(tf.exp(x), 2, axis=0)
    left, right = tf.split(upper, 2, axis=1)
    inner = tf.concat([tf.tanh(left), tf.sin(right)], 1)
    outer = tf.concat([inner, tf.cos(upper)], 0)
    assert types(ran(outer - 1.0)) == ["Exp", "Tanh", "Sin", "Cos", "Sub"]


def fetched_parts(x: Tensor) -> list[Tensor]:
    left, right = tf.split(tf.exp(x), 2, axis=1)
    joined = tf.concat([right, left * 2.0], 1)
    return [left, tf.exp(right), joined, joined + 1.0]


def one_piece_twice(x: Tensor) -> list[Tensor]:
    piece = tf.exp(x)
    return [tf.concat([piece, piece], 0) * 2.0, tf.concat([piece, tf.sin(x)], 1) + 1.0]


def a_piece_that_others_read(x: Tensor) -> list[Tensor]:
    first, second = tf.exp(x), tf.sin(x)
    whole = tf.concat([first, second], 1)
    before = first * second
    return [whole * 3.0, before + first, tf.sqrt(first)]


def a_whole_overwritten_after_its_parts(x: Tensor) -> list[Tensor]:
    whole = tf.exp(x)
    left, _ = tf.split(whole, 2, axis=1)
    square = whole * whole
    return [square + 1.0, tf.sin(left)]


def backwards_and_with_steps(x: Tensor) -> list[Tensor]:
    y = tf.exp(x)
    return [tf.sin(y[::-1]) * 2.0, tf.sin(y[:, ::2]) + y[:, 1::2], y[1:3, 40:120] - 1.0]


def of_rank_nought(x: Tensor) -> list[Tensor]:
    """NumPy gives numbers for these, not views."""
    y = tf.exp(x)
    numbers = tf.unstack(tf.reshape(y[0], [-1])[:3])
    return [tf.stack([numbers[2], numbers[0] * 2.0]) + 1.0, y[1, 2] * 3.0]


def narrow(x: Tensor) -> list[Tensor]:
    parts = tf.split(tf.exp(x), 80, axis=1)
    return [tf.concat([tf.sin(p) for p in parts[::2]], 1) * 2.0]


def read_by_others_than_elementwise(x: Tensor) -> list[Tensor]:
    left, right = tf.split(tf.exp(x), 2, axis=1)
    product = tf.matmul(left, right, transpose_b=True)
    return [product, tf.reduce_sum(left, axis=0), tf.reshape(right, [-1]) + 1.0]


def of_a_variable(x: Tensor) -> list[Tensor]:
    v = x.builder.variable("v", shape=WIDE.shape)
    left, right = tf.split(v, 2, axis=1)
    with x.builder.control_dependencies([left.ref.op]):
        update = x.builder.one("AssignAdd", v, x)
    with x.builder.control_dependencies([update.ref.op]):
        return [update, left * right + 1.0]


PROGRAMS = (
    fetched_parts,
    one_piece_twice,
    a_piece_that_others_read,
    a_whole_overwritten_after_its_parts,
    backwards_and_with_steps,
    of_rank_nought,
    narrow,
    read_by_others_than_elementwise,
    of_a_variable,
)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_the_same_bits(program: Callable[[Tensor], list[Tensor]], x: Tensor) -> None:
    ran(*program(x))


def test_large_tensors_in_blocks(b: GraphBuilder) -> None:
    x = b.placeholder("x", shape=(512, 512))
    left, right = tf.split(tf.exp(x) * 2.0, 2, axis=1)
    large = np.linspace(-1, 1, 1 << 18, dtype=np.float32).reshape(512, 512)
    ran(tf.concat([tf.tanh(left) + right, tf.sin(right) * left], 1) - 1.0, x=large)


@pytest.mark.parametrize("optimizer", ["GradientDescent", "Adam"])
def test_gradients_that_are_parts(b: GraphBuilder, x: Tensor, optimizer: str) -> None:
    """Of variables that are joined: the updates take them apart."""
    start = {n: np.linspace(-1, s, 4 * 80, dtype=np.float32).reshape(4, 80) for n, s in NAMES}
    v, w = (b.variable(n, shape=(4, 80)) for n in start)
    loss = tf.reduce_sum(tf.sin(tf.concat([v, w], 1)) * x)
    grads = [g for g in gradients(loss, [v, w]) if isinstance(g, Tensor)]
    pairs = [*zip(start, grads, strict=True)]
    updates = apply_updates(b, optimizer, {"learning_rate": 0.1}, pairs)
    initial = {**start, **updates.initial}
    feeds = {TensorRef("x", 0): WIDE}
    check(Case(b.build(), (loss.ref,), tuple(updates.targets), feeds, initial))
