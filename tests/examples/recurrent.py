"""Examples of recurrent networks: the three cells, each along the same sequences."""

from __future__ import annotations

import numpy as np

from gradstep.core.document.document import Document
from gradstep.core.document.expectation import Variation
from gradstep.core.graph.model import Constant
from gradstep.core.graph.scopes import parents
from gradstep.core.ops import api as tf
from tests.examples import networks
from tests.examples.drawing import Drawing
from tests.examples.expect import Comparing, gradient, value
from tests.support.oracle import array, case

GROUP = networks.GROUP

UNITS = 3
WHOLE = Variation(feeds={"sequence_length:0": Constant(np.array([4, 4, 4], np.int32))})
NEAR: Comparing = {"rtol": 1e-4, "atol": 1e-5}  # sums over time, in float32
LENGTHS = """
        The three sequences have 4, 2 and 0 steps (`sequence_length`). Beyond its end a sequence
        gives zeros and keeps its state; no gradient comes from there.

        1. Press F5 and look at `outputs` and at the gradient of `x`: both end where the sequence
        does.
        2. Select `rnn/while/While` and press Ctrl+F10 to run up to it, then F11 to go through its
        iterations. Shift+F11 leaves the loop.
"""


def rnn() -> Document:
    """Numbers: TensorFlow's, `rnn_dynamic` (BasicRNNCell)."""
    return _along(
        "BasicRNNCell",
        "A recurrent network",
        f"""
        One layer is applied step after step, and hands its output on: h = tanh([x, h]·W + b).
        {LENGTHS}""",
    )


def gru() -> Document:
    """Numbers: TensorFlow's, `rnn_dynamic` (GRUCell)."""
    return _along(
        "GRUCell",
        "A recurrent network with gates: GRU",
        f"""
        Gates between 0 and 1 decide how much of the state is kept: h = u·h + (1 − u)·c.

        r and u come from one matrix (gates), c from another (candidate), which sees r·h. The bias
        of the gates starts at 1, so that at first much is kept.
        {LENGTHS}""",
    )


def lstm() -> Document:
    """Numbers: TensorFlow's, `rnn_dynamic` (LSTMCell)."""
    return _along(
        "LSTMCell",
        "A recurrent network with a memory: LSTM",
        f"""
        Besides its output, the cell carries a memory: c = σ(f + 1)·c + σ(i)·tanh(j).

        One matrix gives i, j, f and o, in this order. 1 is added to f, so that at first the
        memory is kept. The output is σ(o)·tanh(c).
        {LENGTHS}""",
    )


def _along(cell: str, title: str, note: str) -> Document:
    seen = case("rnn_dynamic")
    own = seen[cell]
    d = Drawing()
    x = d.fed("x", array(seen["inputs"]["x"]))
    lengths = d.fed("sequence_length", array(seen["inputs"]["sequence_length"]), "int32")
    with d.g.as_default():
        out, _ = tf.nn.dynamic_rnn(
            getattr(tf.nn.rnn_cell, cell)(UNITS), x, sequence_length=lengths, dtype="float32"
        )
        weights = [v.name.removesuffix(":0") for v in tf.trainable_variables()]
    d.initial.update({name: Constant(array(own["weights"][f"{name}:0"])) for name in weights})
    outputs = d.g.one("Identity", out, name="outputs")
    d.sum(d.g.one("Square", outputs, name="square"), "loss")
    cut = own["with sequence_length [4,2,0]"]
    return d.document(
        title,
        note,
        of="loss",
        wrt=" ".join((*weights, "x")),
        fetches="outputs",
        collapsed=" ".join(sorted({s for op in d.g.build() for s in parents(op.name)})),
        expectations=(
            value("outputs", array(cut["outputs"]), "Each sequence ends at its length.", **NEAR),
            gradient(
                "x", array(own["grad x with sequence_length"]), "So does its gradient.", **NEAR
            ),
            value("outputs", array(own["outputs"]), "Without lengths.", when=WHOLE, **NEAR),
            *(
                gradient(
                    name,
                    array(own["grads sum(o^2)"][f"{name}:0"]),
                    "The gradient of a weight adds up all steps.",
                    when=WHOLE,
                    **NEAR,
                )
                for name in weights
            ),
        ),
    )


EXAMPLES = (rnn, gru, lstm)
