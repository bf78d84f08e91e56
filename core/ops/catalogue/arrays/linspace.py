"""LinSpace: numbers at equal distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.shape_rules import brackets, one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import wrong_type

_NAMES = ("start", "stop", "num")


def _type(ctx: InferContext) -> TensorType:
    dtype = one_dtype(ctx, ctx.types[:2])
    if dtype not in (DType.BFLOAT16, DType.FLOAT32, DType.FLOAT64):
        raise wrong_type(ctx, dtype, "bfloat16, float32 or float64")
    for name, kind in zip(_NAMES, ctx.types, strict=True):
        if kind.shape.rank not in (None, 0):
            raise ctx.fail(
                f"Shape must be rank 0 but is rank {kind.shape.rank} for '{name}'",
                hint="tf.linspace takes tensors, too",
            )
    num = ctx.constant(2)
    return TensorType(dtype, Shape.of(None if num is None else _count(num)))


def _count(num: Any) -> int:
    if integer(num) <= 0:
        raise GradstepError(f"Requires num > 0: {integer(num)}")
    return integer(num)


def _linspace(xp: Any, start: Any, stop: Any, num: Any) -> Any:
    for name, value in zip(_NAMES, (start, stop, num), strict=True):
        if value.ndim:
            raise GradstepError(f"{name} must be a scalar, not shape {brackets(value.shape)}")
    count = _count(num)
    steps = xp.arange(count).astype(start.dtype)
    last = max(count - 1, 1)
    values = start + steps * ((stop - start) / last)
    return xp.where(steps == 0, start, xp.where(steps == last, stop, values))


op(
    "LinSpace",
    inputs="start stop #num:int32,int64",
    type_attrs={"T": "start", "Tidx": "num"},
    formula="linspace(start, stop, num)",
    infer=_type,
    kernel=_linspace,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample((np.float64(start), np.float64(stop), np.int32(num)))
        for start, stop, num in ((0, 1, 5), (2, -1, 4), (3, 7, 1))
    ],
    arithmetic="rounded",
    doc="Numbers from start to stop, both included, at equal distances.",
    kinks="no gradient: tf.linspace has one and is made of other ops",
)
