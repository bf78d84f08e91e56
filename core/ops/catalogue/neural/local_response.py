"""Local response normalization: each channel divided by a power of its neighbours' squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.float_attributes import single
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import real_floating, same_shape, want_rank

ATTRS = {"depth_radius": 5, "bias": 1.0, "alpha": 1.0, "beta": 0.5}
WIDER = (
    "takes float64, too; a NaN spoils the channels within its radius, in TensorFlow's CPU kernel "
    "all of them"
)


def _images(ctx: InferContext) -> TensorType:
    rank = ctx.types[0].shape.rank
    if rank not in (None, 4):
        raise ctx.fail("in must be 4-dimensional", hint="[batch, height, width, channels]")
    for index in range(1, len(ctx.types)):
        want_rank(ctx, index, 4)
    if ctx.attr("depth_radius") < 0:
        radius = ctx.attr("depth_radius")
        raise ctx.fail(f"depth_radius = {radius} larger than int max", hint="0 or more channels")
    return same_shape(ctx)


def _window_sum(xp: Any, x: Any, radius: int) -> Any:
    """At each channel the sum over all channels that are at most `radius` away."""
    depth = x.shape[-1]
    reach = min(radius, max(depth - 1, 0))
    padded = xp.pad(x, [(0, 0)] * (x.ndim - 1) + [(reach, reach)])
    total = padded[..., :depth]
    for start in range(1, 2 * reach + 1):
        total = total + padded[..., start : start + depth]
    return total


def _norm(xp: Any, x: Any, depth_radius: int, bias: float, alpha: float) -> Any:
    return _window_sum(xp, xp.square(x), depth_radius) * single(alpha) + single(bias)


def _lrn(xp: Any, input: Any, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Any:
    norm = _norm(xp, input, depth_radius, bias, alpha)
    return input * xp.power(norm, -single(beta))


def _lrn_grad(
    xp: Any,
    input_grads: Any,
    input_image: Any,
    output_image: Any,
    *,
    depth_radius: int,
    bias: float,
    alpha: float,
    beta: float,
) -> Any:
    norm = _norm(xp, input_image, depth_radius, bias, alpha)
    across = _window_sum(xp, input_grads * output_image / norm, depth_radius)
    own = input_grads * xp.power(norm, -single(beta))
    return own - (2.0 * single(alpha) * single(beta)) * input_image * across


def _gradient(op: OpView, g: Tensor) -> Tensor:
    attrs = {name: op.get_attr(name) for name in ATTRS}
    return call("LRNGrad", g, op.inputs[0], op.outputs[0], **attrs)


def _samples(count: int) -> Any:
    def make(rng: np.random.Generator) -> list[Sample]:
        kinds: list[tuple[tuple[int, ...], dict[str, Any]]] = [
            ((1, 1, 2, 4), {}),
            ((2, 1, 1, 5), {"depth_radius": 1, "bias": 2.0, "alpha": 0.25, "beta": 0.75}),
            ((1, 1, 1, 3), {"depth_radius": 0, "beta": 1.0}),
        ]
        return [
            Sample(tuple(rng.normal(size=shape) for _ in range(count)), attrs)
            for shape, attrs in kinds
        ]

    return make


op(
    "LRN",
    inputs="input",
    attrs=ATTRS,
    type_attrs={"T": "input"},
    formula="input / (bias + alpha * nearby(input ** 2, depth_radius)) ** beta",
    infer=real_floating(_images),
    kernel=_lrn,
    gradient=_gradient,
    samples=_samples(1),
    doc="Each channel over (bias + alpha * the sum of squares within depth_radius) ** beta.",
    differs=WIDER,
)
op(
    "LRNGrad",
    inputs="input_grads input_image output_image",
    attrs=ATTRS,
    type_attrs={"T": "input_grads"},
    formula="input_grads / (bias + alpha * nearby(input_image ** 2, depth_radius)) ** beta - "
    "2 * alpha * beta * input_image * nearby(input_grads * output_image / "
    "(bias + alpha * nearby(input_image ** 2, depth_radius)), depth_radius)",
    infer=real_floating(_images),
    kernel=_lrn_grad,
    samples=_samples(3),
    doc="The gradient of LRN, from its input and its output; it has none itself, as in TensorFlow.",
    differs=WIDER,
)
