"""Reductions over axes: sum, mean, extremes, product, and the index of the largest."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.errors import GradstepError
from core.graph.dtypes import DType, TensorType
from core.ops.axes import kept_shape, positive, reduced, reduced_shape, reduction, spread
from core.ops.builder import OpView, Tensor, call
from core.ops.host import integer, integers, is_integer
from core.ops.known import constant_of, reshape_like, shape_of
from core.ops.samples import ints
from core.ops.table import InferContext, Sample, op
from core.ops.type_rules import numeric, want_rank


def _samples(rng: np.random.Generator) -> list[Sample]:
    x = rng.uniform(0.5, 2, (2, 3, 2))
    axes: list[Any] = [ints(0), ints(0, 2), ints(-1), np.int32(1), ints(), ints(0, 1, 2)]
    return [Sample((x, a), {"keep_dims": keep}) for a in axes for keep in (False, True)]


def _sum(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
    return xp.sum(x, axis=reduced(integers(axes), x.ndim), dtype=x.dtype, keepdims=keep_dims)


def _sum_out(xp: Any, x: Any, axes: Any, *, keep_dims: bool, out: Any) -> Any:
    over = reduced(integers(axes), x.ndim)
    return xp.sum(x, axis=over, dtype=x.dtype, keepdims=keep_dims, out=out)


op(
    "Sum",
    inputs="input #reduction_indices",
    attrs={"keep_dims": False},
    type_attrs={"T": "input", "Tidx": "reduction_indices"},
    formula="sum(input, axes(reduction_indices), keepdims=keep_dims)",
    infer=numeric(reduction),
    kernel=_sum,
    out_kernel=_sum_out,
    gradient=lambda op, g: (spread(g, *op.inputs), None),
    samples=_samples,
    arithmetic="reducing",
    doc="The sum over some axes; over none, the input itself.",
    differs="float32 sums go pairwise, so the last bits may differ from TensorFlow's",
)


def _count(x: Any, axes: Any) -> int:
    return int(np.prod([x.shape[i] for i in reduced(integers(axes), x.ndim)], dtype=np.int64))


def _mean(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
    count = _count(x, axes)
    if is_integer(x):
        return _integer_mean(xp, x, axes, count, keep_dims)
    return _sum(xp, x, axes, keep_dims=keep_dims) / count


def _integer_mean(xp: Any, x: Any, axes: Any, count: int, keep_dims: bool) -> Any:
    """Added up in 64 bits and rounded to zero, as C divides; 0 of nothing."""
    wide = x.astype(np.uint64 if x.dtype.kind == "u" else np.int64)
    total, count = _sum(xp, wide, axes, keep_dims=keep_dims), max(count, 1)
    towards_zero = total // count + ((total < 0) & (total % count != 0))
    return towards_zero.astype(x.dtype)


def _mean_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    x, axes = op.inputs
    full = spread(g, x, axes)
    return full / _how_many(op, full.dtype), None


def _how_many(op: OpView, dtype: DType) -> Tensor | float:
    """Number of inputs that went into each output, as a number or a scalar of `dtype`."""
    x, y = op.inputs[0], op.outputs[0]
    if x.shape.is_static and y.shape.is_static:
        sizes = [int(np.prod(t.shape.static(), dtype=np.int64)) for t in (x, y)]
        return float(sizes[0] // max(sizes[1], 1))
    one = np.array(1, np.int32)
    outputs = call("Maximum", call("Size", y), one)
    return call("Cast", call("FloorDiv", call("Size", x), outputs), DstT=dtype)


op(
    "Mean",
    inputs="input #reduction_indices",
    attrs={"keep_dims": False},
    type_attrs={"T": "input", "Tidx": "reduction_indices"},
    formula="mean(input, axes(reduction_indices), keepdims=keep_dims)",
    infer=numeric(reduction),
    kernel=_mean,
    gradient=_mean_gradient,
    samples=_samples,
    arithmetic="reducing",
    doc="The mean over some axes.",
)


def _lowest(dtype: Any) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _highest(dtype: Any) -> Any:
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.inf


def _extreme(name: str, of_nothing: Any) -> Any:
    def kernel(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
        over = reduced(integers(axes), x.ndim)
        if any(x.shape[i] == 0 for i in over):
            shape = reduced_shape_of(x.shape, over, keep_dims)
            return xp.full(shape, of_nothing(x.dtype), dtype=x.dtype)
        return getattr(xp, name)(x, axis=over, keepdims=keep_dims)

    return kernel


def reduced_shape_of(
    shape: tuple[int, ...], over: tuple[int, ...], keep_dims: bool
) -> tuple[int, ...]:
    if keep_dims:
        return tuple(1 if i in over else d for i, d in enumerate(shape))
    return tuple(d for i, d in enumerate(shape) if i not in over)


def _extreme_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    """To every element that reaches the extreme an equal share."""
    x, axes = op.inputs
    kept = kept_shape(x, axes)
    y, g = call("Reshape", op.outputs[0], kept), call("Reshape", g, kept)
    reached = call("Cast", call("Equal", y, x), DstT=g.dtype)
    shares = call("Reshape", call("Sum", reached, axes), kept)
    return reached / shares * g, None


for _type, _function, _empty in (("Max", "max", _lowest), ("Min", "min", _highest)):
    op(
        _type,
        inputs="input #reduction_indices",
        attrs={"keep_dims": False},
        type_attrs={"T": "input", "Tidx": "reduction_indices"},
        formula=f"{_function}(input, axes(reduction_indices), keepdims=keep_dims)",
        infer=numeric(reduction),
        kernel=_extreme(_function, _empty),
        gradient=_extreme_gradient,
        samples=_samples,
        arithmetic="exact",
        doc=f"The {'largest' if _type == 'Max' else 'smallest'} value over some axes.",
        kinks="equal extremes share the gradient equally",
    )


def _prod(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
    over = reduced(integers(axes), x.ndim)
    return xp.prod(x, axis=over, dtype=x.dtype, keepdims=keep_dims)


def _prod_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    """For each element the product of all others: those before it times those after it, which
    is right for zeros, too. Reduced axes go to the front and become one."""
    x, axes = op.inputs
    constant = constant_of(axes)
    if constant is None or x.shape.rank is None:
        raise _needs_axes(op)
    over = reduced(integers(constant), x.shape.rank)
    order = np.array([*over, *(i for i in range(x.shape.rank) if i not in over)], np.int32)
    moved = call("Transpose", x, order)
    rows = _reduced_size(x, over)
    flat = call("Reshape", moved, rows)
    zero = np.array(0, np.int32)
    before = call("Cumprod", flat, zero, exclusive=True)
    after = call("Cumprod", flat, zero, exclusive=True, reverse=True)
    others = reshape_like(call("Reshape", before * after, shape_of(moved)), moved)
    back = call("Transpose", others, np.argsort(order).astype(np.int32))
    return spread(g, x, axes) * back, None


def _reduced_size(x: Tensor, over: tuple[int, ...]) -> Any:
    """[product of the reduced sizes, product of the others], as Reshape takes it."""
    if x.shape.is_static:
        sizes = x.shape.static()
        first = int(np.prod([sizes[i] for i in over], dtype=np.int64))
        rest = [d for i, d in enumerate(sizes) if i not in over]
        return np.array([first, int(np.prod(rest, dtype=np.int64))], np.int32)
    zero = np.array(0, np.int32)
    gone = call("GatherV2", call("Shape", x), np.array(over, np.int32), zero)
    together = call("Prod", gone, zero)
    at_least_one = call("Maximum", together, call("OnesLike", together))
    return call("Pack", together, call("FloorDiv", call("Size", x), at_least_one), axis=0)


def _needs_axes(op: OpView) -> Exception:
    return GradstepError(
        "the gradient of Prod needs constant axes and a known rank",
        kind="LookupError",
        node=op.name,
        hint="give its axes as a Const",
    )


op(
    "Prod",
    inputs="input #reduction_indices",
    attrs={"keep_dims": False},
    type_attrs={"T": "input", "Tidx": "reduction_indices"},
    formula="prod(input, axes(reduction_indices), keepdims=keep_dims)",
    infer=numeric(reduction),
    kernel=_prod,
    gradient=_prod_gradient,
    samples=_samples,
    arithmetic="reducing",
    doc="The product over some axes.",
    differs="its gradient needs constant axes; TensorFlow's does not",
)


def _argmax_type(ctx: InferContext) -> TensorType:
    want_rank(ctx, 1, 0)
    shape = reduced_shape(ctx.types[0].shape, ctx.constant(1), False)
    return TensorType(DType(ctx.attr("output_type")), shape)


def _argmax(xp: Any, x: Any, axis: Any, *, output_type: DType) -> Any:
    over = positive(integer(axis), x.ndim)
    if x.dtype.kind == "f":  # TensorFlow looks past NaN
        x = xp.where(xp.isnan(x), xp.full_like(x, -np.inf), x)
    return xp.argmax(x, axis=over).astype(DType(output_type).numpy)


op(
    "ArgMax",
    inputs="input #dimension",
    attrs={"output_type": DType.INT64},
    type_attrs={"T": "input", "Tidx": "dimension"},
    formula="argmax(input, dimension)",
    infer=numeric(_argmax_type),
    kernel=_argmax,
    differentiable=False,
    samples=lambda rng: [
        Sample((rng.normal(size=(2, 3)), np.int32(axis)), {"output_type": kind})
        for axis, kind in ((0, DType.INT64), (-1, DType.INT32))
    ],
    doc="The position of the largest value along an axis, the first of equals; NaN is passed over.",
)
