"""Cumsum, Cumprod and CumulativeLogsumexp: running sums and products along an axis."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import TensorType
from gradstep.core.graph.number_kinds import limits_of
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.declared_gradient import Defect, Gradient
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.shape_rules import brackets
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import numeric, unref, wrong_type


def _accumulated(ctx: InferContext) -> TensorType:
    axis, rank = ctx.constant(1), ctx.types[0].shape.rank
    if axis is not None and rank is not None:
        _along(axis, rank)
    return unref(ctx)


def _accumulated_floats(ctx: InferContext) -> TensorType:
    if not ctx.types[0].dtype.is_floating:
        raise wrong_type(ctx, ctx.types[0].dtype, "real floating-point numbers")
    return _accumulated(ctx)


def _along(axis: Any, rank: int) -> int:
    """The axis counted from the front. Raises GradstepError."""
    if axis.ndim:
        raise GradstepError(f"ScanOp: axis must be a scalar, not {brackets(axis.shape)}")
    number = integer(axis)
    if not -rank <= number < rank:
        raise GradstepError(
            f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {number}",
            hint="a scalar has no axes" if not rank else "",
        )
    return number % rank


def _running(cumulate: Callable[..., Any], neutral: float) -> Any:
    def kernel(xp: Any, x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
        over = _along(axis, x.ndim)
        if reverse:
            x = xp.flip(x, over)
        if exclusive and x.shape[over]:
            x = _shifted(xp, x, over, 1, neutral)
        total = cumulate(xp, x, over)
        return xp.flip(total, over) if reverse else total

    return kernel


def _shifted(xp: Any, x: Any, axis: int, by: int, neutral: float) -> Any:
    """`x` moved on by some places along `axis`, `neutral` first, the last rows dropped."""
    front = (slice(None),) * axis
    first = xp.full_like(x[(*front, slice(0, by))], neutral)
    return xp.concatenate([first, x[(*front, slice(0, -by))]], axis)


def _log_of_sums(xp: Any, x: Any, axis: int) -> Any:
    """In as many rounds as it takes to double one place up to the length of the axis."""
    by = 1
    while by < x.shape[axis]:
        x = _log_of_sum(xp, _shifted(xp, x, axis, by, -np.inf), x)
        by *= 2
    return x


def _log_of_sum(xp: Any, a: Any, b: Any) -> Any:
    """log(exp(a) + exp(b)); two infinities give NaN, as TensorFlow's do."""
    most, least = xp.maximum(a, b), xp.minimum(a, b)
    total = xp.log1p(xp.exp(least - most)) + most
    return xp.where(most == -np.inf, most, total)


def _flags(op: OpView) -> dict[str, Any]:
    """The attributes of the running sum that goes the other way."""
    return {"exclusive": op.get_attr("exclusive"), "reverse": not op.get_attr("reverse")}


def _cumprod_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    x, axis = op.inputs
    total = call("Cumsum", op.outputs[0] * g, axis, **_flags(op))
    return call("DivNoNan", total, x), None


def _logsumexp_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    """The positive and the negative part of `g` apart, so that there are logarithms of both."""
    parts = [_log_gradient(op, sign, g) for sign in (g, -g)]
    return parts[0] - parts[1], None


def _log_gradient(op: OpView, g: Tensor, like: Tensor) -> Tensor:
    """What flows back of `g` where that is positive."""
    (x, axis), y, dtype = op.inputs, op.outputs[0], like.dtype.numpy
    lowest, zero = limits_of(dtype).min, np.zeros((), dtype)
    small = g.builder.tensor(np.array(lowest, dtype))
    log = call("SelectV2", call("Greater", g, zero), call("Log", g), small)
    return call("Exp", call("CumulativeLogsumexp", log - y, axis, **_flags(op)) + x)


def _samples(rng: np.random.Generator) -> list[Sample]:
    x = rng.uniform(0.5, 2, (2, 3))
    return [
        Sample((x, np.int32(axis)), {"exclusive": exclusive, "reverse": reverse})
        for axis in (0, -1)
        for exclusive in (False, True)
        for reverse in (False, True)
    ]


def _finite_where_inclusive(rng: np.random.Generator) -> list[Sample]:
    return [Sample(s.inputs, s.attrs, not s.attrs["exclusive"]) for s in _samples(rng)]


op(
    "Cumsum",
    inputs="x #axis:int32,int64",
    outputs="out",
    attrs={"exclusive": False, "reverse": False},
    type_attrs={"T": "x", "Tidx": "axis"},
    formula="running(cumsum, x, axis, exclusive, reverse, 0)",
    infer=numeric(_accumulated),
    kernel=_running(lambda xp, x, axis: xp.cumsum(x, axis=axis, dtype=x.dtype), 0),
    gradient=lambda op, g: (call("Cumsum", g, op.inputs[1], **_flags(op)), None),
    samples=_samples,
    arithmetic="reducing",
    doc="The running sum along an axis; exclusive: without the element itself.",
)
op(
    "Cumprod",
    inputs="x #axis:int32,int64",
    outputs="out",
    attrs={"exclusive": False, "reverse": False},
    type_attrs={"T": "x", "Tidx": "axis"},
    formula="running(cumprod, x, axis, exclusive, reverse, 1)",
    infer=numeric(_accumulated),
    kernel=_running(lambda xp, x, axis: xp.cumprod(x, axis=axis, dtype=x.dtype), 1),
    gradient=Gradient(
        _cumprod_gradient,
        defects=(
            Defect(
                "x",
                "where x is 0 the products without it are made by dividing by it, which gives 0 "
                "then",
                "math_grad.py, _CumprodGrad; recorded from TensorFlow 2.21",
            ),
        ),
    ),
    samples=_samples,
    arithmetic="reducing",
    causes=Causes(vanishes="underflow"),
    doc="The running product along an axis; exclusive: without the element itself.",
)
op(
    "CumulativeLogsumexp",
    inputs="x #axis:int32,int64",
    outputs="out",
    attrs={"exclusive": False, "reverse": False},
    type_attrs={"T": "x", "Tidx": "axis"},
    formula="running(logaddexp.accumulate, x, axis, exclusive, reverse, -inf)",
    infer=_accumulated_floats,
    kernel=_running(_log_of_sums, -np.inf),
    gradient=_logsumexp_gradient,
    samples=_finite_where_inclusive,
    arithmetic="library",
    doc="The logarithm of the running sum of exponentials along an axis.",
    differs="NaN stays NaN; TensorFlow's passes it over, with a wrong sum",
)
