"""Pieces of neural networks: dropout, losses."""

from __future__ import annotations

from typing import Any

from core.layers.block import block
from core.ops import api as tf
from core.ops.builder import Tensor

_PAIR = "logits:float32[2,3] labels:float32[2,3]"


@block(
    "dropout", "x:float32[2,3]", "Zeros at random, the rest scaled up to keep the mean.", rate=0.5
)
def dropout(x: Tensor, **how: Any) -> None:
    tf.nn.dropout(x, **how)


@block(
    "sigmoid_cross_entropy",
    _PAIR,
    "The loss of independent yes-or-no labels, one for each logit, safe for large logits.",
)
def sigmoid_cross_entropy(logits: Tensor, labels: Tensor) -> None:
    tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


@block(
    "weighted_cross_entropy",
    _PAIR,
    "Sigmoid cross-entropy in which a missed yes costs pos_weight times as much.",
    pos_weight=2.0,
)
def weighted_cross_entropy(logits: Tensor, labels: Tensor, **how: Any) -> None:
    tf.nn.weighted_cross_entropy_with_logits(labels=labels, logits=logits, **how)


@block(
    "softmax_cross_entropy",
    _PAIR,
    "The loss of one label distribution per row; the labels get no gradient (TensorFlow's v1).",
)
def softmax_cross_entropy(logits: Tensor, labels: Tensor) -> None:
    tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits)


@block(
    "sparse_softmax_cross_entropy",
    "logits:float32[2,3] labels:int32[2]",
    "The loss of one label per row, given by its number.",
)
def sparse_softmax_cross_entropy(logits: Tensor, labels: Tensor) -> None:
    tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)


@block(
    "batch_normalization",
    "x:float32[4,3] mean:float32[3] variance:float32[3] offset:float32[3] scale:float32[3]",
    "Columns shifted and scaled by given moments, then by offset and scale.",
    variance_epsilon=0.001,
)
def batch_normalization(*inputs: Tensor, **how: Any) -> None:
    tf.nn.batch_normalization(*inputs, **how)
