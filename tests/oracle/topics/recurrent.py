"""Recurrent cells along a sequence: tf.nn.dynamic_rnn's outputs, states and gradients."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gradstep.core.autodiff.reverse.tf_gradients import gradients
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call
from gradstep.core.ops.build.python_values import as_written
from tests.oracle.program import Program
from tests.oracle.table import DOCUMENTATION, STATISTIC, Case, checks
from tests.support.rounding import Rounding

FRAMES = "op types of TensorFlow's frames; here a loop is one operation, and a frame in a file"

UNITS = 3
CELLS = ("BasicRNNCell", "GRUCell", "LSTMCell", "BasicLSTMCell")


@checks("rnn_dynamic")
def cells(case: Case) -> None:
    start = case.given("inputs", "x")
    lengths = case.given("inputs", "sequence_length")
    for name in CELLS:
        _cell(case, name, start, lengths)
        _variables(case, name, start)
    _tutorial(case)
    case.skip("what `with sequence_length` checks, in words", "sequence_length_semantics")
    case.skip(FRAMES, "op_types")


def _made(p: Program, name: str, x: Tensor, **how: Any) -> tuple[Tensor, Any]:
    cell = getattr(tf.nn.rnn_cell, name)(UNITS)
    outputs, state = tf.nn.dynamic_rnn(cell, x, dtype="float32", **how)
    return outputs, state._asdict() if hasattr(state, "_asdict") else state


def _cell(case: Case, name: str, start: np.ndarray, lengths: np.ndarray) -> None:
    with Program() as p:
        x = p.like("x", start)
        out, state = _made(p, name, x)
        for full in case.at(name, "weights"):
            p.initial[full.removesuffix(":0")] = case.given(name, "weights", full)
        feeds = {x: start}
        steps, width = start.shape[1], sum(v.shape[0] for v in p.initial.values() if v.ndim == 2)
        forward = Rounding(terms=width, steps=steps)
        back = forward.of(steps=2 * steps)
        case.value(p.run(out, feeds), name, "outputs", rounding=forward)
        case.value(p.run(state, feeds), name, "final_state", rounding=forward)
        variables = tf.trainable_variables()
        found = p.run(gradients(_squares(out), variables), feeds)
        named = dict(zip([v.name for v in variables], found, strict=True))
        case.gradient(named, name, "grads sum(o^2)", rounding=back)
        with tf.variable_scope(tf.get_variable_scope(), reuse=True):
            cut, state = _made(p, name, x, sequence_length=lengths)
        entry = "with sequence_length [4,2,0]"
        found = p.run({"outputs": cut, "final_state": state}, feeds)
        case.value(found, name, entry, rounding=forward)
        entry = "grad x with sequence_length"
        case.gradient(p.run(gradients(_squares(cut), x)[0], feeds), name, entry, rounding=back)
    case.skip(DOCUMENTATION, name, "formula")
    case.skip(STATISTIC, name, "max_diff_numpy")


def _squares(out: Tensor) -> Tensor:
    return call("Sum", call("Square", out), np.array([0, 1, 2], np.int32))


def _variables(case: Case, name: str, start: np.ndarray) -> None:
    """What the cell makes by itself."""
    with Program() as p:
        _made(p, name, p.like("x", start))
        found = tf.global_variables()
        case.graph([[v.name, as_written(v.shape)] for v in found], name, "variables")
        biases = {v.name: v.initial_value for v in found if v.name.endswith("bias:0")}
        case.value(biases, name, "bias_initial_values")


def _tutorial(case: Case) -> None:
    entry = "tutorial shapes (32,50,10)->GRU 20"
    with Program() as p:
        x = p.placeholder("x", shape=(32, 50, 10))
        out, last = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(20), x, dtype="float32")
        feeds: Mapping[Any, Any] = {x: np.ones((32, 50, 10), np.float32)}
        outputs, final = p.run([out, last], feeds)
        same = bool(np.array_equal(final, outputs[:, -1]))
        shapes = {"outputs": list(outputs.shape), "final": list(final.shape)}
        case.value({**shapes, "final == outputs[:,-1]": same}, entry)
        cell = tf.nn.rnn_cell.GRUCell(20)
        case.error(lambda: tf.nn.dynamic_rnn(cell, x), "no dtype and no initial_state")
        unknown = p.placeholder("u", shape=(None, None, None))
        case.error(
            lambda: tf.nn.dynamic_rnn(cell, unknown, dtype="float32"),
            "unknown feature dim",
            says="Input size (depth of inputs) must be accessible via shape inference, but saw "
            "value None for input=",
            why="then the tensor",
        )
