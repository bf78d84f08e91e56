"""Networks along a sequence: in a loop and written out, stacked, with dropout, in either order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.engine.run.tf_session import Session
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import GraphBuilder, Tensor

X = np.random.default_rng(5).normal(size=(2, 4, 3)).astype(np.float32)
LENGTHS = np.array([4, 2], np.int32)


def stacked() -> Any:
    cell = tf.nn.rnn_cell
    return cell.MultiRNNCell([cell.DropoutWrapper(cell.GRUCell(3)), cell.LSTMCell(2)])


def run(builder: GraphBuilder, tensors: list[Tensor]) -> list[np.ndarray]:
    session = Session(builder.build(), initial=builder.variables.initial)
    return session.run([y.ref for y in tensors], {"x:0": X})


def test_a_loop_gives_what_the_same_written_out_gives() -> None:
    """Two layers, rows of two lengths: outputs, states and gradients, bit for bit."""
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=X.shape)
        looped, states = tf.nn.dynamic_rnn(stacked(), x, LENGTHS, dtype="float32")
        names = [v.name for v in tf.trainable_variables()]
        with tf.variable_scope(tf.get_variable_scope(), reuse=True):
            steps = tf.unstack(x, axis=1)
            written, last = tf.nn.static_rnn(
                stacked(), steps, dtype="float32", sequence_length=LENGTHS
            )
        both = []
        for y, state in ((looped, states), (tf.stack(written, axis=1), last)):
            grads = gradients([y * y, state[1].c], [x, *tf.trainable_variables()])
            both.append([y, state[0], *state[1], *(g for g in grads if isinstance(g, Tensor))])
    prefix = "rnn/multi_rnn_cell/cell_"
    assert names == [
        *(f"{prefix}0/gru_cell/{gate}/{part}:0" for gate in ("gates", "candidate")
          for part in ("kernel", "bias")),
        f"{prefix}1/lstm_cell/kernel:0", f"{prefix}1/lstm_cell/bias:0",
    ]  # fmt: skip
    first, second = (run(builder, tensors) for tensors in both)
    assert len(first) == len(second) == 11
    for mine, other in zip(first, second, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-7)
    assert not first[0][1, 2:].any()  # past the length of the second row
    assert first[0][1, 1].any()


def test_time_may_come_first_and_the_batch_be_open() -> None:
    builder = GraphBuilder()
    with builder.as_default():
        x = builder.placeholder("x", shape=(None, None, 3))
        cell = tf.nn.rnn_cell.BasicRNNCell(2, activation="relu")
        plain, _ = tf.nn.dynamic_rnn(cell, x, dtype="float32")
        turned = tf.transpose(x, [1, 0, 2])
        swapped, _ = tf.nn.dynamic_rnn(cell, turned, dtype="float32", time_major=True)
        found = run(builder, [plain, tf.transpose(swapped, [1, 0, 2])])
    np.testing.assert_array_equal(*found)
    assert found[0].shape == (2, 4, 2)


def test_what_is_no_sequence_is_refused() -> None:
    with GraphBuilder().as_default() as builder:
        x = builder.placeholder("x", shape=(2, 3))
        with pytest.raises(ValueError, match=r"must be \[batch, time, depth\]. Received \[2, 3\]"):
            tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), x, dtype="float32")
        with pytest.raises(ValueError, match="inputs must not be empty"):
            tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(2), [], dtype="float32")
