"""Blocks that draw random numbers: zeros and ones with given probabilities."""

from __future__ import annotations

from gradstep.core.layers.block_settings import whole
from gradstep.core.layers.block_table import Outputs, block
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor, call


@block(
    "bernoulli",
    "probs:float32[2,3]",
    "1 with probability probs, else 0, for each element; no gradient reaches probs, which is "
    "what a straight-through estimator or a score function is for. Source: "
    "tf.distributions.Bernoulli(probs=probs).sample().",
    seed=whole(0, "0: another one for each name; the same seed draws the same", least=0),
)
def bernoulli(probs: Tensor, seed: int) -> Outputs:
    shape = probs.shape.static() if probs.shape.is_static else tf.shape(probs)
    drawn = tf.random_uniform(shape, dtype=probs.dtype, seed=seed or None)
    return tf.cast(call("Less", drawn, probs), probs.dtype)
