"""JAX's reductions over axes, and running sums."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lax.lax_operands import (
    add_axis,
    dims,
    ints,
    one_axis,
    rank,
    scalar,
)
from gradstep.core.lowering.lax.lax_table import lower
from gradstep.core.lowering.lowering_table import Build, Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call


def _reduction(type: str, logical: str = "") -> Build:
    def build(site: Site, x: Tensor, axes: Sequence[int]) -> Tensor:
        if x.dtype is DType.BOOL and not logical:
            raise UnloweredError("numbers of truths")
        return call(logical if x.dtype is DType.BOOL else type, x, ints(axes))

    return build


for _name, _types in {
    "reduce_max": ("Max", "Any"),
    "reduce_min": ("Min", "All"),
    "reduce_prod": ("Prod",),
    "reduce_sum": ("Sum",),
}.items():
    lower(_name)(_reduction(*_types))


@lower("reduce_and", "reduce_or")
def reduce_logic(site: Site, x: Tensor, axes: Sequence[int]) -> Tensor:
    if x.dtype is not DType.BOOL:
        raise UnloweredError("the bits of whole numbers over an axis")
    return call("All" if site.variant == "reduce_and" else "Any", x, ints(axes))


@lower("argmax", "argmin", ignores=("index_dtype",))
def argmax(site: Site, x: Tensor, axes: Sequence[int]) -> Tensor:
    type = "ArgMax" if site.variant == "argmax" else "ArgMin"
    axis = np.int32(one_axis(axes, "the place of the largest"))
    return call(type, x, axis, output_type=site.dtype())


@lower("cumsum", "cumprod", "cumlogsumexp")
def cumulative(site: Site, x: Tensor, axis: int, reverse: bool = False) -> Tensor:
    type = {
        "cumsum": "Cumsum",
        "cumprod": "Cumprod",
        "cumlogsumexp": "CumulativeLogsumexp",
    }[site.variant]
    return call(type, x, np.int32(axis), reverse=bool(reverse))


@lower("cummax", "cummin", differs="of equal numbers the gradient is shared otherwise")
def running_extreme(site: Site, x: Tensor, axis: int, reverse: bool = False) -> Tensor:
    """For each place the largest of those before it and there: a row of all for each."""
    is_max, size = site.variant == "cummax", dims(x)[axis]
    allowed = np.tril(np.ones((size, size), bool))
    allowed = (allowed.T if reverse else allowed).reshape([size, size] + [1] * (rank(x) - axis - 1))
    rows = call("SelectV2", site.constant(allowed), add_axis(x, axis), least(x, is_max))
    return call("Max" if is_max else "Min", rows, ints([axis + 1]))


def least(x: Tensor, is_max: bool) -> np.ndarray:
    """What is below all numbers of a type, or above them."""
    if x.dtype.is_floating:
        return scalar(x, -np.inf if is_max else np.inf)
    limits = np.iinfo(x.dtype.numpy)
    return scalar(x, limits.min if is_max else limits.max)
