"""Blocks of losses from papers: focal loss, center loss."""

from __future__ import annotations

import numpy as np

from gradstep.core.layers.block_settings import choice, number, whole
from gradstep.core.layers.block_table import Outputs, block
from gradstep.core.ops import api as tf
from gradstep.core.ops.api.tf_dense_layers import last_size
from gradstep.core.ops.build.builder import Tensor, call
from gradstep.core.ops.build.collections import GraphKeys, collect


@block(
    "focal_loss",
    "logits:float32[2,3] labels:float32[2,3]",
    "Sigmoid cross-entropy of which easy examples count less: a (1 - p)^gamma times, where p is "
    "the probability of the right answer. Source: Lin et al. 2017, arXiv:1708.02002.",
    alpha=number(0.25, "how much a yes counts; a no counts 1 - alpha", least=0),
    gamma=number(2.0, "how fast easy examples fade; 0 is no focus", least=0),
)
def focal_loss(logits: Tensor, labels: Tensor, alpha: float, gamma: float) -> Outputs:
    """logits, labels [...], labels 0 or 1: the mean. At gamma 0 and p = 1 the gradient is NaN, as
    that of x⁰ is at 0."""
    each = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    yes = tf.sigmoid(logits)
    wrong = yes * (1.0 - labels) + (1.0 - yes) * labels
    balance = alpha * labels + (1.0 - alpha) * (1.0 - labels)
    return tf.reduce_mean(balance * wrong**gamma * each, name="loss")


@block(
    "center_loss",
    "features:float32[3,2] labels:int32[3]",
    "Half the squared distances of features to the center of their class. The centers move in an "
    "update of their own, which somebody has to run. Source: Wen et al. 2016, Discriminative "
    "Feature Learning for Deep Face Recognition.",
    weights=True,
    classes=whole(4, "how many classes there are"),
    alpha=number(0.5, "how far centers move towards the features", least=0),
    form=choice("each center moves by the mean of its rows, or by their sum", "paper", "facenet"),
)
def center_loss(features: Tensor, labels: Tensor, classes: int, alpha: float, form: str) -> Outputs:
    """features [n, d], labels [n] of int: 0.5 Σ |x - c|². Rows of one label add up in the update;
    in the facenet form, without a mean, it diverges where alpha times their number is over 2."""
    size = (classes, last_size(features, "a center loss"))
    centers = tf.get_variable("centers", size, features.dtype, "zeros", trainable=False)
    own = tf.gather(centers, labels)
    loss = 0.5 * tf.reduce_sum(tf.square(features - own))
    with features.builder.scope("update"):
        apart = own - features
        if form == "paper":
            apart = apart / (1.0 + _counts(labels, features))
        update = call("ScatterSub", centers.handle, labels, alpha * apart)
    collect(update, GraphKeys.UPDATE_OPS)
    return loss


def _counts(labels: Tensor, features: Tensor) -> Tensor:
    """For each row, how many rows have its label, [n, 1]."""
    column, row = tf.expand_dims(labels, 1), tf.expand_dims(labels, 0)
    same = tf.cast(tf.equal(column, row), features.dtype)
    return call("Sum", same, np.array([1], np.int32), keep_dims=True)
