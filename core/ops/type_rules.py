"""Type rules that several op families share: which element types and ranks an op takes."""

from __future__ import annotations

from core.errors import GradstepError
from core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from core.ops.shapes import broadcast
from core.ops.table import Infer, InferContext


def numeric(rule: Infer) -> Infer:
    """`rule`, for inputs of numbers: not bool, string or resource."""

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        for kind in ctx.types:
            if not (kind.dtype.is_integer or kind.dtype.is_floating or kind.dtype.is_complex):
                raise wrong_type(ctx, kind.dtype, "numbers")
        return rule(ctx)

    return checked


def floating(rule: Infer) -> Infer:
    """`rule`, for inputs of floating-point or complex numbers."""

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        for kind in ctx.types:
            if not (kind.dtype.is_floating or kind.dtype.is_complex):
                raise wrong_type(ctx, kind.dtype, "floating-point numbers")
        return rule(ctx)

    return checked


def wrong_type(ctx: InferContext, found: DType, wanted: str) -> GradstepError:
    return ctx.fail(
        f"{ctx.op.type} takes {wanted}, not {found.value}",
        hint="put a Cast before it",
    )


def unref(ctx: InferContext) -> TensorType:
    """Output like the first input; a copy, never a variable's buffer."""
    return TensorType(ctx.types[0].dtype, ctx.types[0].shape)


def same_shape(ctx: InferContext) -> TensorType:
    """Elementwise without broadcasting: all inputs agree in element type and shape."""
    shape = UNKNOWN
    for kind in ctx.types:
        if kind.dtype != ctx.types[0].dtype:
            raise wrong_type(ctx, kind.dtype, f"inputs of one element type ({ctx.types[0].dtype})")
        shape = merged(ctx, shape, kind.shape)
    return TensorType(ctx.types[0].dtype, shape)


def merged(ctx: InferContext, a: Shape, b: Shape) -> Shape:
    """What both shapes say together; fails at the op when they contradict each other."""
    try:
        return a.merge(b)
    except ValueError:
        raise ctx.fail(f"{ctx.op.type} needs equal shapes, not {a} and {b}") from None


def want_rank(ctx: InferContext, index: int, rank: int) -> None:
    """Fail unless input `index` has `rank` dimensions, or may have."""
    found = ctx.types[index].shape.rank
    if found not in (None, rank):
        name = ctx.definition.arity(len(ctx.types))[index]
        raise ctx.fail(
            f"{ctx.op.type} needs '{name}' of rank {rank}, not shape {ctx.types[index].shape}"
        )


def sized_by(shape: Shape) -> Shape:
    """The shape that an unknown vector of sizes describes; `shape` is that vector's."""
    if shape.dims is None or len(shape.dims) != 1 or shape.dims[0] is None:
        return UNKNOWN
    return Shape((None,) * shape.dims[0])


numbers = numeric(broadcast)
floats = floating(unref)
