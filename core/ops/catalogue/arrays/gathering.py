"""Picking rows and elements by index."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import GradstepError
from core.graph.dtypes import DType, Shape, TensorType
from core.ops.axes import positive
from core.ops.builder import OpView, Tensor, call
from core.ops.catalogue.arrays.gather_gradient import gather_gradient
from core.ops.host import integer
from core.ops.indexing import (
    blanked,
    bounds_hint,
    check,
    fill_value,
    resolve,
    subscript,
)
from core.ops.known import shape_of
from core.ops.rules import TF_CPU, Rules
from core.ops.table import InferContext, Sample, op
from core.ops.type_rules import want_rank, wrong_type


def _want_indices(ctx: InferContext, index: int) -> None:
    kind = ctx.types[index].dtype
    if not kind.is_integer:
        raise wrong_type(ctx, kind, "indices of an integer type")


def _gathered(ctx: InferContext) -> TensorType:
    params, indices, axis = ctx.types[0], ctx.types[1], ctx.constant(2)
    _want_indices(ctx, 1)
    want_rank(ctx, 2, 0)
    if params.shape.dims is None or indices.shape.dims is None or axis is None:
        return TensorType(params.dtype)
    at = positive(integer(axis), len(params.shape.dims))
    batch = _batch(ctx.attr("batch_dims"), len(indices.shape.dims))
    dims = (*params.shape.dims[:at], *indices.shape.dims[batch:], *params.shape.dims[at + 1 :])
    return TensorType(params.dtype, Shape(dims))


def _batch(batch_dims: int, rank: int) -> int:
    if not -rank <= batch_dims <= rank:
        raise GradstepError(
            f"Expected batch_dims in the range [{-rank}, {rank}], but got {batch_dims}",
            hint="batch_dims counts leading axes that params and indices share",
        )
    return batch_dims % rank if batch_dims < 0 else batch_dims


def _gather(
    xp: Any, params: Any, indices: Any, axis: Any, *, batch_dims: int, rules: Rules = TF_CPU
) -> Any:
    at = positive(integer(axis), params.ndim)
    size, batch = params.shape[at], _batch(batch_dims, indices.ndim)
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
        return _blank_from(xp, xp.take(params, safe, axis=at), at, outside, fill)
    return _batched(xp, params, safe, at, batch, outside, fill)


def _blank_from(xp: Any, values: Any, axis: int, outside: Any, fill: Any) -> Any:
    """`blanked`, where the axes of `outside` begin at `axis` of `values`."""
    if outside is None:
        return values
    return blanked(xp, values, outside.reshape((1,) * axis + outside.shape), fill)


def _batched(
    xp: Any, params: Any, safe: Any, axis: int, batch: int, outside: Any, fill: Any
) -> Any:
    """Gather in each of the leading `batch` axes apart: one take over rows numbered throughout."""
    count = int(np.prod(params.shape[:batch], dtype=np.int64))
    rows = xp.moveaxis(params, axis, batch)  # [*batch, size, *outer, *inner]
    size = rows.shape[batch]
    flat = rows.reshape((count * size, *rows.shape[batch + 1 :]))
    starts = (xp.arange(count) * size).reshape(safe.shape[:batch] + (1,) * (safe.ndim - batch))
    values = blanked(xp, xp.take(flat, safe + starts, axis=0), outside, fill)
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
    inputs="params indices #axis",
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
    differs="the gradient to params is always dense; TensorFlow's is IndexedSlices for axis 0",
)


def _gathered_nd(ctx: InferContext) -> TensorType:
    params, indices = ctx.types[0].shape, ctx.types[1].shape
    _want_indices(ctx, 1)
    if indices.dims is None or params.dims is None:
        return TensorType(ctx.types[0].dtype)
    if not indices.dims:
        raise ctx.fail("GatherNd needs indices of rank 1 or more")
    depth = indices.dims[-1]
    if depth is None:
        return TensorType(ctx.types[0].dtype)
    if depth > len(params.dims):
        raise ctx.fail(
            "indices.shape[-1] must be <= params.rank, but saw indices shape: "
            f"{indices} and params shape: {params}"
        )
    return TensorType(ctx.types[0].dtype, Shape((*indices.dims[:-1], *params.dims[depth:])))


def flat_rows(
    xp: Any, indices: Any, dims: tuple[int, ...], policy: str, negative_ok: bool
) -> tuple[Any, Any]:
    """Row numbers, and a mask of rows that stay outside, for indices [..., depth] into `dims`."""
    rows = xp.zeros(indices.shape[:-1], dtype=np.int64)
    outside = xp.zeros(indices.shape[:-1], dtype=bool)
    for axis, size in enumerate(dims):
        safe, beyond = resolve(xp, indices[..., axis], size, policy, negative_ok)
        rows = rows * size + safe
        outside = outside if beyond is None else outside | beyond
    return rows, outside


def _gather_nd(
    xp: Any,
    params: Any,
    indices: Any,
    *,
    bad_indices_policy: str,
    op: Any = None,
    rules: Rules = TF_CPU,
) -> Any:
    policy = "zero" if bad_indices_policy == "IGNORE" else rules.gather
    depth = indices.shape[-1]
    rows, outside = flat_rows(xp, indices, params.shape[:depth], policy, rules.negative_ok)
    if policy == "raise":
        if rows.size and params.size == 0:
            raise _nothing_to_gather(params.shape)
        name = "GatherNd" if op is None else op.name
        check(xp, outside, lambda place: _no_such_row(indices, place, params.shape, name))
    fill = fill_value(params.dtype, policy)
    if 0 in params.shape[:depth]:
        return xp.full(rows.shape + params.shape[depth:], fill, dtype=params.dtype)
    count = int(np.prod(params.shape[:depth], dtype=np.int64))
    values = xp.take(params.reshape((count, *params.shape[depth:])), rows, axis=0)
    return values if policy == "raise" else blanked(xp, values, outside, fill)


def _nothing_to_gather(shape: tuple[int, ...]) -> GradstepError:
    return GradstepError(
        "Requested more than 0 entries, but params is empty.  "
        f"Params shape: [{','.join(map(str, shape))}]",
        hint="give it rows to pick from, or no indices",
    )


def _no_such_row(
    indices: Any, place: tuple[int, ...], shape: tuple[int, ...], name: str
) -> GradstepError:
    return GradstepError(
        f"indices{subscript(place)} = {indices[place].tolist()} does not index into param shape "
        f"[{','.join(map(str, shape))}], node name: {name}",
        index=place,
        hint="each index must lie inside its dimension; bad_indices_policy=IGNORE gives 0 instead",
    )


def _scattered(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    params, indices = op.inputs
    shape = _sizes_like(params, indices.dtype)
    return call("ScatterNd", indices, g, shape), None


def _sizes_like(x: Tensor, dtype: DType) -> Any:
    sizes = shape_of(x)
    if isinstance(sizes, np.ndarray):
        return sizes.astype(dtype.numpy)
    return call("Cast", sizes, DstT=dtype)


def _gather_nd_samples(rng: np.random.Generator) -> list[Sample]:
    params = rng.normal(size=(3, 4))
    return [
        Sample((params, np.array(indices, np.int32)))
        for indices in ([[2, 1], [0, 0], [2, 1]], [[1], [0]], [0, 3])
    ]


op(
    "GatherNd",
    inputs="params indices",
    attrs={"bad_indices_policy": ""},
    type_attrs={"Tparams": "params", "Tindices": "indices"},
    formula="params[rows_of(indices)]",
    infer=_gathered_nd,
    kernel=_gather_nd,
    gradient=_scattered,
    samples=_gather_nd_samples,
    arithmetic="exact",
    python="gather_nd",
    doc="The elements or slices of params that the vectors along the last axis of indices name.",
    kinks="an element named twice receives both gradients",
)
