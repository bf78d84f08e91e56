"""OneHot: the one-hot code of an index."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import want_rank, wrong_type

_INDICES = (DType.UINT8, DType.INT8, DType.INT32, DType.INT64)


def _one_hot_type(ctx: InferContext) -> TensorType:
    if ctx.types[0].dtype not in _INDICES:
        wanted = "indices of element type uint8, int8, int32 or int64"
        raise wrong_type(ctx, ctx.types[0].dtype, wanted)
    for index in (1, 2, 3):
        want_rank(ctx, index, 0)
    shape, depth = ctx.types[0].shape, ctx.constant(1)
    if ctx.types[2].dtype != ctx.types[3].dtype:
        raise wrong_type(ctx, ctx.types[3].dtype, "on and off values of one element type")
    axis = ctx.attr("axis")
    rank = axis if shape.rank is None else shape.rank
    _check_axis(axis, rank)
    if shape.dims is None:
        return TensorType(ctx.types[2].dtype)
    dims = list(shape.dims)
    dims.insert(len(dims) if axis == -1 else axis, None if depth is None else _depth(depth))
    return TensorType(ctx.types[2].dtype, Shape(tuple(dims)))


def _check_axis(axis: int, rank: int) -> None:
    if not -1 <= axis <= rank:
        raise GradstepError(
            f"Expected axis to be -1 or between [0, {rank + 1}).  But received: {axis}",
            hint="it is where the new axis comes",
        )


def _depth(depth: Any) -> int:
    if integer(depth) < 0:
        raise GradstepError(f"depth must be non-negative, got: {integer(depth)}")
    return integer(depth)


def _one_hot(xp: Any, indices: Any, depth: Any, on: Any, off: Any, *, axis: int) -> Any:
    for name, value in (("depth", depth), ("on_value", on), ("off_value", off)):
        if value.ndim:
            raise GradstepError(f"{name} must be a scalar, but got: {brackets(value.shape)}")
    _check_axis(axis, indices.ndim)
    at = indices.ndim if axis == -1 else axis
    places = xp.arange(_depth(depth)).reshape((-1,) + (1,) * (indices.ndim - at))
    return xp.where(xp.expand_dims(indices, at) == places, on, off)


op(
    "OneHot",
    inputs="indices #depth:int32 on_value off_value",
    attrs={"axis": -1},
    type_attrs={"T": "on_value", "TI": "indices"},
    formula="where(one_hot(indices, depth, axis), on_value, off_value)",
    infer=_one_hot_type,
    kernel=_one_hot,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample(
            (np.array(at, np.int32), np.int32(3), rng.normal(size=()), rng.normal(size=())),
            {"axis": axis},
        )
        for at, axis in (([0, 2, 5], -1), ([[1], [-1]], 0), (1, -1))
    ],
    arithmetic="exact",
    doc="on_value at the position that the index names, off_value elsewhere; outside, all off.",
)
