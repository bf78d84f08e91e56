"""Softmax and its logarithm; classes are the last axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.graph.dtypes import TensorType
from core.ops.builder import OpView, Tensor, call
from core.ops.table import InferContext, Sample, op
from core.ops.type_rules import real_floating, unref

LAST = np.array([-1], np.int32)


def _with_classes(ctx: InferContext) -> TensorType:
    if ctx.types[0].shape.rank == 0:
        raise ctx.fail(
            "logits must have >= 1 dimension, got []", hint="the last axis is that of the classes"
        )
    return unref(ctx)


def _largest(xp: Any, logits: Any) -> Any:
    """The largest logit of each row; of rows without classes, anything."""
    if logits.size == 0:
        return xp.zeros((*logits.shape[:-1], 1), dtype=logits.dtype)
    return xp.max(logits, axis=-1, keepdims=True)


def shifted(xp: Any, logits: Any) -> Any:
    """Logits with the largest of each row at 0, whose exponentials cannot overflow."""
    return logits - _largest(xp, logits)


def _softmax(xp: Any, logits: Any) -> Any:
    powers = xp.exp(shifted(xp, logits))
    return powers * (1.0 / xp.sum(powers, axis=-1, keepdims=True))


def _softmax_out(xp: Any, logits: Any, *, out: Any) -> Any:
    xp.subtract(logits, _largest(xp, logits), out=out)
    xp.exp(out, out=out)
    return xp.multiply(out, 1.0 / xp.sum(out, axis=-1, keepdims=True), out=out)


def _softmax_gradient(op: OpView, g: Tensor) -> Tensor:
    y = op.outputs[0]
    return (g - call("Sum", g * y, LAST, keep_dims=True)) * y


def _log_softmax(xp: Any, logits: Any) -> Any:
    below = shifted(xp, logits)
    return below - xp.log(xp.sum(xp.exp(below), axis=-1, keepdims=True))


def _log_softmax_gradient(op: OpView, g: Tensor) -> Tensor:
    return g - call("Sum", g, LAST, keep_dims=True) * call("Exp", op.outputs[0])


def _logits(rng: np.random.Generator) -> list[Sample]:
    return [Sample((rng.normal(size=shape),)) for shape in ((3,), (2, 3), (2, 2, 3), (2, 0))]


op(
    "Softmax",
    inputs="logits",
    outputs="softmax",
    type_attrs={"T": "logits"},
    formula="exp(logits) / sum(exp(logits), -1, keepdims=True)",
    infer=real_floating(_with_classes),
    kernel=_softmax,
    out_kernel=_softmax_out,
    gradient=_softmax_gradient,
    samples=_logits,
    doc="Exponentials along the last axis, scaled to sum to 1.",
)
op(
    "LogSoftmax",
    inputs="logits",
    outputs="logsoftmax",
    type_attrs={"T": "logits"},
    formula="logits - log(sum(exp(logits), -1, keepdims=True))",
    infer=real_floating(_with_classes),
    kernel=_log_softmax,
    gradient=_log_softmax_gradient,
    samples=_logits,
    doc="The logarithm of Softmax, computed without losing small values.",
)
