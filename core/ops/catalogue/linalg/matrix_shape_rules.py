"""What matrices must be like: said while drawing where shapes are known, else when run."""

from __future__ import annotations

from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.ops.declare.shape_rules import brackets, broadcast_shapes
from gradstep.core.ops.declare.table import Infer, InferContext
from gradstep.core.ops.declare.type_rules import wrong_type

FLOATS = (DType.FLOAT16, DType.BFLOAT16, DType.FLOAT32, DType.FLOAT64)
COMPLEX = (DType.COMPLEX64, DType.COMPLEX128)
PRECISE = (DType.FLOAT32, DType.FLOAT64, *COMPLEX)  # what TensorFlow factors matrices of
SOLVED = (DType.BFLOAT16, *PRECISE)  # and solves, where they are triangular
PRODUCTS = (*FLOATS, DType.INT32, DType.INT64, *COMPLEX)

Size = int | None


def only(allowed: tuple[DType, ...], rule: Infer) -> Infer:
    """`rule`, for inputs of these element types, which are TensorFlow's on the CPU."""

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        for kind in ctx.types:
            if kind.dtype not in allowed:
                raise wrong_type(ctx, kind.dtype, " or ".join(t.value for t in allowed))
        return rule(ctx)

    return checked


def misfit(ctx: InferContext, message: str, hint: str = "") -> GradstepError:
    """TensorFlow's words, and which shapes they are about."""
    shapes = ", ".join(brackets(kind.shape.dims) for kind in ctx.types)
    return ctx.fail(f"{message} for {ctx.op.type} with input shapes: {shapes}", hint)


def matrices(ctx: InferContext, index: int) -> tuple[Shape, Size, Size]:
    """Input `index` as matrices: the shape of the batch, and how many rows and columns."""
    dims = ctx.types[index].shape.dims
    if dims is None:
        return UNKNOWN, None, None
    if len(dims) < 2:
        raise misfit(
            ctx,
            f"Shape must be at least rank 2 but is rank {len(dims)}",
            "a matrix has rows and columns; ExpandDims makes one of a vector",
        )
    return Shape(dims[:-2]), dims[-2], dims[-1]


def squares(ctx: InferContext, index: int = 0) -> tuple[Shape, Size]:
    """Input `index` as square matrices: the shape of the batch, and their size."""
    batch, rows, columns = matrices(ctx, index)
    return batch, same_size(ctx, rows, columns, "the matrices must be square")


def square_type(ctx: InferContext) -> TensorType:
    """Square matrices like those of the input."""
    batch, size = squares(ctx)
    return TensorType(ctx.types[0].dtype, batch_shape(batch, size, size))


def same_size(ctx: InferContext, a: Size, b: Size, hint: str = "") -> Size:
    """What both sizes say together."""
    if a is not None and b is not None and a != b:
        raise misfit(ctx, f"Dimensions must be equal, but are {a} and {b}", hint)
    return b if a is None else a


def same_batch(ctx: InferContext, a: Shape, b: Shape) -> Shape:
    """What two batch shapes, which must be equal, say together."""
    if a.dims is not None and b.dims is not None and len(a.dims) != len(b.dims):
        raise misfit(ctx, f"Shapes must be equal rank, but are {len(a.dims)} and {len(b.dims)}")
    try:
        return a.merge(b)
    except ValueError:
        pairs = zip(a, b, strict=True)
        axis, (x, y) = next((i, p) for i, p in enumerate(pairs) if None not in p and p[0] != p[1])
        text = f"Dimension {axis} in both shapes must be equal, but are {x} and {y}"
        raise misfit(
            ctx, f"{text}. Shapes are {brackets(a.dims)} and {brackets(b.dims)}."
        ) from None


def broadcast_batch(ctx: InferContext, a: Shape, b: Shape) -> Shape:
    """The batch shape of two batches that broadcast."""
    try:
        return broadcast_shapes(a, b)
    except ValueError:
        pairs = zip(reversed(list(a)), reversed(list(b)), strict=False)
        x, y = next(p for p in pairs if None not in p and 1 not in p and p[0] != p[1])
        raise misfit(
            ctx,
            f"Dimensions must be equal, but are {x} and {y}",
            "the axes before the last two broadcast: sizes must be equal or 1",
        ) from None


def batch_shape(batch: Shape, *sizes: Size) -> Shape:
    """The shape of a batch of things of these sizes."""
    return UNKNOWN if batch.dims is None else Shape((*batch.dims, *sizes))


def check_matrices(*arrays: Any) -> None:
    """Fail unless each array is a matrix or a batch of them."""
    for index, x in enumerate(arrays):
        if x.ndim < 2:
            raise GradstepError(
                f"Input tensor {index} must have rank >= 2, got {x.ndim}",
                hint="a matrix has rows and columns; ExpandDims makes one of a vector",
            )


def check_square(x: Any, message: str = "Input matrix must be square.") -> None:
    check_matrices(x)
    if x.shape[-1] != x.shape[-2]:
        raise GradstepError(message, hint=f"its shape is {brackets(x.shape)}")
