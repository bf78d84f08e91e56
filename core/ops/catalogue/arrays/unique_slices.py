"""Distinct slices of a tensor along an axis, as Unique finds distinct values of a vector."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import INDEX, UNKNOWN, DType, Shape, TensorType
from gradstep.core.ops.catalogue.arrays.where_and_unique import distinct_groups, in_order
from gradstep.core.ops.declare.host_arrays import home, integers
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import want_rank, wrong_type


def _distinct(ctx: InferContext) -> tuple[TensorType, ...]:
    x = ctx.types[0]
    if x.dtype.is_complex:
        raise wrong_type(ctx, x.dtype, "real numbers, bool or strings")
    want_rank(ctx, 1, 1)
    axis, index = ctx.constant(1), DType(ctx.attr("out_idx"))
    shape, size = UNKNOWN, None
    if x.shape.dims is not None:
        shape = Shape((None,) * len(x.shape.dims))
        if axis is not None:
            along = _axis(axis, len(x.shape.dims))
            size = x.shape.dims[along]
            shape = Shape((*x.shape.dims[:along], None, *x.shape.dims[along + 1 :]))
    counts = [TensorType(index, Shape.of(None))] * (len(ctx.definition.outputs) - 2)
    return TensorType(x.dtype, shape), TensorType(index, Shape.of(size)), *counts


def _axis(axis: Any, rank: int) -> int:
    """The axis; an empty vector means the only one."""
    given = integers(axis)
    if len(given) > 1:
        raise GradstepError("axis does not support input tensors larger than 1 elements")
    if not given and rank != 1:
        raise GradstepError("unique expects a 1D vector.", hint="say along which axis: [0]")
    found = given[0] if given else 0
    if not -rank <= found < rank:
        raise GradstepError(f"axis has to be between [0, {rank})")
    return found % rank


def _unique(xp: Any, x: Any, axis: Any, *, out_idx: DType) -> Any:
    return _unique_with_counts(xp, x, axis, out_idx=out_idx)[:2]


def _unique_with_counts(xp: Any, x: Any, axis: Any, *, out_idx: DType) -> Any:
    along, own = _axis(axis, x.ndim), home(xp, x)
    first, index, counts = _in_order(own, own.moveaxis(x, along, 0), DType(out_idx).numpy)
    return own.take(x, first, axis=along), xp.asarray(index), xp.asarray(counts)


def _in_order(xp: Any, rows: Any, kind: np.dtype) -> tuple[Any, Any, Any]:
    flat = rows.reshape((rows.shape[0], -1)) if rows.size else rows.reshape((rows.shape[0], 0))
    if xp is np or flat.shape[1] == 0:
        return in_order(xp, _names(xp, flat), kind)
    order = xp.argsort(flat[:, -1], kind="stable")
    for column in range(flat.shape[1] - 2, -1, -1):
        order = xp.take(order, xp.argsort(xp.take(flat[:, column], order), kind="stable"))
    in_turn = xp.take(flat, order, axis=0)
    differs = xp.any(in_turn[1:] != in_turn[:-1], axis=1)
    return distinct_groups(xp, order, differs, kind)


def _names(xp: Any, flat: Any) -> Any:
    """A number for each row, the same for equal ones: column by column."""
    names = xp.zeros(flat.shape[0], dtype=np.int64)
    for column in range(flat.shape[1]):
        _, place = xp.unique(flat[:, column], return_inverse=True, equal_nan=False)
        both = names * flat.shape[0] + place.reshape(-1)
        names = xp.unique(both, return_inverse=True)[1].reshape(-1)
    return names


def _samples(rng: np.random.Generator) -> list[Sample]:
    matrix = ints([1, 2], [3, 4], [1, 2], [0, 2])
    return [
        Sample((matrix, ints(0))),
        Sample((matrix, ints(-1)), {"out_idx": DType.INT64}),
        Sample((np.array([0.5, np.nan, 0.5, np.nan]), np.zeros(0, np.int64))),
        Sample((np.arange(12.0).reshape(2, 3, 2) // 6, ints(1))),
        Sample((np.zeros((2, 0)), ints(0))),
    ]


for _type, _outputs, _kernel, _doc in (
    ("UniqueV2", "y idx", _unique, "first occur, and which one each is."),
    ("UniqueWithCountsV2", "y idx count", _unique_with_counts, "first occur, and how often."),
):
    op(
        _type,
        inputs="x #axis:int32,int64",
        outputs=_outputs,
        attrs={"out_idx": DType.INT32},
        choices={"out_idx": INDEX},
        type_attrs={"T": "x", "Taxis": "axis"},
        formula="distinct_slices(x, axis)",
        infer=_distinct,
        kernel=Kernels(_kernel, asks="how many there are"),
        samples=_samples,
        arithmetic="exact",
        doc=f"The distinct slices along an axis in the order in which they {_doc}",
        kinks="it has no gradient: asking for one is a LookupError, as in TensorFlow",
    )
