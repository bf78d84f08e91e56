"""Rows of the same segment reduced to one row, where the segments come in order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.arrays.segment_gradients import (
    sorted_shared_by_equal,
    sorted_without_own_factor,
    taken,
)
from gradstep.core.ops.catalogue.arrays.unsorted_segments import NAN_WINS, combined
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import starts_with
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import numeric, real
from gradstep.core.ops.numerics.index_bounds import want_indices
from gradstep.core.ops.numerics.row_updates import sum_rows


def _segmented(ctx: InferContext) -> TensorType:
    want_indices(ctx, 1)
    data, ids = ctx.types[0].shape, ctx.types[1].shape
    check_shapes(data, ids)
    if data.dims is None:
        return TensorType(ctx.types[0].dtype)
    return TensorType(ctx.types[0].dtype, Shape((None, *data.dims[1:])))


def check_shapes(data: Shape, ids: Shape) -> None:
    """Raises GradstepError unless there may be one id for each row."""
    if ids.rank not in (None, 1):
        raise GradstepError("segment_ids should be a vector.")
    if data.rank == 0:
        raise GradstepError("input must be at least rank 1")
    if not starts_with(data, ids):
        raise GradstepError(
            "segment_ids should be the same size as dimension 0 of input.",
            hint="there is one id for each row",
        )


def count_segments(xp: Any, ids: Any, also: Any = None) -> tuple[int, bool]:
    """One more than the last id, and whether the mask `also` holds anywhere: read on the host
    together. Raises GradstepError when the ids do not ascend from 0 on."""
    if ids.size == 0:
        return 0, False
    falls = ids[1:] < ids[:-1]
    flags = [xp.any(mask).astype(ids.dtype) for mask in (falls, falls if also is None else also)]
    first, last, unsorted, found = xp.stack([ids[0], ids[-1], *flags]).tolist()
    if last < 0:
        raise GradstepError("segment ids must be >= 0")
    if first < 0:
        raise GradstepError(
            f"Segment id {first} out of range [0, {last + 1}), possibly because 'segment_ids' "
            "input is not sorted."
        )
    if unsorted:
        raise GradstepError(
            "segment ids are not increasing",
            hint="sort them, or use the op's form that begins with Unsorted",
        )
    return int(last) + 1, bool(found)


def _checked(xp: Any, data: Any, ids: Any) -> int:
    check_shapes(Shape(data.shape), Shape(ids.shape))
    return count_segments(xp, ids)[0]


def _sum(xp: Any, data: Any, ids: Any) -> Any:
    return sum_rows(xp, data, ids, None, _checked(xp, data, ids))


def _mean(xp: Any, data: Any, ids: Any) -> Any:
    count = _checked(xp, data, ids)
    total = sum_rows(xp, data, ids, None, count)
    many = xp.maximum(sum_rows(xp, xp.ones_like(ids), ids, None, count), 1)
    many = many.reshape((count,) + (1,) * (data.ndim - 1))
    if data.dtype.kind in "fc":
        return total / many.astype(data.dtype)
    # C++ divides integers towards zero.
    many = many.astype(data.dtype)
    floor = total // many
    return xp.where((total < 0) & (floor * many != total), floor + 1, floor).astype(data.dtype)


def _reducing(name: str, empty: int) -> Callable[..., Any]:
    """The kernel that combines rows by `xp.<name>`; `empty` is what no rows give."""

    def kernel(xp: Any, data: Any, ids: Any) -> Any:
        count = _checked(xp, data, ids)
        neutral = _NEUTRAL[name](data.dtype)
        total = xp.full((count, *data.shape[1:]), neutral, dtype=data.dtype)
        total = combined(xp, name, total, data, ids)
        many = sum_rows(xp, xp.ones_like(ids), ids, None, count)
        gaps = (many == 0).reshape((count,) + (1,) * (data.ndim - 1))
        return xp.where(gaps, xp.asarray(empty, dtype=data.dtype), total)

    return kernel


def _limit(dtype: np.dtype, low: bool) -> Any:
    if dtype.kind == "f":
        return -np.inf if low else np.inf
    info = np.iinfo(dtype)
    return info.min if low else info.max


_NEUTRAL: dict[str, Callable[[np.dtype], Any]] = {
    "maximum": lambda dtype: _limit(dtype, low=True),
    "minimum": lambda dtype: _limit(dtype, low=False),
    "multiply": lambda dtype: 1,
}


def _mean_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    """Each row gets its segment's gradient over the number of its rows."""
    data, ids = op.inputs
    if data.shape.rank is not None and ids.shape.is_static:
        sizes: Any = np.array([*ids.shape.static(), *(1,) * (data.shape.rank - 1)], np.int32)
    else:
        extra = call("Rank", data) - np.array(1, np.int32)
        ones = call("Fill", call("ExpandDims", extra, _FIRST), np.array(1, np.int32))
        sizes = call("ConcatV2", call("Shape", ids), ones, _FIRST)
    many = call("SegmentSum", call("Fill", sizes, np.array(1, g.dtype.numpy)), ids)
    return taken(g / many, ids), None


_FIRST = np.array(0, np.int32)


def _samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((rng.normal(size=(4, 2)), ints(0, 0, 1, 3))),
        Sample((rng.normal(size=(3,)), np.array([2, 2, 2], np.int64))),
        Sample((rng.normal(size=(0, 2)), ints())),
    ]


def _declare(
    name: str,
    *,
    infer: Any,
    kernel: Callable[..., Any],
    gradient: Callable[[OpView, Tensor], Any],
    formula: str,
    doc: str,
    kinks: str = "",
    differs: str = "",
) -> None:
    op(
        f"Segment{name}",
        inputs="data segment_ids",
        type_attrs={"T": "data", "Tindices": "segment_ids"},
        formula=f"segments(data, segment_ids, last(segment_ids), {formula})",
        infer=infer(_segmented),
        kernel=Kernels(kernel, asks="the last segment id, and whether ids ascend"),
        gradient=gradient,
        samples=_samples,
        arithmetic="exact" if name in ("Max", "Min") else "reducing",
        python=f"segment_{name.lower()}",
        doc=doc,
        kinks=kinks,
        differs=differs,
    )


_declare(
    "Sum",
    infer=numeric,
    kernel=_sum,
    gradient=lambda op, g: (taken(g, op.inputs[1]), None),
    formula="sum, 0",
    doc="The sum of the rows of each segment; ids ascend, and what is left out is 0.",
    differs="on a GPU, rows are added in any order, so the last bits may vary",
)
_declare(
    "Mean",
    infer=numeric,
    kernel=_mean,
    gradient=_mean_gradient,
    formula="mean, 0",
    doc="The mean of the rows of each segment; ids ascend, and what is left out is 0.",
    differs="on a GPU, rows are added in any order, so the last bits may vary",
)
_declare(
    "Max",
    infer=real,
    kernel=_reducing("maximum", 0),
    gradient=lambda op, g: (sorted_shared_by_equal(op, g), None),
    formula="max, 0",
    doc="The largest row element of each segment; ids ascend, and what is left out is 0.",
    kinks="elements equal to the largest share the gradient equally",
    differs=NAN_WINS,
)
_declare(
    "Min",
    infer=real,
    kernel=_reducing("minimum", 0),
    gradient=lambda op, g: (sorted_shared_by_equal(op, g), None),
    formula="min, 0",
    doc="The smallest row element of each segment; ids ascend, and what is left out is 0.",
    kinks="elements equal to the smallest share the gradient equally",
    differs=NAN_WINS,
)
_declare(
    "Prod",
    infer=numeric,
    kernel=_reducing("multiply", 1),
    gradient=lambda op, g: (sorted_without_own_factor(op, g), None),
    formula="prod, 1",
    doc="The product of the rows of each segment; ids ascend, and what is left out is 1.",
    kinks="one factor of zero gets the product of the others; with two, all get 0",
    differs="the order of the factors is another, so the last bits may vary",
)
