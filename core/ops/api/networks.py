"""Functions of `tf.nn`: what neural networks are made of."""

from __future__ import annotations

from core.ops.tensor import Tensor, TensorLike, call_many


def softmax_cross_entropy_with_logits(*, labels: TensorLike, logits: TensorLike) -> Tensor:
    """The loss for each row; its gradient flows to labels and logits (TensorFlow's `_v2`)."""
    return call_many("SoftmaxCrossEntropyWithLogits", logits, labels)[0]


FUNCTIONS = {
    "softmax_cross_entropy_with_logits": softmax_cross_entropy_with_logits,
}
