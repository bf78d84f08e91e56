"""Reductions over axes: sums, means, norms, and whether all or any hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import SCALAR, DType, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare import domain_limits
from gradstep.core.ops.declare.axes import kept_shape, reduction, resolve_axes, spread
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import integers, is_integer
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.samples import ints, unary
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import numeric, real_floating, wrong_type
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.numerics.scalar_operands import number


def samples(rng: np.random.Generator) -> list[Sample]:
    """A tensor, and all kinds of axes."""
    x = rng.uniform(0.5, 2, (2, 3, 2))
    axes: list[Any] = [ints(0), ints(0, 2), ints(-1), np.int32(1), ints(), ints(0, 1, 2)]
    return [Sample((x, a), {"keep_dims": keep}) for a in axes for keep in (False, True)]


def axes_of(x: Any, axes: Any) -> tuple[int, ...]:
    """Reduction axes counted from the front. Raises GradstepError."""
    return resolve_axes(integers(axes.reshape(-1)), x.ndim)


def _sum(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
    return xp.sum(x, axis=axes_of(x, axes), dtype=x.dtype, keepdims=keep_dims)


def _sum_calls(xp: Any, x: Any, axes: Any, *, keep_dims: bool, out: Any, room: Any) -> Calls:
    yield np.add.reduce, x, axes_of(x, axes), x.dtype, out, keep_dims


op(
    "Sum",
    inputs="input #reduction_indices:int32,int64",
    attrs={"keep_dims": False},
    type_attrs={"T": "input", "Tidx": "reduction_indices"},
    formula="sum(input, axes(reduction_indices), keepdims=keep_dims)",
    infer=numeric(reduction),
    kernel=Kernels(_sum, calls=_sum_calls),
    gradient=lambda op, g: (spread(g, *op.inputs), None),
    samples=samples,
    arithmetic="reducing",
    causes=Causes(breaks=domain_limits.TERMS, vanishes="cancelled"),
    doc="The sum over some axes; over none, the input itself.",
    differs="float32 sums go pairwise, and float16 sums are rounded once at the end, so the last "
    "bits may differ from TensorFlow's",
)


def _count(x: Any, axes: Any) -> int:
    """How many elements go into each mean."""
    return math.prod(x.shape[i] for i in axes_of(x, axes))


def _mean(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
    if is_integer(x):
        return _integer_mean(xp, x, axes, _count(x, axes), keep_dims)
    return _sum(xp, x, axes, keep_dims=keep_dims) / _count(x, axes)


def _mean_calls(xp: Any, x: Any, axes: Any, *, keep_dims: bool, out: Any, room: Any) -> Calls:
    if is_integer(x):
        yield _put_integer_mean, x, axes, keep_dims, out
        return
    yield from _sum_calls(xp, x, axes, keep_dims=keep_dims, out=out, room=room)
    yield np.divide, out, number(_count(x, axes), x.dtype), out


def _put_integer_mean(x: Any, axes: Any, keep_dims: bool, out: Any) -> None:
    out[...] = _integer_mean(np, x, axes, _count(x, axes), keep_dims)


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
    inputs="input #reduction_indices:int32,int64",
    attrs={"keep_dims": False},
    type_attrs={"T": "input", "Tidx": "reduction_indices"},
    formula="mean(input, axes(reduction_indices), keepdims=keep_dims)",
    infer=numeric(reduction),
    kernel=Kernels(_mean, calls=_mean_calls),
    gradient=_mean_gradient,
    samples=samples,
    arithmetic="reducing",
    causes=Causes(breaks=domain_limits.TERMS, vanishes="cancelled"),
    doc="The mean over some axes: NaN of nothing; of integers rounded towards zero.",
)


def _norm(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
    squares = _sum(xp, xp.real(x * xp.conj(x)), axes, keep_dims=keep_dims)
    if is_integer(x):
        squares = squares.astype(np.float64)
    return xp.sqrt(squares).astype(x.dtype)


def _norm_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    (x, axes), y = op.inputs, op.outputs[0]
    if not op.get_attr("keep_dims"):
        kept = kept_shape(x, axes)
        y, g = call("Reshape", y, kept), call("Reshape", g, kept)
    return x / (y / g), None


op(
    "EuclideanNorm",
    inputs="input #reduction_indices:int32,int64",
    attrs={"keep_dims": False},
    type_attrs={"T": "input", "Tidx": "reduction_indices"},
    formula="sqrt(sum(input * input, axes(reduction_indices), keepdims=keep_dims))",
    infer=numeric(reduction),
    kernel=_norm,
    gradient=_norm_gradient,
    samples=samples,
    arithmetic="reducing",
    doc="The square root of the sum of the squares, over some axes.",
    kinks="the gradient is NaN where the norm is 0",
)


op(
    "L2Loss",
    inputs="t",
    type_attrs={"T": "t"},
    formula="sum(t * t) / 2",
    infer=real_floating(lambda ctx: TensorType(ctx.types[0].dtype, SCALAR)),
    kernel=lambda xp, t: xp.sum(xp.square(t) * 0.5, dtype=t.dtype),
    gradient=lambda op, g: op.inputs[0] * g,
    samples=unary(),
    arithmetic="reducing",
    python="l2_loss",
    doc="Half the sum of the squares.",
)


def _of_flags(ctx: InferContext) -> TensorType:
    if ctx.types[0].dtype is not DType.BOOL:
        raise wrong_type(ctx, ctx.types[0].dtype, "bool")
    return reduction(ctx)


def _flag_samples(rng: np.random.Generator) -> list[Sample]:
    x = rng.uniform(size=(2, 3, 2)) < 0.6
    return [Sample((x, s.inputs[1]), s.attrs) for s in samples(rng)]


def _flags(name: str) -> Any:
    def kernel(xp: Any, x: Any, axes: Any, *, keep_dims: bool) -> Any:
        return getattr(xp, name)(x, axis=axes_of(x, axes), keepdims=keep_dims)

    return kernel


for _type, _function, _words in (
    ("All", "all", "Whether all are true over some axes; of nothing, true."),
    ("Any", "any", "Whether any is true over some axes; of nothing, false."),
):
    op(
        _type,
        inputs="input #reduction_indices:int32,int64",
        attrs={"keep_dims": False},
        type_attrs={"Tidx": "reduction_indices"},
        formula=f"{_function}(input, axes(reduction_indices), keepdims=keep_dims)",
        infer=_of_flags,
        kernel=_flags(_function),
        gradient=NOT_DIFFERENTIABLE,
        samples=_flag_samples,
        arithmetic="exact",
        doc=_words,
    )
