"""Blocks of `tf.nn`'s cross-entropies: a loss for each row or element."""

from __future__ import annotations

from gradstep.core.layers.block_settings import flag, number
from gradstep.core.layers.block_table import Outputs, block
from gradstep.core.ops import api as tf
from gradstep.core.ops.build.builder import Tensor

_PAIR = "logits:float32[2,3] labels:float32[2,3]"


@block(
    "sigmoid_cross_entropy",
    _PAIR,
    "The loss of independent yes-or-no labels, one for each logit, safe for large logits. Source: "
    "tf.nn.sigmoid_cross_entropy_with_logits.",
)
def sigmoid_cross_entropy(logits: Tensor, labels: Tensor) -> Outputs:
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


@block(
    "weighted_cross_entropy",
    _PAIR,
    "Sigmoid cross-entropy in which a missed yes costs pos_weight times as much. Source: "
    "tf.nn.weighted_cross_entropy_with_logits.",
    pos_weight=number(2.0, "how much a positive label counts", least=0),
)
def weighted_cross_entropy(logits: Tensor, labels: Tensor, pos_weight: float) -> Outputs:
    return tf.nn.weighted_cross_entropy_with_logits(
        labels=labels, logits=logits, pos_weight=pos_weight
    )


@block(
    "softmax_cross_entropy",
    _PAIR,
    "The loss of one label distribution per row; the labels get no gradient (TensorFlow's v1) "
    "unless that is chosen (v2). Source: tf.nn.softmax_cross_entropy_with_logits.",
    labels_get_gradient=flag(False, "yes: as softmax_cross_entropy_with_logits_v2"),
)
def softmax_cross_entropy(logits: Tensor, labels: Tensor, labels_get_gradient: bool) -> Outputs:
    name = "softmax_cross_entropy_with_logits" + ("_v2" if labels_get_gradient else "")
    return getattr(tf.nn, name)(labels=labels, logits=logits)


@block(
    "sparse_softmax_cross_entropy",
    "logits:float32[2,3] labels:int32[2]",
    "The loss of one label per row, given by its number. Source: "
    "tf.nn.sparse_softmax_cross_entropy_with_logits.",
)
def sparse_softmax_cross_entropy(logits: Tensor, labels: Tensor) -> Outputs:
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
