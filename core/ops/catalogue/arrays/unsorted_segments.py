"""Rows of the same segment reduced to one row: sums, products, extremes; segments in any order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.graph.number_kinds import kind_of, limits_of
from gradstep.core.ops.build.builder import OpView, Tensor
from gradstep.core.ops.catalogue.arrays.segment_gradients import (
    dropping_negative,
    shared_by_equal,
    without_own_factor,
)
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets, starts_with
from gradstep.core.ops.declare.system_rules import TF_CPU, Rules
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import numeric, real, want_rank
from gradstep.core.ops.numerics.extreme_rows import extreme_rows
from gradstep.core.ops.numerics.index_bounds import (
    bounds_hint,
    check,
    resolve,
    subscript,
    want_indices,
)
from gradstep.core.ops.numerics.row_updates import combine_rows, sum_rows


def _segmented(ctx: InferContext) -> TensorType:
    data, ids, count = ctx.types[0].shape, ctx.types[1].shape, ctx.constant(2)
    want_indices(ctx, 1)
    want_rank(ctx, 2, 0)
    first = None if count is None else _count(count)
    if data.dims is None or ids.dims is None:
        return TensorType(ctx.types[0].dtype)
    _check_start(data, ids)
    return TensorType(ctx.types[0].dtype, Shape((first, *data.dims[len(ids.dims) :])))


def _count(num_segments: Any) -> int:
    found = integer(num_segments)
    if found < 0:
        raise GradstepError(f"Input num_segments == {found} must not be negative.")
    return found


def _check_start(data: Shape, ids: Shape) -> None:
    if not starts_with(data, ids):
        raise GradstepError(
            f"data.shape = {brackets(data)} does not start with segment_ids.shape = "
            f"{brackets(ids)}",
            hint="there is one segment id for each row",
        )


def segment_count(data: Any, ids: Any, num_segments: Any) -> int:
    """How many segments there are. Raises GradstepError unless there may be an id for each row."""
    _check_start(Shape(data.shape), Shape(ids.shape))
    return _count(num_segments)


def segment_rows(
    xp: Any, data: Any, ids: Any, num_segments: Any, rules: Rules
) -> tuple[int, Any, Any]:
    """How many segments, the row of the result for each row of data, and which are dropped."""
    count = segment_count(data, ids, num_segments)
    if xp is np and ids.size and ids.min() >= 0 and ids.max() < count:
        return count, ids, None  # as nearly always; on a device, looking would mean waiting
    wraps = rules.segment_negative == "wrap"
    rows, dropped = resolve(xp, ids, count, rules.scatter, wraps)
    if dropped is None and not wraps:  # clamped, but for those below 0
        dropped = ids < 0
        rows = xp.where(dropped, 0, rows)
    if rules.scatter == "raise" and data.size:  # negative ones are dropped in silence, mostly
        outside = ids >= count
        if rules.segment_negative == "raise":
            outside = outside | (ids < 0)
        check(xp, outside, lambda place: _no_such_segment(ids, place, count))
    return count, rows, dropped


def _no_such_segment(ids: Any, place: tuple[int, ...], count: int) -> GradstepError:
    return GradstepError(
        f"segment_ids{subscript(place)} = {ids[place].item()} is out of range [0, {count})",
        index=place,
        hint=bounds_hint(count),
    )


def _sum(xp: Any, data: Any, ids: Any, num_segments: Any, *, rules: Rules = TF_CPU) -> Any:
    count, rows, dropped = segment_rows(xp, data, ids, num_segments, rules)
    return sum_rows(xp, data, rows, dropped, count)


def _reducing(name: str, empty: Callable[[Any], Any]) -> Callable[..., Any]:
    """The kernel that combines rows by `xp.<name>`; `empty(dtype)` is what no rows give."""

    def kernel(xp: Any, data: Any, ids: Any, num_segments: Any, *, rules: Rules = TF_CPU) -> Any:
        count, rows, dropped = segment_rows(xp, data, ids, num_segments, rules)
        inner = data.shape[ids.ndim :]
        # One segment more than there is takes the rows that are dropped.
        total = xp.full((count + 1, *inner), empty(data.dtype), dtype=data.dtype)
        rows = rows if dropped is None else xp.where(dropped, count, rows)
        values = data.reshape((ids.size, *inner))
        return combined(xp, name, total, values, rows.reshape(-1))[:count]

    return kernel


def combined(xp: Any, name: str, total: Any, values: Any, rows: Any) -> Any:
    """`total` with the product, the largest or the smallest of what is there and comes there."""
    if name == "multiply":
        return combine_rows(xp, name, total, values, rows)
    return extreme_rows(xp, name == "maximum", True, total, values, rows)


def _lowest(dtype: np.dtype) -> Any:
    return limits_of(dtype).min if kind_of(dtype) == "f" else np.iinfo(dtype).min


def _highest(dtype: np.dtype) -> Any:
    return limits_of(dtype).max if kind_of(dtype) == "f" else np.iinfo(dtype).max


def _samples(rng: np.random.Generator) -> list[Sample]:
    return [
        Sample((rng.normal(size=(4, 2)), ints(0, 2, 0, -1), np.int32(4))),
        Sample((rng.normal(size=(2, 2)), np.array([[0, 1], [1, 1]], np.int32), np.int32(2))),
        Sample((rng.normal(size=(3,)), ints(1, 1, 1), np.int32(2))),
    ]


def _extreme_samples(rng: np.random.Generator) -> list[Sample]:
    """Empty segments, whose extremes are no numbers to differentiate with, apart."""
    return [Sample(s.inputs, differentiable=len(s.inputs[1]) == 2) for s in _samples(rng)] + [
        Sample((rng.normal(size=(4, 2)), ints(1, 0, 1, -1), np.int32(2)))
    ]


def _zero_samples(rng: np.random.Generator) -> list[Sample]:
    """Segments with one factor of zero and with two, where dividing would give NaN. A third
    derivative would divide by them, so it is not tried there."""
    data = np.array([[2.0, 0.0], [3.0, 4.0], [0.0, 5.0], [0.0, 6.0]])
    return [Sample((data, ints(0, 0, 1, 1), np.int32(3)), differentiable=False)]


def _declare(
    name: str,
    *,
    infer: Any,
    kernel: Callable[..., Any],
    gradient: Callable[[OpView, Tensor], Any],
    formula: str,
    doc: str,
    samples: Any = _samples,
    kinks: str = "",
    differs: str = "",
) -> None:
    chooses = name in ("Max", "Min")
    op(
        f"UnsortedSegment{name}",
        inputs="data segment_ids #num_segments:int32,int64",
        type_attrs={"T": "data", "Tindices": "segment_ids", "Tnumsegments": "num_segments"},
        formula=f"segments(data, segment_ids, num_segments, {formula})",
        infer=infer(_segmented),
        kernel=Kernels(kernel, takes_bfloat16=chooses),  # whose extremes are others
        gradient=gradient,
        samples=samples,
        arithmetic="exact" if chooses else "reducing",
        python=f"unsorted_segment_{name.lower()}",
        doc=doc,
        kinks=kinks,
        differs=differs,
    )


NAN_WINS = "a NaN wins; in TensorFlow it depends on where among the rows it is"

_declare(
    "Sum",
    infer=numeric,
    kernel=_sum,
    gradient=lambda op, g: (dropping_negative(g, op.inputs[1]), None, None),
    formula="sum, 0",
    doc="The sum of the rows of each segment; rows of negative segments are dropped.",
    differs="on a GPU, rows are added in any order, so the last bits may vary",
)
_declare(
    "Max",
    infer=real,
    kernel=_reducing("maximum", _lowest),
    gradient=lambda op, g: (shared_by_equal(op, g), None, None),
    formula="max, lowest(data)",
    samples=_extreme_samples,
    doc="The largest row element of each segment; the lowest finite number where it is empty.",
    kinks="elements equal to the largest share the gradient equally",
    differs=NAN_WINS,
)
_declare(
    "Min",
    infer=real,
    kernel=_reducing("minimum", _highest),
    gradient=lambda op, g: (shared_by_equal(op, g), None, None),
    formula="min, highest(data)",
    samples=_extreme_samples,
    doc="The smallest row element of each segment; the largest finite number where it is empty.",
    kinks="elements equal to the smallest share the gradient equally",
    differs=NAN_WINS,
)
_declare(
    "Prod",
    infer=numeric,
    kernel=_reducing("multiply", lambda dtype: 1),
    gradient=lambda op, g: (without_own_factor(op, g), None, None),
    formula="prod, 1",
    samples=lambda rng: _samples(rng) + _zero_samples(rng),
    doc="The product of the rows of each segment, 1 where it is empty.",
    kinks="one factor of zero gets the product of the others; with two, all get 0",
    differs="the order of the factors is another, so the last bits may vary",
)
