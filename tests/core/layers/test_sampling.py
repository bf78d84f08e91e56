"""What blocks draw: TensorFlow's own numbers."""

from __future__ import annotations

import numpy as np

from gradstep.core.engine.run.tf_session import Session
from gradstep.core.layers.block_expansion import expand
from gradstep.core.layers.block_table import find_block
from gradstep.core.ops.build.builder import GraphBuilder

# tf.distributions.Bernoulli(probs=linspace(0, 1, 12)).sample(seed=7), TensorFlow 2.21.
DRAWN = [[0, 0, 0, 1], [0, 0, 1, 0], [0, 1, 0, 1]]


def test_bernoulli_draws_as_tensorflow_does() -> None:
    g = GraphBuilder()
    probs = g.placeholder("probs", shape=(3, 4))
    made = expand(g.build(), find_block("bernoulli"), [probs.ref], settings={"seed": 7})
    session = Session(made.graph)
    feeds = {"probs": np.linspace(0, 1, 12).reshape(3, 4)}
    np.testing.assert_array_equal(session.run(made.outputs, feeds)[0], DRAWN)
