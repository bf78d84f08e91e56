"""Broadcasting as ops of its own: to a shape, of two shapes, and what a gradient sums over."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call, call_many
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.samples import ints
from gradstep.core.ops.declare.shape_rules import brackets, broadcast_shapes, one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import shape_from_sizes, want_rank
from gradstep.core.ops.typing.static_values import constant_of, reshape_like, shape_of


def _broadcast_to(ctx: InferContext) -> TensorType:
    source, shape = ctx.types[0], ctx.constant(1)
    want_rank(ctx, 1, 1)
    if shape is None:
        return TensorType(source.dtype, shape_from_sizes(ctx.types[1].shape))
    wanted = integers(shape)
    _check_reach(source.shape, wanted)
    return TensorType(source.dtype, Shape(wanted))


def _check_reach(source: Shape, wanted: tuple[int, ...]) -> None:
    """Raises GradstepError when no broadcasting gives `wanted`."""
    if min(wanted, default=0) < 0:
        raise GradstepError(f"Dimension {min(wanted)} must be >= 0", hint="name every size")
    if source.dims is None:
        return
    if len(source.dims) > len(wanted):
        raise GradstepError(
            f"Rank of input ({len(source.dims)}) must be no greater than rank of output shape "
            f"({len(wanted)})."
        )
    for size, target in zip(reversed(source.dims), reversed(wanted), strict=False):
        if size not in (None, 1, target):
            raise GradstepError(
                f"Incompatible shapes: {brackets(source)} vs. {brackets(wanted)}",
                hint="only sizes of 1 are repeated",
            )


def _broadcast(xp: Any, x: Any, shape: Any) -> Any:
    wanted = integers(shape)
    _check_reach(Shape(x.shape), wanted)
    return xp.array(xp.broadcast_to(x, wanted))


def _summed_back(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    x, shape = op.inputs
    known = constant_of(shape)
    if known is not None and x.shape.is_static:
        axes = np.array(_reduction_axes(x.shape.static(), integers(known)), np.int32)
        return reshape_like(call("Sum", g, axes) if len(axes) else g, x), None
    sizes = shape_of(x, shape.dtype)
    repeated, _ = call_many("BroadcastGradientArgs", sizes, shape)
    return call("Reshape", call("Sum", g, repeated), sizes), None


op(
    "BroadcastTo",
    inputs="input #shape:int32,int64",
    type_attrs={"T": "input", "Tidx": "shape"},
    formula="broadcast_to(input, shape)",
    infer=_broadcast_to,
    kernel=_broadcast,
    gradient=_summed_back,
    samples=lambda rng: [
        Sample((rng.normal(size=(3,)), ints(2, 3))),
        Sample((rng.normal(size=(2, 1)), ints(2, 3))),
        Sample((rng.normal(size=(2,)), np.array([2], np.int64))),
    ],
    arithmetic="exact",
    python="broadcast_to",
    doc="The tensor repeated as broadcasting to that shape would.",
)


def _broadcast_args(xp: Any, s0: Any, s1: Any) -> Any:
    return xp.asarray(np.array(_broadcast_sizes(s0, s1), s0.dtype))


def _broadcast_sizes(s0: Any, s1: Any) -> tuple[int, ...]:
    a, b = integers(s0), integers(s1)
    try:
        return broadcast_shapes(Shape(a), Shape(b)).static()
    except ValueError:
        raise GradstepError(
            f"Incompatible shapes: {brackets(a)} vs. {brackets(b)}",
            hint="shapes broadcast from the right: sizes must be equal or 1",
        ) from None


def _one_list(ctx: InferContext) -> TensorType:
    for index in (0, 1):
        want_rank(ctx, index, 1)
    dtype, known = one_dtype(ctx), [ctx.constant(i) for i in (0, 1)]
    if all(k is not None for k in known):
        _broadcast_sizes(*known)
    ranks = [kind.shape.dims[0] if kind.shape.dims else None for kind in ctx.types]
    return TensorType(dtype, Shape.of(None if None in ranks else max(r or 0 for r in ranks)))


op(
    "BroadcastArgs",
    inputs="#s0:int32,int64 #s1:s0",
    outputs="r0",
    type_attrs={"T": "s0"},
    formula="broadcast_shapes(axes(s0), axes(s1))",
    infer=_one_list,
    kernel=_broadcast_args,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample((ints(2, 1), ints(1, 3))),
        Sample((ints(), ints(2))),
    ],
    python="broadcast_dynamic_shape",
    arithmetic="exact",
    doc="The shape that two shapes have when they are broadcast.",
)


def _reduction_axes(a: tuple[int, ...], b: tuple[int, ...]) -> list[int]:
    """Axes of the result along which `a` was broadcast against `b`. As in TensorFlow, of two
    shapes that differ, an axis of size 1 in both counts as well: summing over it is harmless."""
    if a == b:
        return []
    rank = max(len(a), len(b))
    return [i for i, d in enumerate((1,) * (rank - len(a)) + a) if d == 1]


def _gradient_args(xp: Any, s0: Any, s1: Any) -> Any:
    _broadcast_sizes(s0, s1)
    a, b = integers(s0), integers(s1)
    axes = _reduction_axes(a, b), _reduction_axes(b, a)
    return tuple(xp.asarray(np.array(found, s0.dtype)) for found in axes)


def _two_lists(ctx: InferContext) -> tuple[TensorType, TensorType]:
    kind = TensorType(ctx.types[0].dtype, Shape.of(None))
    return kind, kind


op(
    "BroadcastGradientArgs",
    inputs="#s0:int32,int64 #s1:s0",
    outputs="r0 r1",
    type_attrs={"T": "s0"},
    formula="broadcast_axes(s0, s1)",
    infer=_two_lists,
    kernel=_gradient_args,
    gradient=NOT_DIFFERENTIABLE,
    samples=lambda rng: [
        Sample((ints(2, 1), ints(1, 3))),
        Sample((ints(3), ints(2, 3))),
        Sample((ints(), ints(2))),
    ],
    doc="For two shapes that were broadcast, the axes to sum a gradient over, for each.",
)
