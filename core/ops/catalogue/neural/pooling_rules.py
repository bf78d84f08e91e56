"""Type rules and kernels that pooling ops share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gradstep.core.graph.dtypes import DType, Shape, TensorType
from gradstep.core.graph.model import Operation
from gradstep.core.ops.build.builder import OpView
from gradstep.core.ops.catalogue.neural import pooling_kernels
from gradstep.core.ops.catalogue.neural.pooling_windows import RANK, Pool
from gradstep.core.ops.catalogue.neural.sliding_windows import Sizes, known_sizes
from gradstep.core.ops.catalogue.neural.window_attributes import attributes
from gradstep.core.ops.declare.host_arrays import integers
from gradstep.core.ops.declare.kernel_forms import Kernels, kernels_of
from gradstep.core.ops.declare.shape_rules import one_dtype
from gradstep.core.ops.declare.table import Infer, InferContext
from gradstep.core.ops.declare.type_rules import want_rank, wrong_type
from gradstep.core.ops.declare.ufunc import Calls

# TensorFlow's gradients take these, but its op does not.
_REFUSED = {"MaxPool": (DType.UINT32, DType.UINT64)}
_GIVEN = frozenset("ksize strides padding explicit_paddings data_format".split())


def given(op: OpView) -> dict[str, Any]:
    """The attributes of the window, for the op that leads back."""
    return {k: v for k, v in op.operation.attrs.items() if k in _GIVEN}


def check_pool(
    ctx: InferContext, maximum: bool, types: tuple[TensorType, ...]
) -> tuple[Pool, DType]:
    """The window of an op, and the element type that its tensors share."""
    dtype = one_dtype(ctx, types)
    integer = maximum and dtype.is_integer and dtype not in _REFUSED.get(ctx.op.type, ())
    if not dtype.is_floating and not integer:
        kinds = "integers or floating-point numbers" if maximum else "floating-point numbers"
        raise wrong_type(ctx, dtype, kinds)
    return Pool(ctx.op.type, attributes(ctx), depth=maximum), dtype


def pooled(maximum: bool) -> Infer:
    """Type rule of `pool(input)`."""

    def rule(ctx: InferContext) -> TensorType:
        pool, dtype = check_pool(ctx, maximum, ctx.types)
        return TensorType(dtype, Shape(pool.out_sizes(known_sizes(ctx.types[0], RANK))))

    return rule


def max_back_type(ctx: InferContext) -> TensorType:
    """Type rule of `back(orig_input, orig_output, grad)`."""
    pool, dtype = check_pool(ctx, True, ctx.types)
    image, y, g = (known_sizes(kind, RANK) for kind in ctx.types)
    _check_pooled(pool, image, y, g)
    return TensorType(dtype, Shape(image))


def max_again_type(ctx: InferContext) -> TensorType:
    """Type rule of `chosen(orig_input, orig_output, grad)`, whose gradient is like the input."""
    pool, dtype = check_pool(ctx, True, ctx.types)
    image, y, g = (known_sizes(kind, RANK) for kind in ctx.types)
    pool.check("grad", image, g)
    _check_pooled(pool, image, y, y)
    return TensorType(dtype, Shape(pool.out_sizes(image)))


def mean_back_type(ctx: InferContext) -> TensorType:
    """Type rule of `back(orig_input_shape, grad)`."""
    pool, dtype = check_pool(ctx, False, ctx.types[1:])
    want_rank(ctx, 0, 1)
    value = ctx.constant(0)
    image: Sizes = (None,) * RANK if value is None else integers(value)
    pool.check("grad", pool.out_sizes(image), known_sizes(ctx.types[1], RANK))
    return TensorType(dtype, Shape(image))


def _check_pooled(pool: Pool, image: Sizes, y: Sizes, g: Sizes) -> None:
    wanted = pool.out_sizes(image)
    pool.check("orig_output", wanted, y)
    pool.check("grad", wanted, g)


def kernels(algorithm: Callable[..., Calls]) -> Kernels:
    """Kernels of `pool(input)`."""

    def calls(xp: Any, x: Any, *, op: Operation, out: Any, room: Any) -> Calls:
        pool = _pool(op)
        pool.out_sizes(x.shape)  # raises where no window fits
        yield from algorithm(xp, x, pool.axes(x.shape), out, room)

    def empty(xp: Any, x: Any, *, op: Operation) -> Any:
        return xp.empty(_pool(op).out_sizes(x.shape), x.dtype)

    return kernels_of(calls, empty)


def _pool(op: Operation) -> Pool:
    return Pool(op.type, op.attrs, depth=True)


def _max_back(xp: Any, x: Any, y: Any, g: Any, *, op: Operation, out: Any, room: Any) -> Calls:
    """The largest are found anew: of `y`, only the shape counts."""
    pool = _pool(op)
    _check_pooled(pool, x.shape, y.shape, g.shape)
    yield from pooling_kernels.largest_back(xp, x, g, pool.axes(x.shape), out, room)


def _max_again(xp: Any, x: Any, y: Any, g: Any, *, op: Operation, out: Any, room: Any) -> Calls:
    pool = _pool(op)
    pool.check("grad", x.shape, g.shape)
    _check_pooled(pool, x.shape, y.shape, y.shape)
    yield from pooling_kernels.chosen(xp, x, y, g, pool.axes(x.shape), out, room)


def _mean_back(xp: Any, told: Any, g: Any, *, op: Operation, out: Any, room: Any) -> Calls:
    pool, sizes = Pool(op.type, op.attrs, depth=False), integers(told)
    pool.check("grad", pool.out_sizes(sizes), g.shape)
    yield from pooling_kernels.mean_back(xp, g, pool.axes(sizes), out, room)


# Of MaxPoolGrad, MaxPoolGradGrad and AvgPoolGrad.
MAX_BACK = kernels_of(_max_back, lambda xp, x, y, g, op: xp.empty(x.shape, g.dtype))
MAX_AGAIN = kernels_of(_max_again, lambda xp, x, y, g, op: xp.empty(y.shape, g.dtype))
MEAN_BACK = kernels_of(_mean_back, lambda xp, told, g, op: xp.empty(integers(told), g.dtype))
