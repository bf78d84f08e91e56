"""Picking rows and elements by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.catalogue.arrays.gather_gradient import gather_gradient, rows_taken
from gradstep.core.ops.declare.axes import positive
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import want_rank
from gradstep.core.ops.numerics.index_bounds import (
    bounds_hint,
    check,
    fill_outside,
    fill_value,
    resolve,
    subscript,
    want_indices,
)
from gradstep.core.ops.numerics.taken_rows import take_rows

Dims = tuple[int | None, ...]


def _gathered(ctx: InferContext) -> TensorType:
    params, indices, axis = ctx.types[0], ctx.types[1], ctx.constant(2)
    want_indices(ctx, 1)
    want_rank(ctx, 2, 0)
    if params.shape.dims is None or indices.shape.dims is None or axis is None:
        return TensorType(params.dtype)
    at = positive(integer(axis), len(params.shape.dims))
    batch = _batch(ctx.attr("batch_dims"), at, params.shape.dims, indices.shape.dims)
    dims = (*params.shape.dims[:at], *indices.shape.dims[batch:], *params.shape.dims[at + 1 :])
    return TensorType(params.dtype, Shape(dims))


def _batch(batch_dims: int, axis: int, params: Dims, indices: Dims) -> int:
    """How many leading axes params and indices share. Raises GradstepError if they cannot."""
    rank = len(indices)
    if not -rank <= batch_dims <= rank:
        raise GradstepError(
            f"Expected batch_dims in the range [{-rank}, {rank}], but got {batch_dims}",
            hint="batch_dims counts leading axes that params and indices share",
        )
    batch = batch_dims % rank if batch_dims < 0 else batch_dims
    if batch > axis:
        raise GradstepError(
            f"batch_dims ({batch}) must be less than or equal to axis ({axis}).",
            hint="the gathered axis comes after those that are shared",
        )
    for i, (a, b) in enumerate(zip(params[:batch], indices[:batch], strict=True)):
        if None not in (a, b) and a != b:
            raise GradstepError(
                f"params.shape[{i}]: {a} should be equal to indices.shape[{i}]: {b}"
            )
    return batch


def _gather(
    xp: Any, params: Any, indices: Any, axis: Any, *, batch_dims: int, rules: Rules = TF_CPU
) -> Any:
    at = positive(integer(axis), params.ndim)
    size, batch = params.shape[at], _batch(batch_dims, at, params.shape, indices.shape)
    shape = params.shape[:at] + indices.shape[batch:] + params.shape[at + 1 :]
    if 0 in shape:  # nothing to take: no system looks at the indices then
        return xp.zeros(shape, dtype=params.dtype)
    safe, outside = resolve(xp, indices, size, rules.gather, rules.negative_ok)
    if rules.gather == "raise":
        check(xp, outside, lambda place: _not_in(indices, place, size))
        outside = None
    if size == 0:
        return xp.full(shape, fill_value(params.dtype, rules.gather), dtype=params.dtype)
    fill = fill_value(params.dtype, rules.gather)
    if batch == 0:
        taken = xp.take(params, safe, axis=at) if at else take_rows(xp, params, safe)
        return _blank_from(xp, taken, at, outside, fill)
    return _batched(xp, params, safe, at, batch, outside, fill)


def _blank_from(xp: Any, values: Any, axis: int, outside: Any, fill: Any) -> Any:
    """`fill_outside`, where the axes of `outside` begin at `axis` of `values`."""
    if outside is None:
        return values
    return fill_outside(xp, values, outside.reshape((1,) * axis + outside.shape), fill)


def _batched(
    xp: Any, params: Any, safe: Any, axis: int, batch: int, outside: Any, fill: Any
) -> Any:
    """Gather in each of the leading `batch` axes apart: one take over rows numbered throughout."""
    count = int(np.prod(params.shape[:batch], dtype=np.int64))
    rows = xp.moveaxis(params, axis, batch)  # [*batch, size, *outer, *inner]
    size = rows.shape[batch]
    flat = rows.reshape((count * size, *rows.shape[batch + 1 :]))
    starts = (xp.arange(count) * size).reshape(safe.shape[:batch] + (1,) * (safe.ndim - batch))
    values = fill_outside(xp, take_rows(xp, flat, safe + starts), outside, fill)
    outer = axis - batch  # axes of params between the batch and the gathered one
    order = [*range(batch), *range(safe.ndim, safe.ndim + outer), *range(batch, safe.ndim)]
    return xp.transpose(values, (*order, *range(safe.ndim + outer, values.ndim)))


def _not_in(indices: Any, place: tuple[int, ...], size: int) -> GradstepError:
    value = indices[place].item()
    return GradstepError(
        f"indices{subscript(place)} = {value} is not in [0, {size})",
        index=place,
        hint=bounds_hint(size),
    )


def _gather_samples(rng: np.random.Generator) -> list[Sample]:
    params = rng.normal(size=(3, 4, 2))
    cases: list[tuple[Any, int, int]] = [
        ([2, 0, 2], 0, 0),
        ([[1, 3], [0, 1]], 1, 0),
        (1, -1, 0),
        ([[3, 3], [0, 1], [2, 0]], 1, 1),
        ([[1, 1], [0, 1], [1, 0]], 2, 1),
    ]
    return [
        Sample((params, np.array(indices, np.int32), np.int32(axis)), {"batch_dims": batch})
        for indices, axis, batch in cases
    ]


op(
    "GatherV2",
    inputs="params indices #axis:int32,int64",
    attrs={"batch_dims": 0},
    type_attrs={"Tparams": "params", "Tindices": "indices", "Taxis": "axis"},
    formula="gather(params, indices, axis, batch_dims)",
    infer=_gathered,
    kernel=_gather,
    gradient=gather_gradient,
    samples=_gather_samples,
    arithmetic="exact",
    doc="The rows of params that the indices name, along an axis.",
    kinks="a row named twice receives both gradients",
)


def _rows_type(ctx: InferContext) -> TensorType:
    params, indices = (kind.shape for kind in ctx.types)
    want_indices(ctx, 1)
    if params.rank == 0:
        raise ctx.fail("params must be at least 1 dimensional")
    if params.dims is None or indices.dims is None:
        return TensorType(ctx.types[0].dtype)
    return TensorType(ctx.types[0].dtype, Shape((*indices.dims, *params.dims[1:])))


def _take_rows(xp: Any, params: Any, indices: Any, *, rules: Rules = TF_CPU) -> Any:
    return _gather(xp, params, indices, np.int32(0), batch_dims=0, rules=rules)


op(
    "Gather",
    inputs="params indices",
    attrs={"validate_indices": True},
    type_attrs={"Tparams": "params", "Tindices": "indices"},
    formula="take(params, indices, 0)",
    infer=_rows_type,
    kernel=_take_rows,
    gradient=lambda op, g: (rows_taken(g, *op.inputs), None),
    samples=lambda rng: [
        Sample((rng.normal(size=(3, 2)), np.array(indices, np.int32)))
        for indices in ([2, 0, 2], [[1], [0]], 1)
    ],
    arithmetic="exact",
    doc="The rows of params that the indices name: GatherV2 without an axis, of older graphs.",
    kinks="a row named twice receives both gradients",
)
