"""Losses of ONNX."""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_activations import over_axis
from gradstep.core.lowering.onnx.onnx_operands import (
    add_axis,
    cast,
    in_float32,
    ints,
    rank,
    squeeze,
    transpose,
)
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call


@lower("NegativeLogLikelihoodLoss")
@in_float32
def negative_log_likelihood(
    site: Site,
    x: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Classes are axis 1. What is ignored has no weight."""
    last = transpose(x, [0, *range(2, rank(x)), 1])
    target = target if target.dtype in (DType.INT32, DType.INT64) else cast(target, DType.INT64)
    ignored = None
    if ignore_index is not None:
        ignored = call("Equal", target, np.array(ignore_index, target.dtype.numpy))
        target = call("SelectV2", ignored, np.zeros((), target.dtype.numpy), target)
    picked = call(
        "GatherV2", last, add_axis(target, rank(target)), np.int32(rank(target)),
        batch_dims=rank(target),
    )  # fmt: skip
    loss = call("Neg", squeeze(picked, [rank(target)]))
    counts = None if weight is None else call("GatherV2", weight, target, np.int32(0))
    if ignored is not None:
        ones = call("OnesLike", loss) if counts is None else counts
        counts = call("SelectV2", ignored, call("ZerosLike", ones), ones)
        loss = call("SelectV2", ignored, call("ZerosLike", loss), loss)
    return _reduced(loss, counts, reduction)


def _reduced(loss: Tensor, counts: Tensor | None, reduction: str) -> Tensor:
    weighted = loss if counts is None else call("Mul", loss, counts)
    axes = ints(range(rank(loss)))
    if reduction == "none":
        return weighted
    if reduction == "sum":
        return call("Sum", weighted, axes)
    if reduction != "mean":
        raise UnloweredError(f"the reduction {reduction!r:.40}")
    if counts is None:
        return call("Mean", loss, axes)
    return call("RealDiv", call("Sum", weighted, axes), call("Sum", counts, axes))


@lower("SoftmaxCrossEntropyLoss")
@in_float32
def softmax_cross_entropy(
    site: Site,
    scores: Tensor,
    labels: Tensor,
    weights: Tensor | None = None,
    *,
    ignore_index: int | None = None,
    reduction: str = "mean",
) -> list[Tensor]:
    logs = over_axis(scores, 1, lambda y: call("LogSoftmax", y))
    loss = negative_log_likelihood(
        site, logs, labels, weights, ignore_index=ignore_index, reduction=reduction
    )
    return [loss, logs]
