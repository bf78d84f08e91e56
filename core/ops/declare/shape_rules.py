"""Shape rules that several op families share."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.ops.declare.table import Infer, InferContext


def broadcast_shapes(a: Shape, b: Shape) -> Shape:
    """The shape of an elementwise result; raises ValueError when `a` and `b` do not fit."""
    if a.dims is None or b.dims is None:
        return UNKNOWN
    rank = max(len(a.dims), len(b.dims))
    left = (1,) * (rank - len(a.dims)) + a.dims
    right = (1,) * (rank - len(b.dims)) + b.dims
    return Shape(tuple(_broadcast_size(x, y, a, b) for x, y in zip(left, right, strict=True)))


def _broadcast_size(x: int | None, y: int | None, a: Shape, b: Shape) -> int | None:
    if x == 1:
        return y
    if y == 1 or x == y:
        return x
    if x is None or y is None:
        return y if x is None else x
    raise ValueError(f"Incompatible shapes: {a} vs. {b}")


def brackets(dims: Iterable[int | None] | None) -> str:
    """A shape as TensorFlow's messages write it: [2,?]."""
    if dims is None:
        return "<unknown>"
    return f"[{','.join('?' if d is None else str(d) for d in dims)}]"


def starts_with(shape: Shape, start: Shape) -> bool:
    """Whether a tensor of `shape` may begin with the axes of one of shape `start`."""
    if shape.dims is None or start.dims is None:
        return True
    pairs = zip(shape.dims, start.dims, strict=False)
    fits = all(a is None or b is None or a == b for a, b in pairs)
    return fits and len(start.dims) <= len(shape.dims)


def one_dtype(ctx: InferContext, types: tuple[TensorType, ...] | None = None) -> DType:
    """The element type that all inputs share; TensorFlow never promotes."""
    types = ctx.types if types is None else types
    if not types:
        raise ctx.fail(f"{ctx.op.type} needs at least one input", hint="drag a wire to it")
    first = types[0].dtype
    for other in types[1:]:
        if other.dtype != first:
            raise ctx.fail(
                f"{ctx.op.type} needs inputs of one element type, not "
                f"{first.value} and {other.dtype.value}",
                hint=f"put a Cast to {first.value} before it",
            )
    return first


def broadcast(ctx: InferContext) -> TensorType:
    """Elementwise with broadcasting; one element type in, the same out."""
    return TensorType(one_dtype(ctx), _broadcast_all(ctx))


def compare(ctx: InferContext) -> TensorType:
    """Elementwise with broadcasting; one element type in, bool out."""
    one_dtype(ctx)
    return TensorType(DType.BOOL, _broadcast_all(ctx))


def _broadcast_all(ctx: InferContext) -> Shape:
    shape = ctx.types[0].shape
    for other in ctx.types[1:]:
        try:
            shape = broadcast_shapes(shape, other.shape)
        except ValueError as error:
            raise ctx.fail(
                str(error), hint="shapes broadcast from the right: sizes must be equal or 1"
            ) from None
    return shape


def same_as(index: int) -> Infer:
    """Output like input `index`, in element type and shape."""

    def rule(ctx: InferContext) -> TensorType:
        return replace(ctx.types[index], ref=False)

    return rule


same_as_first = same_as(0)
