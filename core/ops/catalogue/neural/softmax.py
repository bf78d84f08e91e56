"""Softmax, its logarithm, and the cross-entropy against it; classes are the last axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.graph.dtypes import UNKNOWN, Shape, TensorType
from core.ops.builder import OpView, Tensor, call
from core.ops.shapes import one_dtype
from core.ops.table import InferContext, Sample, op
from core.ops.type_rules import floating, merged, unref

_LAST = np.array([-1], np.int32)


def _with_classes(ctx: InferContext) -> TensorType:
    if ctx.types[0].shape.rank == 0:
        raise ctx.fail(f"{ctx.op.type} needs a last axis of classes, not a scalar")
    return unref(ctx)


def _largest(xp: Any, logits: Any) -> Any:
    """The largest logit of each row; of rows without classes, anything."""
    if logits.size == 0:
        return xp.zeros((*logits.shape[:-1], 1), dtype=logits.dtype)
    return xp.max(logits, axis=-1, keepdims=True)


def _shifted(xp: Any, logits: Any) -> Any:
    return logits - _largest(xp, logits)


def _softmax(xp: Any, logits: Any) -> Any:
    powers = xp.exp(_shifted(xp, logits))
    return powers * (1.0 / xp.sum(powers, axis=-1, keepdims=True))


def _softmax_out(xp: Any, logits: Any, *, out: Any) -> Any:
    xp.subtract(logits, _largest(xp, logits), out=out)
    xp.exp(out, out=out)
    return xp.multiply(out, 1.0 / xp.sum(out, axis=-1, keepdims=True), out=out)


def _softmax_gradient(op: OpView, g: Tensor) -> Tensor:
    y = op.outputs[0]
    return (g - call("Sum", g * y, _LAST, keep_dims=True)) * y


def _log_softmax(xp: Any, logits: Any) -> Any:
    shifted = _shifted(xp, logits)
    return shifted - xp.log(xp.sum(xp.exp(shifted), axis=-1, keepdims=True))


def _log_softmax_gradient(op: OpView, g: Tensor) -> Tensor:
    return g - call("Sum", g, _LAST, keep_dims=True) * call("Exp", op.outputs[0])


def _logits(rng: np.random.Generator) -> list[Sample]:
    return [Sample((rng.normal(size=shape),)) for shape in ((3,), (2, 3), (2, 2, 3), (2, 0))]


op(
    "Softmax",
    inputs="logits",
    outputs="softmax",
    type_attrs={"T": "logits"},
    formula="exp(logits) / sum(exp(logits), -1, keepdims=True)",
    infer=floating(_with_classes),
    kernel=_softmax,
    out_kernel=_softmax_out,
    gradient=_softmax_gradient,
    samples=_logits,
    python="softmax",
    doc="Exponentials along the last axis, scaled to sum to 1.",
)
op(
    "LogSoftmax",
    inputs="logits",
    outputs="logsoftmax",
    type_attrs={"T": "logits"},
    formula="logits - log(sum(exp(logits), -1, keepdims=True))",
    infer=floating(_with_classes),
    kernel=_log_softmax,
    gradient=_log_softmax_gradient,
    samples=_logits,
    python="log_softmax",
    doc="The logarithm of Softmax, computed without losing small values.",
)


def _loss_and_backprop(ctx: InferContext) -> tuple[TensorType, TensorType]:
    dtype = one_dtype(ctx)
    features, labels = ctx.types[0].shape, ctx.types[1].shape
    shape = merged(ctx, features, labels)
    if shape.rank == 0:
        raise ctx.fail("logits and labels need a last axis of classes, not scalars")
    loss = UNKNOWN if shape.dims is None else Shape(shape.dims[:-1])
    return TensorType(dtype, loss), TensorType(dtype, shape)


def _cross_entropy(xp: Any, features: Any, labels: Any) -> Any:
    shifted = _shifted(xp, features)
    powers = xp.exp(shifted)
    total = xp.sum(powers, axis=-1, keepdims=True)
    loss = xp.sum(labels * (xp.log(total) - shifted), axis=-1)
    return loss, powers / total - labels


def _cross_entropy_gradient(
    op: OpView, g_loss: Tensor, g_backprop: Tensor | None
) -> tuple[Tensor, Tensor]:
    """To the logits through `backprop`, which the forward op has made already; the term for a
    gradient of `backprop` itself is only there where there is one (second derivatives)."""
    logits = op.inputs[0]
    column = call("ExpandDims", g_loss, np.array(-1, np.int32))
    to_logits = column * op.outputs[1]
    if g_backprop is not None and g_backprop.op.type != "ZerosLike":
        y = call("Softmax", logits)
        inner = call("Sum", g_backprop * y, _LAST, keep_dims=True)
        to_logits = to_logits + (g_backprop - inner) * y
    return to_logits, column * -call("LogSoftmax", logits)


def _with_labels(rng: np.random.Generator) -> list[Sample]:
    found = []
    for shape in ((3,), (2, 3), (2, 2, 3)):
        labels = rng.uniform(0.1, 1, shape)
        found.append(Sample((rng.normal(size=shape), labels / labels.sum(-1, keepdims=True))))
    return found


op(
    "SoftmaxCrossEntropyWithLogits",
    inputs="features labels",
    outputs="loss backprop",
    type_attrs={"T": "features"},
    formula="sum(labels * (log(sum(exp(features), -1, keepdims=True)) - features), -1)",
    infer=floating(_loss_and_backprop),
    kernel=_cross_entropy,
    gradient=_cross_entropy_gradient,
    samples=_with_labels,
    doc="The cross-entropy of labels against the softmax of features, and its derivative to them.",
    differs="takes any rank from 1, TensorFlow's only 2; labels are not broadcast; the derivative "
    "to the features assumes labels that sum to 1, as TensorFlow's does",
)
