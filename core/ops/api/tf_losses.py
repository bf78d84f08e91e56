"""Functions of `tf.losses`: losses of predictions against labels, weighted and reduced.

Source: TensorFlow 1's losses_impl.py. Labels first; `weights` and `reduction` as in
compute_weighted_loss.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from gradstep.core.ops.api.tf_creation import alike, constant
from gradstep.core.ops.api.tf_cross_entropies import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)
from gradstep.core.ops.api.tf_loss_weights import (
    Reduction,
    check_weights,
    compute_weighted_loss,
    narrow,
    present,
    whole_sum,
)
from gradstep.core.ops.build.collections import GraphKeys, collect
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call

_MEAN = Reduction.SUM_BY_NONZERO_WEIGHTS
Loss = Callable[..., Tensor]


@contextmanager
def _both(
    scope: str | None, default: str, labels: TensorLike, predictions: TensorLike
) -> Iterator[tuple[Tensor, Tensor]]:
    """Labels and predictions in float32, of the same shape. Raises ValueError for others."""
    if labels is None or predictions is None:
        raise ValueError("labels and predictions must not be None.")
    builder = builder_of((predictions, labels))
    with builder.as_default(), builder.scope(scope or default):
        pair = narrow(labels), narrow(predictions)
        _check_alike(*pair)
        yield pair


def _check_alike(labels: Tensor, predictions: Tensor) -> None:
    mine, theirs = labels.shape, predictions.shape
    if mine.is_static and theirs.is_static and mine != theirs:
        raise ValueError(f"Shapes {theirs} and {mine} are incompatible")


def _elementwise(own_name: str, of: Callable[[Tensor, Tensor], Tensor], doc: str) -> Loss:
    """A loss of each element, of labels and predictions that are alike."""

    def function(
        labels: TensorLike,
        predictions: TensorLike,
        weights: TensorLike = 1.0,
        scope: str | None = None,
        loss_collection: str | None = GraphKeys.LOSSES,
        reduction: str = _MEAN,
    ) -> Tensor:
        with _both(scope, own_name, labels, predictions) as (y, p):
            return _weighted(of(y, p), weights, loss_collection, reduction)

    function.__name__ = own_name
    function.__doc__ = doc
    return function


def _weighted(
    losses: Tensor, weights: TensorLike, collection: str | None, reduction: str
) -> Tensor:
    return compute_weighted_loss(losses, weights, loss_collection=collection, reduction=reduction)


def huber_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _MEAN,
) -> Tensor:
    """0.5 e² where the error e is at most delta, delta (|e| - delta / 2) beyond."""
    with _both(scope, "huber_loss", labels, predictions) as (y, p):
        error = call("Abs", p - y)
        quadratic = call("Minimum", error, delta)
        losses = 0.5 * (quadratic * quadratic) + delta * (error - quadratic)
        return _weighted(losses, weights, loss_collection, reduction)


def log_loss(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _MEAN,
) -> Tensor:
    """-y log(p + epsilon) - (1 - y) log(1 - p + epsilon), of probabilities p."""
    with _both(scope, "log_loss", labels, predictions) as (y, p):
        yes = -(y * call("Log", p + epsilon))
        losses = yes - (1.0 - y) * call("Log", (1.0 - p) + epsilon)
        return _weighted(losses, weights, loss_collection, reduction)


def hinge_loss(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _MEAN,
) -> Tensor:
    """max(0, 1 - (2 y - 1) logits), of labels y that are 0 or 1."""
    with _both(scope, "hinge_loss", labels, logits) as (y, x):
        losses = call("Relu", 1.0 - (2.0 * y - 1.0) * x)
        return _weighted(losses, weights, loss_collection, reduction)


def cosine_distance(
    labels: TensorLike,
    predictions: TensorLike,
    axis: int | None = None,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _MEAN,
) -> Tensor:
    """1 - the sum of products along `axis`, of vectors that must have length 1 already."""
    if axis is None:
        raise ValueError("You must specify argument `axis`.")
    with _both(scope, "cosine_distance_loss", labels, predictions) as (y, p):
        total = call("Sum", p * y, np.array([axis], np.int32), keep_dims=True)
        return _weighted(1.0 - total, weights, loss_collection, reduction)


def mean_pairwise_squared_error(
    labels: TensorLike,
    predictions: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
) -> Tensor:
    """For each row, the mean over pairs of its elements of how far their differences are apart,
    squared; the sum of the rows."""
    with _both(scope, "mean_pairwise_squared_error", labels, predictions) as (y, p):
        factors = narrow(weights)
        check_weights(factors, p)
        apart = p - y
        inner = np.arange(1, apart.shape.rank or 1, dtype=np.int32)
        count = call("Sum", present(apart, factors), inner, keep_dims=True)
        others = call("Maximum", count - 1.0, 0.0)
        squares = call("Sum", call("Square", apart), inner, keep_dims=True)
        total = call("Sum", apart, inner, keep_dims=True)
        first = 2.0 * call("DivNoNan", squares, others)
        second = 2.0 * call("DivNoNan", call("Square", total), count * others)
        loss = whole_sum((first - second) * factors)
        # Where nothing is present, first and second are 0 already.
    return loss if loss_collection is None else collect(loss, loss_collection)


@contextmanager
def _beside(
    scope: str | None, default: str, labels: TensorLike, logits: TensorLike
) -> Iterator[tuple[Tensor, Tensor]]:
    """Labels in the element type of the logits, and these. Raises ValueError for other shapes."""
    with builder_of((logits, labels)).scope(scope or default):
        x = constant(logits)
        found = labels if isinstance(labels, Tensor) else alike(labels, x)
        y = found if found.dtype is x.dtype else call("Cast", found, DstT=x.dtype)
        _check_alike(y, x)
        yield y, x


def softmax_cross_entropy(
    onehot_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _MEAN,
) -> Tensor:
    """Of one distribution per row; labels get no gradient. label_smoothing: so much of each label
    is spread over all classes."""
    with _beside(scope, "softmax_cross_entropy_loss", onehot_labels, logits) as (labels, x):
        if label_smoothing > 0:
            classes = _classes(x)
            labels = labels * alike(1 - label_smoothing, x) + alike(label_smoothing / classes, x)
        stopped = call("StopGradient", labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(labels=stopped, logits=x, name="xentropy")
        return _weighted(losses, weights, loss_collection, reduction)


def _classes(x: Tensor) -> int:
    size = None if not x.shape.dims else x.shape.dims[-1]
    if size is None:
        raise ValueError("label smoothing needs a known number of classes")
    return size


def sigmoid_cross_entropy(
    multi_class_labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _MEAN,
) -> Tensor:
    """Of independent yes-or-no labels. label_smoothing: so much closer to 0.5 is each of them."""
    with _beside(scope, "sigmoid_cross_entropy_loss", multi_class_labels, logits) as (labels, x):
        if label_smoothing > 0:
            labels = labels * alike(1 - label_smoothing, x) + alike(0.5 * label_smoothing, x)
        losses = sigmoid_cross_entropy_with_logits(labels=labels, logits=x, name="xentropy")
        return _weighted(losses, weights, loss_collection, reduction)


def sparse_softmax_cross_entropy(
    labels: TensorLike,
    logits: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = _MEAN,
) -> Tensor:
    """Of one class number per row; labels may be a column."""
    with builder_of((logits, labels)).scope(scope or "sparse_softmax_cross_entropy_loss"):
        x, numbers = constant(logits), constant(labels)
        if numbers.shape.rank == x.shape.rank and (numbers.shape.dims or (0,))[-1] == 1:
            numbers = call("Squeeze", numbers, squeeze_dims=(-1,))
        losses = sparse_softmax_cross_entropy_with_logits(labels=numbers, logits=x, name="xentropy")
        return _weighted(losses, weights, loss_collection, reduction)


FUNCTIONS: dict[str, Loss] = {
    "losses.absolute_difference": _elementwise(
        "absolute_difference", lambda y, p: call("Abs", p - y), "|prediction - label|."
    ),
    "losses.cosine_distance": cosine_distance,
    "losses.hinge_loss": hinge_loss,
    "losses.huber_loss": huber_loss,
    "losses.log_loss": log_loss,
    "losses.mean_pairwise_squared_error": mean_pairwise_squared_error,
    "losses.mean_squared_error": _elementwise(
        "mean_squared_error",
        lambda y, p: call("SquaredDifference", p, y),
        "(prediction - label)².",
    ),
    "losses.sigmoid_cross_entropy": sigmoid_cross_entropy,
    "losses.softmax_cross_entropy": softmax_cross_entropy,
    "losses.sparse_softmax_cross_entropy": sparse_softmax_cross_entropy,
}
