"""Softmax and its logarithm; classes are the last axis."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare import domain_limits
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.result_memory import InPlace
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import real_floating, unref
from gradstep.core.ops.declare.ufunc import BLOCK, Calls
from gradstep.core.ops.numerics.fused_functions import fused
from gradstep.core.ops.numerics.scalar_operands import one

LAST = np.array([-1], np.int32)
_FEW_CLASSES, _MANY_ROWS = 32, 32


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


def largest_calls(logits: Any, top: Any, room: Any) -> Calls:
    """The calls that put the largest logit of each row in `top`. Of many short rows they compare
    class with class, all rows at a time, which takes NumPy half as long as row by row."""
    classes = logits.shape[-1]
    if classes == 2:
        yield partial(np.maximum, out=top[..., 0]), logits[..., 0], logits[..., 1]
        return
    if 1 < classes <= _FEW_CLASSES and _MANY_ROWS * classes <= logits.size <= BLOCK:
        by_class = np.moveaxis(room((classes, *logits.shape[:-1]), logits.dtype), 0, -1)
        yield np.copyto, by_class, logits
        logits = by_class
    yield np.maximum.reduce, logits, -1, None, top, True


def sum_calls(x: Any, total: Any) -> Calls:
    """The calls that add up each row into `total`. Two numbers NumPy adds in a quarter of the time
    in which it reduces them."""
    if x.shape[-1] == 2:
        yield np.add, x[..., 0], x[..., 1], total
    else:
        yield np.add.reduce, x, -1, None, total


@fused
def _below_and_power(xp: Any, logits: Any, largest: Any) -> tuple[Any, Any]:
    below = logits - largest
    return below, xp.exp(below)


@fused
def _power(xp: Any, logits: Any, largest: Any) -> Any:
    return xp.exp(logits - largest)


@fused
def _share(xp: Any, powers: Any, total: Any) -> Any:
    return powers * (1.0 / total)


@fused
def _log_share(xp: Any, below: Any, total: Any) -> Any:
    return below - xp.log(total)


def powers_of(xp: Any, logits: Any) -> tuple[Any, Any, Any]:
    """Logits with the largest of each row at 0, their exponentials, which cannot overflow, and the
    sum of these in each row."""
    below, powers = _below_and_power(xp, logits, _largest(xp, logits))
    return below, powers, xp.sum(powers, axis=-1, keepdims=True)


def _softmax(xp: Any, logits: Any) -> Any:
    powers = _power(xp, logits, _largest(xp, logits))
    return _share(xp, powers, xp.sum(powers, axis=-1, keepdims=True))


def _softmax_calls(xp: Any, logits: Any, *, out: Any, room: Any) -> Calls:
    if logits.size == 0:
        return
    total = room((*logits.shape[:-1], 1), logits.dtype)
    yield from largest_calls(logits, total, room)
    yield np.subtract, logits, total, out
    yield np.exp, out, out
    yield from sum_calls(out, total[..., 0])
    yield np.divide, one(np, logits), total, total
    yield np.multiply, out, total, out


def _softmax_gradient(op: OpView, g: Tensor) -> Tensor:
    y = op.outputs[0]
    return (g - call("Sum", g * y, LAST, keep_dims=True)) * y


def _log_softmax(xp: Any, logits: Any) -> Any:
    below, _, total = powers_of(xp, logits)
    return _log_share(xp, below, total)


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
    kernel=Kernels(_softmax, calls=_softmax_calls),
    memory=InPlace("logits"),
    gradient=_softmax_gradient,
    samples=_logits,
    causes=Causes(breaks=domain_limits.TERMS, flat="saturated", vanishes="underflow"),
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
    causes=Causes(breaks=domain_limits.TERMS, flat="saturated"),
    doc="The logarithm of Softmax, computed without losing small values.",
)
