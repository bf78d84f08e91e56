"""The larger and the smaller of two numbers, and numbers kept between bounds."""

from __future__ import annotations

from typing import Any

from gradstep.core.graph.dtypes import Shape, TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.math.complex_numbers import join_parts
from gradstep.core.ops.declare.kernel_forms import ufunc
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.samples import binary, with_complex
from gradstep.core.ops.declare.shape_rules import one_dtype
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import numeric, real_numbers
from gradstep.core.ops.typing.static_values import select, zeros_like


def _larger_of(condition: str) -> Any:
    def rule(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
        first = call(condition, *op.inputs)
        zeros = zeros_like(g)
        return select(first, g, zeros), select(first, zeros, g)

    return rule


_EXTREMES = (
    ("Maximum", "GreaterEqual", "larger"),
    ("Minimum", "LessEqual", "smaller"),
)
for _type, _condition, _word in _EXTREMES:
    op(
        _type,
        inputs="x y",
        outputs="z",
        type_attrs={"T": "x"},
        formula=f"{_type.lower()}(x, y)",
        infer=real_numbers,
        kernel=ufunc(_type.lower()),
        gradient=_larger_of(_condition),
        broadcasts=True,
        samples=binary(),
        python=_type.lower(),
        causes=Causes(flat="not_extreme"),
        doc=f"Elementwise {_word} value, with broadcasting; NaN where either is NaN.",
        kinks="where x = y the whole gradient goes to x",
    )


def _bounded(ctx: InferContext) -> TensorType:
    shape = ctx.types[0].shape
    for bound in ctx.types[1:]:
        if bound.shape.dims != ():
            shape = _like_bound(ctx, shape, bound.shape)
    return TensorType(one_dtype(ctx), shape)


def _like_bound(ctx: InferContext, shape: Shape, bound: Shape) -> Shape:
    try:
        merged = shape.merge(bound)
    except ValueError:
        t, low, high = (kind.shape for kind in ctx.types)
        raise ctx.fail(
            "clip_value_min and clip_value_max must be either of the same shape as input, or a "
            f"scalar. input shape: {t}clip_value_min shape: {low}clip_value_max shape: {high}",
            hint="tf.clip_by_value broadcasts its bounds",
        ) from None
    return shape if bound.dims is None else merged  # of unknown rank, it may be a scalar


def _clip(xp: Any, t: Any, low: Any, high: Any) -> Any:
    if t.dtype.kind != "c":
        return _between(xp, t, low, high)
    parts = [[part(x) for x in (t, low, high)] for part in (xp.real, xp.imag)]
    return join_parts(xp, *[_between(xp, *part) for part in parts])


def _between(xp: Any, t: Any, low: Any, high: Any) -> Any:
    """A NaN stays one, and a bound that is NaN is none."""
    t = xp.where(high < t, high, t)
    return xp.where(t < low, low, t)


def _clip_gradient(op: OpView, g: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    t, low, high = op.inputs
    below, above = call("Less", t, low), call("Greater", t, high)
    zeros = zeros_like(g)
    inside = select(call("LogicalOr", below, above), zeros, g)
    return inside, select(below, g, zeros), select(above, g, zeros)


def _clip_samples(rng: Any) -> list[Sample]:
    t = rng.choice([-1.5, -0.8, 0.3, 0.7, 1.9], (2, 3))
    low, high = rng.uniform(-0.7, -0.6, (2, 3)), rng.uniform(1.0, 1.5, (2, 3))
    return [
        Sample((t, low, high)),
        Sample((t, low[0, 0], high)),
        Sample((t, low[0, 0], high[0, 0])),
    ]


op(
    "ClipByValue",
    inputs="t clip_value_min clip_value_max",
    type_attrs={"T": "t"},
    formula="between(t, clip_value_min, clip_value_max)",
    infer=numeric(_bounded),
    kernel=_clip,
    gradient=_clip_gradient,
    broadcasts=True,
    samples=with_complex(_clip_samples, differentiable=False),
    arithmetic="exact",
    causes=Causes(flat="clipped"),
    doc="t kept between two bounds, each a scalar or of t's shape; complex numbers part by part.",
    kinks="the gradient goes to t at both bounds, and to the bound beyond it; complex numbers have "
    "none, since they have no order",
)
