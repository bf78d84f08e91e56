"""ONNX's reductions over axes, running sums, and what orders elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site
from gradstep.core.lowering.onnx.onnx_activations import over_axis
from gradstep.core.lowering.onnx.onnx_known import known
from gradstep.core.lowering.onnx.onnx_operands import (
    apply,
    axes_of,
    cast,
    in_float,
    ints,
    number,
    positive,
    rank,
    scalar,
    static_ints,
    swapped,
)
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call, call_many

Reduce = Callable[[Tensor, Sequence[int], bool], Tensor]


def _over(type: str) -> Reduce:
    return lambda x, axes, keeps: apply(type, x, ints(axes), keep_dims=keeps)


def _log_sum_exp(x: Tensor, axes: Sequence[int], keeps: bool) -> Tensor:
    """Less the largest, which has no gradient of its own."""

    def build(y: Tensor) -> Tensor:
        most = call("StopGradient", call("Max", y, ints(axes), keep_dims=True))
        most = call("SelectV2", call("IsFinite", most), most, scalar(y, 0))
        total = call("Sum", call("Exp", call("Sub", y, most)), ints(axes), keep_dims=True)
        found = call("AddV2", call("Log", total), most)
        return found if keeps else call("Squeeze", found, squeeze_dims=tuple(axes))

    return in_float(build, x)


def _max(x: Tensor, axes: Sequence[int], keeps: bool) -> Tensor:
    if x.dtype is DType.BOOL:
        return call("Any", x, ints(axes), keep_dims=keeps)
    return apply("Max", x, ints(axes), keep_dims=keeps)


def _min(x: Tensor, axes: Sequence[int], keeps: bool) -> Tensor:
    if x.dtype is DType.BOOL:
        return call("All", x, ints(axes), keep_dims=keeps)
    return apply("Min", x, ints(axes), keep_dims=keeps)


def _l2(x: Tensor, axes: Sequence[int], keeps: bool) -> Tensor:
    return in_float(lambda y: call("EuclideanNorm", y, ints(axes), keep_dims=keeps), x)


def _l1(x: Tensor, axes: Sequence[int], keeps: bool) -> Tensor:
    return apply("Sum", apply("Abs", x), ints(axes), keep_dims=keeps)


def _log_sum(x: Tensor, axes: Sequence[int], keeps: bool) -> Tensor:
    return in_float(lambda y: call("Log", call("Sum", y, ints(axes), keep_dims=keeps)), x)


def _squares(x: Tensor, axes: Sequence[int], keeps: bool) -> Tensor:
    return apply("Sum", apply("Mul", x, x), ints(axes), keep_dims=keeps)


def _mean(x: Tensor, axes: Sequence[int], keeps: bool) -> Tensor:
    return apply("Mean", x, ints(axes), keep_dims=keeps)


REDUCTIONS: dict[str, Reduce] = {
    "ReduceSum": _over("Sum"), "ReduceMean": _mean, "ReduceProd": _over("Prod"),
    "ReduceMax": _max, "ReduceMin": _min, "ReduceL1": _l1, "ReduceL2": _l2,
    "ReduceLogSum": _log_sum, "ReduceLogSumExp": _log_sum_exp, "ReduceSumSquare": _squares,
}  # fmt: skip


def _reduction(reduce: Reduce) -> Callable[..., Tensor]:
    """The axes were an attribute before version 18 (of sums, before 13); none are all, unless it
    is told that they are none."""

    def build(
        site: Site,
        x: Tensor,
        which: Tensor | None = None,
        *,
        axes: Sequence[int] | None = None,
        keepdims: int = 1,
        noop_with_empty_axes: int = 0,
    ) -> Tensor:
        told = axes if which is None else static_ints(which, "the axes")
        if not told:
            told = [] if noop_with_empty_axes else None
        return reduce(x, axes_of(x, told), bool(keepdims))

    return build


for _name, _reduce in REDUCTIONS.items():
    lower(_name)(_reduction(_reduce))


# -- running sums ----------------------------------------------------------------------------------


def _running(type: str) -> Callable[..., Tensor]:
    def build(
        site: Site, x: Tensor, axis: Tensor, *, exclusive: int = 0, reverse: int = 0
    ) -> Tensor:
        place = cast(axis, DType.INT32)
        value = known(axis)
        given = np.int32(value.reshape(-1)[0]) if value is not None else place
        if isinstance(given, Tensor) and rank(given):
            given = call("Reshape", given, np.zeros(0, np.int32))
        return apply(type, x, given, exclusive=bool(exclusive), reverse=bool(reverse))

    return build


lower("CumSum")(_running("Cumsum"))
lower("CumProd")(_running("Cumprod"))


# -- order -----------------------------------------------------------------------------------------


def _where_most(type: str) -> Callable[..., Tensor]:
    def build(
        site: Site, x: Tensor, *, axis: int = 0, keepdims: int = 1, select_last_index: int = 0
    ) -> Tensor:
        place = positive(axis, rank(x))
        y = call("ReverseV2", x, ints([place])) if select_last_index else x
        found = call(type, y, np.int32(place), output_type=DType.INT64)
        if select_last_index:
            count = cast(call("Shape", x)[place], DType.INT64)
            found = call("Sub", call("Sub", count, np.int64(1)), found)
        return call("ExpandDims", found, np.int32(place)) if keepdims else found

    return build


lower("ArgMax")(_where_most("ArgMax"))
lower("ArgMin")(_where_most("ArgMin"))


@lower("TopK")
def top_k(
    site: Site,
    x: Tensor,
    count: Tensor | None = None,
    *,
    axis: int = -1,
    largest: int = 1,
    sorted: int = 1,
    k: int | None = None,
) -> list[Tensor]:
    """Of equal ones, the first comes first. How many was an attribute before version 10."""
    many = int(number(count, "how many") if count is not None else k or 0)
    place = positive(axis, rank(x))
    turned: list[Tensor] = []

    def build(y: Tensor) -> Tensor:
        given = y if largest else _negative(y)
        _, places = call_many("TopKV2", given, np.int32(many), sorted=True)
        turned.append(places)
        return call("GatherV2", y, places, np.int32(rank(y) - 1), batch_dims=rank(y) - 1)

    values = over_axis(x, place, build)
    where = swapped(turned[0], place, rank(x) - 1)
    return [values, cast(where, DType.INT64)]


def _negative(x: Tensor) -> Tensor:
    """In the opposite order."""
    if x.dtype.is_floating:
        return call("Neg", x)
    return call("Invert", x)  # -1 - x, which no number is too large for
