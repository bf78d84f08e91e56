"""Repeating, padding and broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import GradstepError
from core.graph.dtypes import UNKNOWN, Shape, TensorType
from core.ops.builder import OpView, Tensor, call, call_many
from core.ops.host import integers
from core.ops.known import constant_of, shape_of
from core.ops.samples import ints
from core.ops.shapes import broadcast_shapes
from core.ops.table import InferContext, Sample, op
from core.ops.type_rules import sized_by


def _tiled(ctx: InferContext) -> TensorType:
    source, times = ctx.types[0], ctx.constant(1)
    if times is None:
        shape = sized_by(ctx.types[1].shape) if source.shape.dims is None else _any(source.shape)
        return TensorType(source.dtype, shape)
    if source.shape.dims is None:
        return TensorType(source.dtype, Shape((None,) * len(times)))
    if len(times) != len(source.shape.dims):
        raise _wrong_multiples(len(times), len(source.shape.dims))
    dims = zip(source.shape.dims, integers(times), strict=True)
    return TensorType(source.dtype, Shape(tuple(None if d is None else d * t for d, t in dims)))


def _any(shape: Shape) -> Shape:
    return UNKNOWN if shape.dims is None else Shape((None,) * len(shape.dims))


def _wrong_multiples(found: int, rank: int) -> GradstepError:
    return GradstepError(
        f"Expected multiples argument to be a vector of length {rank} but got length {found}",
        hint="give one multiple for each axis",
    )


def _tile(xp: Any, x: Any, multiples: Any) -> Any:
    times = integers(multiples)
    if len(times) != x.ndim:
        raise _wrong_multiples(len(times), x.ndim)
    return xp.tile(x, times)


def _untiled(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    """Split each axis into (repeat, place), and sum over the repeats."""
    x, multiples = op.inputs
    times = constant_of(multiples)
    if times is not None and x.shape.is_static:
        pairs = np.stack([times, np.array(x.shape.static(), times.dtype)], axis=1).reshape(-1)
        split = call("Reshape", g, pairs.astype(np.int32))
        return call("Sum", split, np.arange(0, len(pairs), 2, dtype=np.int32)), None
    stacked = call("Pack", multiples, call("Shape", x), axis=1)
    sizes = call("Reshape", stacked, np.array([-1], np.int32))
    axes = call("Range", np.array(0, np.int32), call("Size", sizes), np.array(2, np.int32))
    return call("Sum", call("Reshape", g, sizes), axes), None


op(
    "Tile",
    inputs="input #multiples",
    type_attrs={"T": "input", "Tmultiples": "multiples"},
    formula="tile(input, multiples)",
    infer=_tiled,
    kernel=_tile,
    gradient=_untiled,
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)), ints(2, 1))),
        Sample((rng.normal(size=(3,)), ints(3))),
        Sample((rng.normal(size=()), ints())),
    ],
    arithmetic="exact",
    python="tile",
    doc="The tensor repeated a number of times along each axis.",
)


def _padded(ctx: InferContext) -> TensorType:
    source, paddings = ctx.types[0], ctx.constant(1)
    if source.shape.dims is None or paddings is None:
        return TensorType(source.dtype, _any(source.shape))
    if paddings.shape != (len(source.shape.dims), 2):
        raise ctx.fail(f"Pad needs paddings of shape [{len(source.shape.dims)}, 2]")
    grown = zip(source.shape.dims, paddings.sum(axis=1).tolist(), strict=True)
    return TensorType(source.dtype, Shape(tuple(None if d is None else d + p for d, p in grown)))


def _pad(xp: Any, x: Any, paddings: Any) -> Any:
    return xp.pad(x, [tuple(pair) for pair in paddings.tolist()] or 0)


def _unpadded(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    x, paddings = op.inputs
    known = constant_of(paddings)
    if known is not None:
        return call("Slice", g, known[:, 0], shape_of(x)), None
    begin, _ = call_many("Unpack", paddings, num=2, axis=1)
    return call("Slice", g, begin, shape_of(x)), None


op(
    "Pad",
    inputs="input #paddings",
    type_attrs={"T": "input", "Tpaddings": "paddings"},
    formula="pad(input, paddings)",
    infer=_padded,
    kernel=_pad,
    gradient=_unpadded,
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)), np.array([[1, 0], [0, 2]], np.int32))),
        Sample((rng.normal(size=(3,)), np.array([[0, 0]], np.int32))),
    ],
    arithmetic="exact",
    python="pad",
    doc="Zeros before and after along each axis.",
)


def _broadcast_to(ctx: InferContext) -> TensorType:
    source, shape = ctx.types[0], ctx.constant(1)
    if shape is None:
        return TensorType(source.dtype, sized_by(ctx.types[1].shape))
    wanted = Shape(integers(shape))
    try:
        fits = source.shape.dims is None or broadcast_shapes(source.shape, wanted) == wanted
    except ValueError:
        fits = False
    if not fits:
        raise ctx.fail(f"Incompatible shapes: {source.shape} vs. {wanted}")
    return TensorType(source.dtype, wanted)


def _summed_back(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    x, shape = op.inputs
    sizes = shape_of(x)
    axes, _ = call_many("BroadcastGradientArgs", g.builder.tensor(sizes), shape)
    return call("Reshape", call("Sum", g, axes), sizes), None


op(
    "BroadcastTo",
    inputs="input #shape",
    type_attrs={"T": "input", "Tidx": "shape"},
    formula="broadcast_to(input, shape)",
    infer=_broadcast_to,
    kernel=lambda xp, x, shape: xp.array(xp.broadcast_to(x, integers(shape))),
    gradient=_summed_back,
    samples=lambda rng: [
        Sample((rng.normal(size=(3,)), ints(2, 3))),
        Sample((rng.normal(size=(2, 1)), ints(2, 3))),
    ],
    arithmetic="exact",
    python="broadcast_to",
    doc="The tensor repeated as broadcasting to that shape would.",
)


def _reduction_axes(a: tuple[int, ...], b: tuple[int, ...]) -> list[int]:
    """Axes of the result along which `a` was broadcast against `b`. As in TensorFlow, of two
    shapes that differ, an axis of size 1 in both counts as well: summing over it is harmless."""
    if a == b:
        return []
    rank = max(len(a), len(b))
    return [i for i, d in enumerate((1,) * (rank - len(a)) + a) if d == 1]


def _gradient_args(xp: Any, s0: Any, s1: Any) -> Any:
    a, b = integers(s0), integers(s1)
    try:
        broadcast_shapes(Shape(a), Shape(b))
    except ValueError as error:
        raise GradstepError(str(error)) from None
    axes = _reduction_axes(a, b), _reduction_axes(b, a)
    return tuple(xp.asarray(np.array(found, s0.dtype)) for found in axes)


def _two_lists(ctx: InferContext) -> tuple[TensorType, TensorType]:
    kind = TensorType(ctx.types[0].dtype, Shape.of(None))
    return kind, kind


op(
    "BroadcastGradientArgs",
    inputs="#s0 #s1",
    outputs="r0 r1",
    type_attrs={"T": "s0"},
    formula="broadcast_axes(s0, s1)",
    infer=_two_lists,
    kernel=_gradient_args,
    differentiable=False,
    samples=lambda rng: [
        Sample((ints(2, 1), ints(1, 3))),
        Sample((ints(3), ints(2, 3))),
        Sample((ints(), ints(2))),
    ],
    doc="For two shapes that were broadcast, the axes to sum a gradient over, for each.",
)
