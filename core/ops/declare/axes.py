"""Axes as ops take them: counted from either end, checked, and what is left after reducing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.ops.build.builder import Tensor, call
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext
from gradstep.core.ops.typing.static_values import constant_of, select, shape_of


def positive(axis: int, rank: int) -> int:
    """`axis` counted from the front. Raises GradstepError when there is no such axis."""
    if not -rank <= axis < rank:
        raise GradstepError(
            f"Expected dimension in the range [{-rank}, {rank}), but got {axis}",
            hint=_span(rank),
        )
    return axis % rank


def resolve_axes(axes: Iterable[int], rank: int, drawing: bool = False) -> tuple[int, ...]:
    """Reduction axes counted from the front. Raises GradstepError for one that is not there, and
    for one that is named twice. (TensorFlow's words differ `drawing` a graph and running it.)"""
    found: list[int] = []
    for axis in axes:
        if not -rank <= axis < rank:
            place = f"{axis} for input with {rank} dimension"
            raise GradstepError(
                f"Invalid reduction dimension {place}s."
                if drawing
                else f"Invalid reduction dimension ({place}(s)",
                kind="ValueError" if drawing else "InvalidArgumentError",
                hint=_span(rank),
            )
        if axis % rank in found:
            raise GradstepError(
                f"Invalid reduction arguments: Axes contains duplicate dimension: {axis % rank}",
                hint="name each axis once",
            )
        found.append(axis % rank)
    return tuple(found)


def _span(rank: int) -> str:
    return f"axes go from {-rank} to {rank - 1}" if rank else "a scalar has no axes"


def reduced_shape(shape: Shape, axes: Any, keep_dims: bool) -> Shape:
    """Static shape after reducing the constant `axes` (None: not known) of `shape`."""
    if shape.dims is None:
        return UNKNOWN
    if axes is None:
        return Shape((None,) * len(shape.dims)) if keep_dims else UNKNOWN
    gone = resolve_axes(integers(axes), len(shape.dims), drawing=True)
    if keep_dims:
        return Shape(tuple(1 if i in gone else d for i, d in enumerate(shape.dims)))
    return Shape(tuple(d for i, d in enumerate(shape.dims) if i not in gone))


def reduction(ctx: InferContext) -> TensorType:
    """Type rule of `reduce(input, axes) {keep_dims}`."""
    rank = ctx.types[1].shape.rank or 0
    if rank > 1:
        raise ctx.fail(
            f"Shape must be at most rank 1 but is rank {rank} for {ctx.op.type} with input "
            f"shapes: {', '.join(brackets(kind.shape.dims) for kind in ctx.types)}",
            hint="axes are one number or a list of them",
        )
    shape = reduced_shape(ctx.types[0].shape, ctx.constant(1), ctx.attr("keep_dims"))
    return TensorType(ctx.types[0].dtype, shape)


def axes_vector(axes: Tensor) -> Tensor:
    """Axes as a vector of int32, whether they are one number or several."""
    axes = axes if axes.dtype is DType.INT32 else call("Cast", axes, DstT=DType.INT32)
    return axes if axes.shape.rank == 1 else call("Reshape", axes, np.array([-1], np.int32))


def kept_shape(x: Tensor, axes: Tensor) -> Tensor | np.ndarray:
    """Sizes of `x` with a 1 in place of each reduced axis, int32 [rank]."""
    constant = constant_of(axes)
    if constant is not None and x.shape.is_static:
        return np.array(reduced_shape(x.shape, constant, True).static(), np.int32)
    # A scatter of ones over the sizes: dynamic, and right for negative axes, too.
    sizes = call("Shape", x)
    rank = call("Size", sizes)
    axes = axes if axes.dtype is DType.INT32 else call("Cast", axes, DstT=DType.INT32)
    flat = call("FloorMod", axes_vector(axes), rank)
    hit = call("UnsortedSegmentSum", call("OnesLike", flat), flat, rank)
    gone = call("Greater", hit, call("ZerosLike", hit))
    return select(gone, call("OnesLike", sizes), sizes)


def spread(g: Tensor, x: Tensor, axes: Tensor) -> Tensor:
    """`g`, the gradient of a reduction of `x` over `axes`, repeated to the shape of `x`."""
    kept = kept_shape(x, axes)
    full = shape_of(x)
    if isinstance(kept, np.ndarray) and isinstance(full, np.ndarray):
        g = g if g.shape.dims == tuple(kept.tolist()) else call("Reshape", g, kept)
        times = full // np.maximum(kept, 1)
        return g if np.all(times == 1) else call("Tile", g, times)
    g = call("Reshape", g, kept)
    sizes = g.builder.tensor(kept)
    times = call("FloorDiv", full, call("Maximum", sizes, call("OnesLike", sizes)))
    return call("Tile", g, times)
