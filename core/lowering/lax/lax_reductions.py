"""JAX's reductions over axes, and running sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lax.lax_operands import (
    add_axis,
    dims,
    ints,
    one_axis,
    part,
    rank,
    scalar,
    tensor,
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


@lower("reduce_xor")
def reduce_xor(site: Site, x: Tensor, axes: Sequence[int]) -> Tensor:
    """One half with the other, until one element of each axis is left."""
    type = "NotEqual" if x.dtype is DType.BOOL else "BitwiseXor"
    for axis in axes:
        while (size := dims(x)[axis]) > 1:
            half = size // 2
            folded = call(type, part(x, axis, 0, half), part(x, axis, half, 2 * half))
            rest = [part(x, axis, 2 * half, size)] if size % 2 else []
            x = call("ConcatV2", folded, *rest, np.int32(axis)) if rest else folded
        if not size:
            raise UnloweredError("the bits of nothing")
    return call("Reshape", x, ints(site.sizes()))


@lower("psum", "pmax", "pmin")
def collective(
    site: Site,
    axes: Sequence[int | str],
    x: Any = None,
    y: Any = None,
    operands: Sequence[Any] = (),
    axis_index_groups: Any = None,
) -> Sequence[Tensor]:
    """Over axes that vmap put in, each operand by itself. An axis that still has its name is of
    several devices."""
    if axis_index_groups is not None or not all(isinstance(axis, int) for axis in axes):
        raise UnloweredError("what several devices have together")
    type = {"psum": "Sum", "pmax": "Max", "pmin": "Min"}[site.variant]
    given = [one for one in (x, y, *operands) if one is not None]
    places = ints([int(axis) for axis in axes])
    return [call(type, tensor(site, one), places) for one in given]


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
