"""Blocks of recurrent networks: one step of a cell, and a cell run along a sequence.

Source: tf.nn.rnn_cell. Inputs are [batch, depth], states [batch, units].
"""

from __future__ import annotations

from typing import Any

from gradstep.core.layers.block_settings import choice, number, whole
from gradstep.core.layers.block_table import Outputs, block
from gradstep.core.layers.dense_layers import INITIALIZER
from gradstep.core.ops import api as tf
from gradstep.core.ops.api.tf_dense_layers import last_size
from gradstep.core.ops.build.builder import Tensor

_INPUTS = "inputs:float32[2,3] state:float32[2,4]"
_LSTM = "inputs:float32[2,3] c:float32[2,4] h:float32[2,4]"
_HOW = {
    "activation": choice("what makes the new state", "tanh", "relu", "sigmoid"),
    "kernel_initializer": INITIALIZER,
}


@block(
    "basic_rnn_cell",
    _INPUTS,
    "One step: h = tanh([x, h] W + b). Source: tf.nn.rnn_cell.BasicRNNCell.",
    weights=True,
    **_HOW,
)
def basic_rnn_cell(inputs: Tensor, state: Tensor, **how: Any) -> Outputs:
    return _stepped(tf.nn.rnn_cell.BasicRNNCell, inputs, state, how)


@block(
    "gru_cell",
    _INPUTS,
    "One step: r, u = σ([x, h] W + b); c = tanh([x, r h] V + d); h = u h + (1 - u) c. Source: Cho "
    "et al. 2014, arXiv:1406.1078.",
    weights=True,
    **_HOW,
)
def gru_cell(inputs: Tensor, state: Tensor, **how: Any) -> Outputs:
    return _stepped(tf.nn.rnn_cell.GRUCell, inputs, state, how)


@block(
    "lstm_cell",
    _LSTM,
    "One step: i, j, f, o = [x, h] W + b; c = σ(f + 1) c + σ(i) tanh(j); h = σ(o) tanh(c). "
    "Source: Hochreiter and Schmidhuber 1997.",
    weights=True,
    forget_bias=number(1.0, "what is added to the forget gate"),
    **_HOW,
)
def lstm_cell(inputs: Tensor, c: Tensor, h: Tensor, **how: Any) -> Outputs:
    """The outputs are the new h and c."""
    state = tf.nn.rnn_cell.LSTMStateTuple(c, h)
    _, (c, h) = _cell(tf.nn.rnn_cell.LSTMCell, h, how)(inputs, state)
    return h, c


_SEQUENCE = "inputs:float32[2,3,2] sequence_length?:int32[2]"
_CELLS = {"gru": "GRUCell", "lstm": "LSTMCell", "basic_rnn": "BasicRNNCell"}
_ALONG = {
    "cell": choice("what it does in each step", *_CELLS),
    "units": whole(3, "how many; the state is as wide"),
    **_HOW,
}


@block(
    "dynamic_rnn",
    _SEQUENCE,
    "A cell along a sequence, in a loop: one iteration a step. Past its length a row's outputs are "
    "zero and its state stays. Source: tf.nn.dynamic_rnn.",
    weights=True,
    **_ALONG,
)
def dynamic_rnn(
    inputs: Tensor, sequence_length: Tensor | None, cell: str, units: int, **how: Any
) -> Outputs:
    """inputs [batch, time, depth], sequence_length [batch] of int: outputs [batch, time, units] and
    the last state."""
    made = getattr(tf.nn.rnn_cell, _CELLS[cell])(units, **how)
    scope = tf.get_variable_scope()
    return tf.nn.dynamic_rnn(made, inputs, sequence_length, dtype=inputs.dtype, scope=scope)


@block(
    "static_rnn",
    _SEQUENCE,
    "The same without a loop: the cell's operations once for each step. Source: tf.nn.static_rnn.",
    weights=True,
    **_ALONG,
)
def static_rnn(
    inputs: Tensor, sequence_length: Tensor | None, cell: str, units: int, **how: Any
) -> Outputs:
    """Shapes as for dynamic_rnn; the number of steps must be known."""
    made = getattr(tf.nn.rnn_cell, _CELLS[cell])(units, **how)
    outputs, last = tf.nn.static_rnn(
        made,
        tf.unstack(inputs, axis=1),
        dtype=inputs.dtype,
        sequence_length=sequence_length,
        scope=tf.get_variable_scope(),
    )
    return tf.stack(outputs, axis=1), last


def _stepped(kind: Any, inputs: Tensor, state: Tensor, how: Any) -> Outputs:
    output, _ = _cell(kind, state, how)(inputs, state)
    return output


def _cell(kind: Any, state: Tensor, how: Any) -> Any:
    """A cell of as many units as the state has, with its weights in the open scope."""
    return kind(last_size(state, "a cell's state"), **how, name=tf.get_variable_scope())
