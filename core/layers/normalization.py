"""Blocks that normalize: batch norm with its moving averages, layer norm, with given moments."""

from __future__ import annotations

from typing import Any

from gradstep.core.layers.block_settings import flag, number
from gradstep.core.layers.block_table import Outputs, block
from gradstep.core.ops import api as tf
from gradstep.core.ops.api.tf_dense_layers import last_size
from gradstep.core.ops.build.builder import Tensor

_TRAINED = {
    "center": flag(True, "whether beta is added"),
    "scale": flag(True, "whether the result is multiplied by gamma"),
}


@block(
    "batch_norm",
    "inputs:float32[4,3] training?:bool[]",
    "Each channel with mean beta and deviation gamma over the batch; images [batch, height, width, "
    "channels] in the fused op. Moving averages are updates, which somebody has to run. Source: "
    "tf.layers.batch_normalization; Ioffe and Szegedy 2015, arXiv:1502.03167.",
    weights=True,
    is_training=flag(
        True, "yes: moments of the batch; no: the moving averages; unless it is wired"
    ),
    momentum=number(0.99, "how much of a moving average stays in each update", least=0, below=1),
    epsilon=number(1e-3, "what is added to the variance", least=0),
    **_TRAINED,
)
def batch_norm(inputs: Tensor, training: Tensor | None, is_training: bool, **how: Any) -> Outputs:
    """inputs [..., channels]; training: a flag that says which when it runs."""
    decided = is_training if training is None else training
    scope = tf.get_variable_scope()
    return tf.layers.batch_normalization(inputs, training=decided, **how, name=scope)


@block(
    "layer_norm",
    "inputs:float32[2,4]",
    "Each row, along the last axis, with mean beta and deviation gamma. Source: Ba et al. 2016, "
    "arXiv:1607.06450.",
    weights=True,
    epsilon=number(1e-5, "what is added to the variance", least=0),
    **_TRAINED,
)
def layer_norm(inputs: Tensor, epsilon: float, center: bool, scale: bool) -> Outputs:
    """gamma (x - mean) / sqrt(variance + epsilon) + beta; gamma, beta [n] of inputs [..., n]."""
    size = (last_size(inputs, "a layer norm"),)
    beta = tf.get_variable("beta", size, inputs.dtype, "zeros") if center else None
    gamma = tf.get_variable("gamma", size, inputs.dtype, "ones") if scale else None
    mean, variance = tf.nn.moments(inputs, [-1], keep_dims=True)
    return tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)


@block(
    "batch_normalization",
    "x:float32[4,3] mean:float32[3] variance:float32[3] offset:float32[3] scale:float32[3]",
    "Columns shifted and scaled by given moments, then by offset and scale. Source: "
    "tf.nn.batch_normalization.",
    variance_epsilon=number(0.001, "what is added to the variance", least=0),
)
def batch_normalization(*inputs: Tensor, **how: Any) -> Outputs:
    return tf.nn.batch_normalization(*inputs, **how)
