"""Adding rows up where their indices point, and the one-hot code of an index."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import GradstepError
from core.graph.dtypes import Shape, TensorType
from core.ops.builder import OpView, Tensor, call
from core.ops.catalogue.arrays.gathering import flat_rows
from core.ops.host import integer, integers
from core.ops.indexing import blanked, bounds_hint, check, resolve, subscript
from core.ops.known import zeros_like
from core.ops.rules import TF_CPU, Rules
from core.ops.samples import ints
from core.ops.table import InferContext, Sample, op
from core.ops.type_rules import numeric, sized_by, want_rank, wrong_type


def _want_indices(ctx: InferContext, index: int) -> None:
    kind = ctx.types[index].dtype
    if not kind.is_integer:
        raise wrong_type(ctx, kind, "indices of an integer type")


def _scattered(ctx: InferContext) -> TensorType:
    _want_indices(ctx, 0)
    dims = ctx.constant(2)
    if dims is None:
        return TensorType(ctx.types[1].dtype, sized_by(ctx.types[2].shape))
    sizes = integers(dims)
    _check_scatter(ctx.types[0].shape, ctx.types[1].shape, sizes)
    return TensorType(ctx.types[1].dtype, Shape(sizes))


def _check_scatter(indices: Shape, updates: Shape, sizes: tuple[int, ...]) -> None:
    """Updates are [*indices.shape[:-1], *sizes[depth:]], depth being the last size of indices.
    Raises GradstepError when they cannot be."""
    if min(sizes, default=0) < 0:
        raise GradstepError(f"{list(sizes)} is not a shape: sizes are not negative")
    if indices.rank == 0:
        raise GradstepError("ScatterNd needs indices of rank 1 or more")
    if indices.dims is None or indices.dims[-1] is None:
        return
    depth = indices.dims[-1]
    if depth > len(sizes):
        raise GradstepError(f"indices of depth {depth} do not fit shape {Shape(sizes)}")
    wanted = Shape((*indices.dims[:-1], *sizes[depth:]))
    try:
        wanted.merge(updates)
    except ValueError:
        raise GradstepError(
            f"updates of shape {updates} do not fit indices of shape {indices} into shape "
            f"{Shape(sizes)}",
            hint=f"they must be {wanted}",
        ) from None


def _scatter_nd(
    xp: Any,
    indices: Any,
    updates: Any,
    shape: Any,
    *,
    bad_indices_policy: str,
    rules: Rules = TF_CPU,
) -> Any:
    dims = integers(shape)
    _check_scatter(Shape(indices.shape), Shape(updates.shape), dims)
    policy = "zero" if bad_indices_policy == "IGNORE" else rules.scatter
    depth = indices.shape[-1]
    rows, outside = flat_rows(xp, indices, dims[:depth], policy, rules.negative_ok)
    if policy == "raise":
        check(xp, outside, lambda place: _no_such_row(indices, place, dims))
    count = int(np.prod(dims[:depth], dtype=np.int64))
    return sum_rows(xp, updates, rows, outside, count).reshape(dims)


def sum_rows(xp: Any, values: Any, rows: Any, dropped: Any, count: int) -> Any:
    """[count, …]: rows of `values` added up by row number; `dropped` ones are left out."""
    inner = values.shape[rows.ndim :]
    total = xp.zeros((count, *inner), dtype=values.dtype)
    if count == 0 or rows.size == 0:
        return total
    kept = blanked(xp, values, dropped, 0)
    xp.add.at(total, rows.reshape(-1), kept.reshape((rows.size, *inner)))
    return total


def _no_such_row(indices: Any, place: tuple[int, ...], dims: tuple[int, ...]) -> GradstepError:
    return GradstepError(
        f"indices{subscript(place)} = {indices[place].tolist()} does not index into shape "
        f"[{','.join(map(str, dims))}]",
        index=place,
        hint="each index must lie inside its dimension; bad_indices_policy=IGNORE drops the row",
    )


def _scatter_samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((np.array([[1], [3], [1]], np.int32), rng.normal(size=3), ints(5))),
        Sample((np.array([[1], [0]], np.int32), rng.normal(size=(2, 3)), ints(2, 3))),
        Sample((np.array([[1, 2], [0, 0]], np.int32), rng.normal(size=2), ints(2, 3))),
    ]


op(
    "ScatterNd",
    inputs="indices updates #shape",
    attrs={"bad_indices_policy": ""},
    type_attrs={"T": "updates", "Tindices": "indices"},
    formula="scatter(indices, updates, shape)",
    infer=_scattered,
    kernel=_scatter_nd,
    gradient=lambda op, g: (None, call("GatherNd", g, op.inputs[0]), None),
    samples=_scatter_samples,
    arithmetic="reducing",
    python="scatter_nd",
    doc="Zeros of the given shape, with the updates added where the indices point.",
    differs="on a GPU, duplicates are added in any order, so the last bits may vary",
)


def _segmented(ctx: InferContext) -> TensorType:
    data, ids, count = ctx.types[0].shape, ctx.types[1].shape, ctx.constant(2)
    _want_indices(ctx, 1)
    want_rank(ctx, 2, 0)
    if count is not None and integer(count) < 0:
        raise ctx.fail(
            f"Dimension size, given by scalar input 2 must be non-negative but is {count}"
        )
    if data.dims is None or ids.dims is None:
        return TensorType(ctx.types[0].dtype)
    rank = len(ids.dims)
    try:
        Shape(data.dims[:rank]).merge(ids)
    except ValueError:
        raise ctx.fail(
            f"data.shape = {data} does not start with segment_ids.shape = {ids}"
        ) from None
    first = None if count is None else integer(count)
    return TensorType(ctx.types[0].dtype, Shape((first, *data.dims[rank:])))


def _segment_sum(xp: Any, data: Any, ids: Any, num_segments: Any, *, rules: Rules = TF_CPU) -> Any:
    count = integer(num_segments)
    rows, dropped = resolve(xp, ids, count, rules.scatter, rules.negative_ok)
    if rules.scatter == "raise" and data.size:  # negative ones are dropped in silence
        check(xp, ids >= count, lambda place: _no_such_segment(ids, place, count))
    return sum_rows(xp, data, rows, dropped, count)


def _no_such_segment(ids: Any, place: tuple[int, ...], count: int) -> GradstepError:
    value = ids[place].item()
    return GradstepError(
        f"segment_ids{subscript(place)} = {value} is out of range [0, {count})",
        index=place,
        hint=bounds_hint(count),
    )


def _picked(op: OpView, g: Tensor) -> tuple[Tensor, None, None]:
    """Each row gets its segment's gradient; rows of negative segments, which were dropped, 0."""
    ids = op.inputs[1]
    zero = np.array(0, np.int32)
    safe = call("Maximum", ids, np.array(0, ids.dtype.numpy))
    rows = call("GatherV2", g, safe, zero)
    kept = call("GreaterEqual", ids, np.array(0, ids.dtype.numpy))
    kept = _lined_up(kept, rows)
    return call("SelectV2", kept, rows, zeros_like(rows)), None, None


def _lined_up(mask: Tensor, rows: Tensor) -> Tensor:
    """`mask` with axes of size 1 after its own, as many as `rows` has more."""
    if mask.shape.rank is not None and rows.shape.rank is not None:
        for _ in range(rows.shape.rank - mask.shape.rank):
            mask = call("ExpandDims", mask, np.array(-1, np.int32))
        return mask
    sizes = call("Shape", mask)
    extra = call("Rank", rows) - call("Rank", mask)
    ones = call("Fill", call("ExpandDims", extra, np.array(0, np.int32)), np.array(1, np.int32))
    return call("Reshape", mask, call("ConcatV2", sizes, ones, np.array(0, np.int32)))


op(
    "UnsortedSegmentSum",
    inputs="data segment_ids #num_segments",
    type_attrs={"T": "data", "Tindices": "segment_ids", "Tnumsegments": "num_segments"},
    formula="segment_sum(data, segment_ids, num_segments)",
    infer=numeric(_segmented),
    kernel=_segment_sum,
    gradient=_picked,
    samples=lambda rng: [
        Sample((rng.normal(size=(4, 2)), ints(0, 2, 0, -1), np.int32(4))),
        Sample((rng.normal(size=(2, 2)), np.array([[0, 1], [1, 1]], np.int32), np.int32(2))),
    ],
    arithmetic="reducing",
    python="unsorted_segment_sum",
    doc="The sum of the rows of each segment; rows of negative segments are dropped.",
    differs="on a GPU, rows are added in any order, so the last bits may vary",
)


def _one_hot_type(ctx: InferContext) -> TensorType:
    _want_indices(ctx, 0)
    for index in (1, 2, 3):
        want_rank(ctx, index, 0)
    shape, depth = ctx.types[0].shape, ctx.constant(1)
    if ctx.types[2].dtype != ctx.types[3].dtype:
        raise wrong_type(ctx, ctx.types[3].dtype, "on and off values of one element type")
    axis = ctx.attr("axis")
    rank = axis if shape.rank is None else shape.rank
    if not -1 <= axis <= rank:
        raise ctx.fail(f"Expected axis to be -1 or between [0, {rank + 1}), but got {axis}")
    if shape.dims is None:
        return TensorType(ctx.types[2].dtype)
    dims = list(shape.dims)
    dims.insert(len(dims) if axis == -1 else axis, None if depth is None else _depth(depth))
    return TensorType(ctx.types[2].dtype, Shape(tuple(dims)))


def _depth(depth: Any) -> int:
    if integer(depth) < 0:
        raise GradstepError(f"depth must be non-negative, got: {integer(depth)}")
    return integer(depth)


def _one_hot(xp: Any, indices: Any, depth: Any, on: Any, off: Any, *, axis: int) -> Any:
    at = indices.ndim if axis == -1 else axis
    places = xp.arange(_depth(depth)).reshape((-1,) + (1,) * (indices.ndim - at))
    return xp.where(xp.expand_dims(indices, at) == places, on, off)


op(
    "OneHot",
    inputs="indices #depth on_value off_value",
    attrs={"axis": -1},
    type_attrs={"T": "on_value", "TI": "indices"},
    formula="where(one_hot(indices, depth, axis), on_value, off_value)",
    infer=_one_hot_type,
    kernel=_one_hot,
    differentiable=False,
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
