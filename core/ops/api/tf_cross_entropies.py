"""Functions of `tf.nn`: cross-entropies of a network's outputs and labels."""

from __future__ import annotations

import math

import numpy as np

from gradstep.core.graph.dtypes import Shape
from gradstep.core.ops.api.tf_activations import axis_in, one_of
from gradstep.core.ops.api.tf_creation import alike, constant, make_precise
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call, call_many
from gradstep.core.ops.typing.static_values import select, shape_of


def softmax_cross_entropy_with_logits(
    labels: TensorLike = None,
    logits: TensorLike = None,
    dim: int | None = None,
    name: str | None = None,
    axis: int | None = None,
) -> Tensor:
    """The loss for each row; its gradient flows to the logits only."""
    _want_both("softmax_cross_entropy_with_logits", labels, logits)
    dim = one_of("axis", axis, "dim", dim, -1)
    with builder_of((logits, labels)).scope(
        name or "softmax_cross_entropy_with_logits_sg"
    ) as scope:
        logits = constant(logits)
        stopped = call(
            "StopGradient",
            alike(labels, None if _whole(labels) else logits),
            name="labels_stop_gradient",
        )
        return _softmax_loss(stopped, logits, dim, scope)


def softmax_cross_entropy_with_logits_v2(
    labels: TensorLike = None,
    logits: TensorLike = None,
    axis: int | None = None,
    name: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """The loss for each row; its gradient flows to the labels, too."""
    _want_both("softmax_cross_entropy_with_logits", labels, logits)
    dim = one_of("axis", axis, "dim", dim, -1)
    with builder_of((logits, labels)).scope(name or "softmax_cross_entropy_with_logits") as scope:
        logits = constant(logits)
        labels = alike(labels, None if _whole(labels) else logits)
        return _softmax_loss(labels, logits, dim, scope)


def _whole(labels: TensorLike) -> bool:
    """Whether the labels are integers, which TensorFlow casts."""
    return not isinstance(labels, Tensor) and np.asarray(labels).dtype.kind in "iub"


def _softmax_loss(labels: Tensor, logits: Tensor, axis: int, scope: str) -> Tensor:
    precise = make_precise(logits)
    if labels.dtype is not precise.dtype:
        labels = call("Cast", labels, DstT=precise.dtype)
    if axis != -1:
        order = _to_the_end(axis, logits.shape.rank)
        precise, labels = call("Transpose", precise, order), call("Transpose", labels, order)
    loss = call_many("SoftmaxCrossEntropyWithLogits", precise, labels, name=f"{scope}/")[0]
    return _as_before(loss, logits)


def _as_before(loss: Tensor, logits: Tensor) -> Tensor:
    same = loss.dtype is logits.dtype
    return loss if same else call("Cast", loss, DstT=logits.dtype)


def _to_the_end(axis: int, rank: int | None) -> np.ndarray:
    place = axis_in(axis, rank)
    others = [i for i in range(rank or 0) if i != place]
    return np.array([*others, place], np.int32)


def sparse_softmax_cross_entropy_with_logits(
    labels: TensorLike = None, logits: TensorLike = None, name: str | None = None
) -> Tensor:
    """The loss for each class number in `labels` against its row of logits."""
    _want_both("sparse_softmax_cross_entropy_with_logits", labels, logits)
    with builder_of((logits, labels)).scope(name or "SparseSoftmaxCrossEntropyWithLogits"):
        labels, logits = constant(labels), constant(logits)
        _check_ranks(labels, logits)
        precise = make_precise(logits)
        if logits.shape.rank == 2:
            return _as_before(_sparse(precise, labels), logits)
        rows = call("Reshape", precise, _matrix_of(logits))
        vector = call("Reshape", labels, np.array([-1], np.int32))
        loss = call("Reshape", _sparse(rows, vector), shape_of(labels))
        return _as_before(loss, logits)


def _sparse(logits: Tensor, labels: Tensor) -> Tensor:
    return call_many("SparseSoftmaxCrossEntropyWithLogits", logits, labels)[0]


def _matrix_of(logits: Tensor) -> TensorLike:
    """The sizes of one row of classes after the other."""
    if logits.shape.dims is not None and logits.shape.dims[-1] is not None:
        return np.array([-1, logits.shape.dims[-1]], np.int32)
    at = (np.array([n], np.int32) for n in (-1, 0, 1))
    classes = call("StridedSlice", call("Shape", logits), *at, end_mask=1)
    return call("ConcatV2", np.array([-1], np.int32), classes, np.array(0, np.int32))


def _check_ranks(labels: Tensor, logits: Tensor) -> None:
    rows, given = logits.shape, labels.shape
    if rows.rank == 0:
        raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
    if None not in (rows.rank, given.rank) and given.rank != (rows.rank or 0) - 1:
        raise ValueError(
            "`labels.shape.rank` must equal `logits.shape.rank - 1`. "
            f"Received: labels.shape={given} of rank {given.rank} and logits.shape={rows} "
            f"of rank {rows.rank}"
        )
    leading = Shape((rows.dims or (None,))[:-1])
    if given.is_static and leading.is_static and rows.dims and given != leading:
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. "
            f"Received: labels.shape={given} and logits.shape={rows}"
        )


def sigmoid_cross_entropy_with_logits(
    labels: TensorLike = None, logits: TensorLike = None, name: str | None = None
) -> Tensor:
    """For each element, max(x, 0) - x * z + log(1 + exp(-|x|)), which does not overflow."""
    _want_both("sigmoid_cross_entropy_with_logits", labels, logits)
    with builder_of((logits, labels)).scope(name or "logistic_loss") as scope:
        x = constant(logits)
        z = alike(labels, x)
        _want_equal(z, x)
        zeros = call("ZerosLike", x)
        above = call("GreaterEqual", x, zeros)
        positive = select(above, x, zeros)
        against_overflow = select(above, -x, x)
        log_part = call("Log1p", call("Exp", against_overflow))
        return call("AddV2", positive - x * z, log_part, name=f"{scope}/")


def weighted_cross_entropy_with_logits(
    labels: TensorLike = None,
    logits: TensorLike = None,
    pos_weight: TensorLike = None,
    name: str | None = None,
    targets: TensorLike = None,
) -> Tensor:
    """Sigmoid cross-entropy in which positive labels count `pos_weight` times."""
    labels = targets if labels is None else labels
    _want_both("weighted_cross_entropy_with_logits", labels, logits)
    with builder_of((logits, labels)).scope(name or "logistic_loss") as scope:
        x = constant(logits)
        z = alike(labels, x)
        _want_equal(z, x)
        weights = 1 + alike(pos_weight - 1, x) * z
        log_part = call("Log1p", call("Exp", -call("Abs", x))) + call("Relu", -x)
        return call("AddV2", (1 - z) * x, weights * log_part, name=f"{scope}/")


def log_poisson_loss(
    targets: TensorLike,
    log_input: TensorLike,
    compute_full_loss: bool = False,
    name: str | None = None,
) -> Tensor:
    """exp(c) - z * c, and Stirling's approximation of log(z!) if asked for."""
    with builder_of((log_input, targets)).scope(name or "log_poisson_loss"):
        c = constant(log_input)
        z = alike(targets, c)
        _want_equal(z, c, "log_input", "targets")
        loss = call("Exp", c) - c * z
        return loss + _log_factorial(z) if compute_full_loss else loss


def _log_factorial(z: Tensor) -> Tensor:
    stirling = z * call("Log", z) - z + 0.5 * call("Log", (2 * math.pi) * z)
    zeros = call("ZerosLike", z)
    small = call(
        "LogicalAnd",
        call("GreaterEqual", z, zeros),
        call("LessEqual", z, call("OnesLike", z)),
    )
    return select(small, zeros, stirling)


def _want_both(function: str, labels: TensorLike, logits: TensorLike) -> None:
    if labels is None or logits is None:
        raise ValueError(
            f"Both `labels` and `logits` must be provided for {function}"
            f"Received: labels={labels} and logits={logits}"
        )


def _want_equal(labels: Tensor, logits: Tensor, one: str = "logits", other: str = "labels") -> None:
    try:
        labels.shape.merge(logits.shape)
    except ValueError:
        raise ValueError(
            f"`{one}` and `{other}` must have the same shape, received "
            f"({logits.shape} vs {labels.shape})."
        ) from None


FUNCTIONS = {
    "log_poisson_loss": log_poisson_loss,
    "sigmoid_cross_entropy_with_logits": sigmoid_cross_entropy_with_logits,
    "softmax_cross_entropy_with_logits": softmax_cross_entropy_with_logits,
    "softmax_cross_entropy_with_logits_v2": softmax_cross_entropy_with_logits_v2,
    "sparse_softmax_cross_entropy_with_logits": sparse_softmax_cross_entropy_with_logits,
    "weighted_cross_entropy_with_logits": weighted_cross_entropy_with_logits,
}
