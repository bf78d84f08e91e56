"""Weights and reductions of `tf.losses`, and the collection that losses add themselves to.

Source: TensorFlow 1's losses_impl.py. Whatever type the losses have, they are weighted and reduced
in float32.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.ops.api.tf_creation import cast, constant
from gradstep.core.ops.api.tf_scopes import get_collection
from gradstep.core.ops.build.collections import GraphKeys, collect
from gradstep.core.ops.build.python_values import as_written
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call
from gradstep.core.ops.typing.static_values import all_axes


class Reduction:
    """What becomes of the weighted losses."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_BY_NONZERO_WEIGHTS = SUM_OVER_NONZERO_WEIGHTS


REDUCTIONS = (
    Reduction.SUM_BY_NONZERO_WEIGHTS,
    Reduction.MEAN,
    Reduction.SUM_OVER_BATCH_SIZE,
    Reduction.SUM,
    Reduction.NONE,
)


def compute_weighted_loss(
    losses: TensorLike,
    weights: TensorLike = 1.0,
    scope: str | None = None,
    loss_collection: str | None = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Losses times weights, a scalar or of as many axes, reduced to a number. By default their sum
    is divided by how many of them have a weight that is not 0; 0 if there are none."""
    if reduction not in REDUCTIONS:
        raise ValueError(f"Invalid Reduction Key {reduction}; there are {', '.join(REDUCTIONS)}.")
    builder = builder_of((losses, weights))
    with builder.as_default(), builder.scope(scope or "weighted_loss"):
        values = constant(losses)
        factors = constant(weights)
        check_weights(factors, values)
        weighted = narrow(values) * narrow(factors)
        loss = cast(_reduced(weighted, weights, narrow(factors), reduction), values.dtype)
    return loss if loss_collection is None else collect(loss, loss_collection)


def narrow(x: TensorLike) -> Tensor:
    return cast(x, DType.FLOAT32)


def _reduced(weighted: Tensor, given: TensorLike, weights: Tensor, reduction: str) -> Tensor:
    if reduction == Reduction.NONE:
        return weighted
    total = whole_sum(weighted)
    if reduction == Reduction.SUM:
        return total
    if reduction == Reduction.MEAN:
        count = whole_sum(call("OnesLike", weighted) * weights)
    elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
        count = _size(weighted)
    else:
        count = _size(weighted) if _counts_all(given) else whole_sum(present(weighted, weights))
    return call("DivNoNan", total, count, name="value")


def _counts_all(weights: TensorLike) -> bool:
    return isinstance(weights, float) and weights != 0


def _size(x: Tensor) -> Tensor:
    if x.shape.is_static:
        return constant(np.float32(np.prod(x.shape.static())))
    return narrow(call("Size", x))


def whole_sum(x: Tensor) -> Tensor:
    return call("Sum", x, all_axes(x))


def present(values: Tensor, weights: Tensor) -> Tensor:
    """1 for each value whose weight is not 0, else 0; float32, in the shape of the values."""
    with values.builder.scope("num_present"):
        counted = narrow(call("NotEqual", weights, np.float32(0)))
        return counted * call("OnesLike", values)


def check_weights(weights: Tensor, values: Tensor) -> None:
    """Raises ValueError unless weights are a scalar, or have each axis of the values in full or of
    size 1."""
    mine, theirs = weights.shape, values.shape
    if mine.dims is None or theirs.dims is None or not mine.dims:
        return
    shapes = f"values.shape={as_written(theirs)}. weights.shape={as_written(mine)}"
    received = f"Received weights={weights}, values={values}"
    if mine.rank != theirs.rank:
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={theirs.rank}. "
            f"weights.rank={mine.rank}. {shapes}. {received}"
        )
    for at, (size, wanted) in enumerate(zip(mine.dims, theirs.dims, strict=True)):
        if size not in (1, None, wanted) and wanted is not None:
            raise ValueError(
                f"weights can not be broadcast to values. Mismatch at dim {at}. {shapes}. "
                f"{received}"
            )


def get_losses(scope: str | None = None, loss_collection: str = GraphKeys.LOSSES) -> list[Tensor]:
    """The losses that were made so far, as each adds itself to a collection."""
    return get_collection(loss_collection, scope)


def get_total_loss(name: str = "total_loss", scope: str | None = None) -> Tensor:
    """The sum of them all."""
    return call("AddN", *get_losses(scope), name=name)


def add_loss(loss: Tensor, loss_collection: str = GraphKeys.LOSSES) -> None:
    collect(loss, loss_collection)


VALUES: dict[str, Any] = {"losses.Reduction": Reduction}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "losses.add_loss": add_loss,
    "losses.compute_weighted_loss": compute_weighted_loss,
    "losses.get_losses": get_losses,
    "losses.get_total_loss": get_total_loss,
}
