"""Type rules that several op families share: which element types and ranks an op takes."""

from __future__ import annotations

from collections.abc import Sized

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import UNKNOWN, DType, Shape, TensorType
from gradstep.core.ops.declare.input_dtypes import not_allowed
from gradstep.core.ops.declare.shape_rules import broadcast, one_dtype
from gradstep.core.ops.declare.table import Infer, InferContext

_MOST_OUTPUTS = 10_000


def numeric(rule: Infer) -> Infer:
    """`rule`, for inputs of numbers: not bool, string or resource."""

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        for kind in ctx.types:
            if not kind.dtype.is_number:
                raise wrong_type(ctx, kind.dtype, "numbers")
        return rule(ctx)

    return checked


def require_floating(rule: Infer) -> Infer:
    """`rule`, for inputs of floating-point or complex numbers."""

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        for kind in ctx.types:
            if not (kind.dtype.is_floating or kind.dtype.is_complex):
                raise wrong_type(ctx, kind.dtype, "floating-point numbers")
        return rule(ctx)

    return checked


def real(rule: Infer) -> Infer:
    """`rule`, for inputs of real numbers, which have an order: not complex."""

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        for kind in ctx.types:
            if not (kind.dtype.is_integer or kind.dtype.is_floating):
                raise wrong_type(ctx, kind.dtype, "real numbers")
        return rule(ctx)

    return checked


def real_floating(rule: Infer) -> Infer:
    """`rule`, for inputs of real floating-point numbers."""

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        for kind in ctx.types:
            if not kind.dtype.is_floating:
                raise wrong_type(ctx, kind.dtype, "real floating-point numbers")
        return rule(ctx)

    return checked


def require_signed(rule: Infer) -> Infer:
    """`rule`, for inputs of numbers that can be negative: not bool, no unsigned integers."""

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        for kind in ctx.types:
            if kind.dtype.value.startswith("uint"):
                raise wrong_type(ctx, kind.dtype, "numbers that can be negative")
        return numeric(rule)(ctx)

    return checked


def integral(rule: Infer) -> Infer:
    """`rule`, for inputs of integers."""

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        for kind in ctx.types:
            if not kind.dtype.is_integer:
                raise wrong_type(ctx, kind.dtype, "integers")
        return rule(ctx)

    return checked


def complexes(rule: Infer) -> Infer:
    """`rule`, for inputs of complex numbers."""

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        for kind in ctx.types:
            if not kind.dtype.is_complex:
                raise wrong_type(ctx, kind.dtype, "complex numbers")
        return rule(ctx)

    return checked


def only(rule: Infer, allowed: str) -> Infer:
    """`rule`, for inputs of the element types that `allowed` names: where TensorFlow's op has fewer
    than its kin, so that it could not load a graph with others."""
    kinds = [DType(name) for name in allowed.split()]

    def checked(ctx: InferContext) -> TensorType | tuple[TensorType, ...]:
        for kind in ctx.types:
            if kind.dtype not in kinds:
                raise ctx.fail(not_allowed("T", kind.dtype, kinds), hint="put a Cast before it")
        return rule(ctx)

    return checked


def wrong_type(ctx: InferContext, found: DType, wanted: str) -> GradstepError:
    return ctx.fail(
        f"{ctx.op.type} takes {wanted}, not {found.value}",
        hint="put a Cast before it",
    )


def one_floating_type(ctx: InferContext, types: tuple[TensorType, ...]) -> DType:
    """The element type of all `types`, which is one of floating-point or complex numbers."""
    dtype = one_dtype(ctx, types)
    if not (dtype.is_floating or dtype.is_complex):
        raise wrong_type(ctx, dtype, "floating-point numbers")
    return dtype


def unref(ctx: InferContext) -> TensorType:
    """Output like the first input; a copy, never a variable's buffer."""
    return TensorType(ctx.types[0].dtype, ctx.types[0].shape)


def same_shape(ctx: InferContext) -> TensorType:
    """Elementwise without broadcasting: all inputs agree in element type and shape."""
    shape = UNKNOWN
    if not ctx.types:
        raise ctx.fail(f"{ctx.op.type} needs at least one input", hint="drag a wire to it")
    for kind in ctx.types:
        if kind.dtype != ctx.types[0].dtype:
            raise wrong_type(ctx, kind.dtype, f"inputs of one element type ({ctx.types[0].dtype})")
        shape = merge_shapes(ctx, shape, kind.shape)
    return TensorType(ctx.types[0].dtype, shape)


def merge_shapes(ctx: InferContext, a: Shape, b: Shape) -> Shape:
    """What both shapes say together; fails at the op when they contradict each other."""
    try:
        return a.merge(b)
    except ValueError:
        raise ctx.fail(f"{ctx.op.type} needs equal shapes, not {a} and {b}") from None


def want_some(ctx: InferContext, name: str, given: Sized) -> None:
    """Raise for an empty list of types, the attribute `name`, in TensorFlow's words."""
    if not given:
        raise ctx.fail(
            f"Length for attr '{name}' of 0 must be at least minimum 1", f"give {name} a type"
        )


def want_rank(ctx: InferContext, index: int, rank: int) -> None:
    """Fail unless input `index` has `rank` dimensions, or may have."""
    found = ctx.types[index].shape.rank
    if found not in (None, rank):
        name = ctx.definition.arity(len(ctx.types))[index]
        raise ctx.fail(
            f"{ctx.op.type} needs '{name}' of rank {rank}, not shape {ctx.types[index].shape}"
        )


def output_count(ctx: InferContext, name: str, least: int = 1) -> int:
    """The attribute `name`, which says how many outputs there are."""
    found = count(ctx, name, least)
    if found > _MOST_OUTPUTS:
        raise ctx.fail(
            f"'{name}' is {found}, and an operation has at most {_MOST_OUTPUTS} outputs here",
            hint="split it in several steps",
        )
    return found


def count(ctx: InferContext, name: str, least: int = 1) -> int:
    """The attribute `name`, which counts something."""
    found = int(ctx.attr(name))
    if found < least:
        raise ctx.fail(
            f"Attr '{name}' of '{ctx.op.type}' Op passed {found} less than minimum {least}."
        )
    return found


def shape_from_sizes(shape: Shape) -> Shape:
    """The shape that an unknown vector of sizes describes; `shape` is that vector's."""
    if shape.dims is None or len(shape.dims) != 1 or shape.dims[0] is None:
        return UNKNOWN
    return Shape((None,) * shape.dims[0])


numbers = numeric(broadcast)
floats = require_floating(unref)
real_floats = real_floating(unref)
real_numbers = real(broadcast)
