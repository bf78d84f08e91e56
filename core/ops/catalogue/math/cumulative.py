"""Running sums and products along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.graph.dtypes import TensorType
from core.ops.axes import positive
from core.ops.builder import OpView, Tensor, call
from core.ops.host import integer
from core.ops.table import InferContext, Sample, op
from core.ops.type_rules import numeric, unref, want_rank


def _accumulated(ctx: InferContext) -> TensorType:
    want_rank(ctx, 1, 0)
    return unref(ctx)


def _running(name: str, neutral: int) -> Any:
    def kernel(xp: Any, x: Any, axis: Any, *, exclusive: bool, reverse: bool) -> Any:
        over = positive(integer(axis), x.ndim)
        if reverse:
            x = xp.flip(x, over)
        if exclusive and x.shape[over]:
            x = _shifted(xp, x, over, neutral)
        total = getattr(xp, name)(x, axis=over, dtype=x.dtype)
        return xp.flip(total, over) if reverse else total

    return kernel


def _shifted(xp: Any, x: Any, axis: int, neutral: int) -> Any:
    """`x` moved on by one along `axis`, `neutral` first, the last row dropped."""
    front = (slice(None),) * axis
    first = xp.full_like(x[(*front, slice(0, 1))], neutral)
    return xp.concatenate([first, x[(*front, slice(0, -1))]], axis)


def _flags(op: OpView) -> dict[str, Any]:
    """The attributes of the running sum that goes the other way."""
    return {"exclusive": op.get_attr("exclusive"), "reverse": not op.get_attr("reverse")}


def _cumprod_gradient(op: OpView, g: Tensor) -> tuple[Tensor, None]:
    x, axis = op.inputs
    total = call("Cumsum", op.outputs[0] * g, axis, **_flags(op))
    return call("DivNoNan", total, x), None


def _samples(rng: np.random.Generator) -> list[Sample]:
    x = rng.uniform(0.5, 2, (2, 3))
    return [
        Sample((x, np.int32(axis)), {"exclusive": exclusive, "reverse": reverse})
        for axis in (0, -1)
        for exclusive in (False, True)
        for reverse in (False, True)
    ]


op(
    "Cumsum",
    inputs="x #axis",
    outputs="out",
    attrs={"exclusive": False, "reverse": False},
    type_attrs={"T": "x", "Tidx": "axis"},
    formula="running(cumsum, x, axis, exclusive, reverse, 0)",
    infer=numeric(_accumulated),
    kernel=_running("cumsum", 0),
    gradient=lambda op, g: (call("Cumsum", g, op.inputs[1], **_flags(op)), None),
    samples=_samples,
    arithmetic="reducing",
    doc="The running sum along an axis; exclusive: without the element itself.",
)
op(
    "Cumprod",
    inputs="x #axis",
    outputs="out",
    attrs={"exclusive": False, "reverse": False},
    type_attrs={"T": "x", "Tidx": "axis"},
    formula="running(cumprod, x, axis, exclusive, reverse, 1)",
    infer=numeric(_accumulated),
    kernel=_running("cumprod", 1),
    gradient=_cumprod_gradient,
    samples=_samples,
    arithmetic="reducing",
    doc="The running product along an axis; exclusive: without the element itself.",
    kinks="the gradient is given as 0 where x is 0, as TensorFlow does",
)
