"""Picking elements and slices by vectors of indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.numerics.index_bounds import (
    BAD_INDICES,
    check,
    fill_outside,
    fill_value,
    subscript,
    want_indices,
)
from gradstep.core.ops.numerics.row_updates import flat_rows
from gradstep.core.ops.numerics.taken_rows import take_rows
from gradstep.core.ops.typing.static_values import shape_of

Dims = tuple[int | None, ...]


def _gathered_nd(ctx: InferContext) -> TensorType:
    params, indices = ctx.types[0].shape, ctx.types[1].shape
    want_indices(ctx, 1)
    if indices.dims is None or params.dims is None:
        return TensorType(ctx.types[0].dtype)
    _check_depth(params.dims, indices.dims)
    depth = indices.dims[-1]
    if depth is None:
        return TensorType(ctx.types[0].dtype)
    return TensorType(ctx.types[0].dtype, Shape((*indices.dims[:-1], *params.dims[depth:])))


def _check_depth(params: Dims, indices: Dims) -> None:
    """Raises GradstepError where vectors of indices are longer than params have axes."""
    if not params:
        raise GradstepError("params must be at least a vector")
    if not indices:
        raise GradstepError("indices must be at least a vector")
    if indices[-1] is not None and indices[-1] > len(params):
        raise GradstepError(
            "indices.shape[-1] must be <= params.rank, but saw indices shape: "
            f"{brackets(indices)} and params shape: {brackets(params)}",
            hint="the last axis of indices holds one index for each of the leading axes of params",
        )


def _gather_nd(
    xp: Any,
    params: Any,
    indices: Any,
    *,
    bad_indices_policy: str,
    op: Any = None,
    rules: Rules = TF_CPU,
) -> Any:
    _check_depth(params.shape, indices.shape)
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
    values = take_rows(xp, params.reshape((count, *params.shape[depth:])), rows)
    return values if policy == "raise" else fill_outside(xp, values, outside, fill)


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


def _scattered(op: OpView, g: Tensor) -> tuple[Tensor | IndexedSlices, None]:
    """Whole rows as rows; else the gradient is added up where it came from."""
    params, indices = op.inputs
    if indices.shape.rank == 2 and list(indices.shape)[1] == 1:
        rows = call("Squeeze", indices, squeeze_dims=(1,))
        return IndexedSlices(g, rows, shape_of(params, indices.dtype)), None
    if (indices.shape.rank or 0) < 2:  # ScatterNd takes no single index
        indices, g = (call("ExpandDims", x, np.array(0, np.int32)) for x in (indices, g))
    policy = op.get_attr("bad_indices_policy")
    attrs = {"bad_indices_policy": policy} if policy else {}
    return call("ScatterNd", indices, g, shape_of(params, indices.dtype), **attrs), None


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
    choices=BAD_INDICES,
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
    differs="a single index has a gradient; TensorFlow's own fails there",
)
