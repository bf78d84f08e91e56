"""FakeQuant: rounding to the numbers of a quantized network, with a gradient that passes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import TensorType
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.table import InferContext, Sample, op
from gradstep.core.ops.declare.type_rules import real_floating, same_shape

ATTRS = {"min": -6.0, "max": 6.0, "num_bits": 8, "narrow_range": False}
WIDER = "takes float16 and float64, too; TensorFlow's takes float32 only"


def _checked(ctx: InferContext) -> TensorType:
    low, high = ctx.attr("min"), ctx.attr("max")
    if not low < high:
        raise ctx.fail(
            f"min has to be smaller than max, was: {low:g} >= {high:g}", hint="swap min and max"
        )
    if not 2 <= ctx.attr("num_bits") <= 16:
        raise ctx.fail("num_bits must be between 2 and 16, inclusive", hint="8 is usual")
    return same_shape(ctx)


def _nudged(
    low: float, high: float, num_bits: int, narrow_range: bool
) -> tuple[np.float32, np.float32, np.float32, np.float32]:
    """The interval moved so that 0 is one of the numbers in it, their distance and its inverse;
    in float32, step by step as TensorFlow."""
    first, last = np.float32(narrow_range), np.float32(2**num_bits - 1)
    width = np.float32(high) - np.float32(low)
    scale = width / (last - first)
    zero_point = first - np.float32(low) / scale
    zero = np.float32(math.floor(float(np.clip(zero_point, first, last)) + 0.5))
    return (first - zero) * scale, (last - zero) * scale, scale, (last - first) / width


def _fake_quant(
    xp: Any, inputs: Any, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> Any:
    low, high, scale, inverse = _nudged(min, max, num_bits, narrow_range)
    zero = float(np.floor(-low * inverse + np.float32(0.5)))
    shifted = xp.maximum(xp.minimum(inputs, float(high)), float(low)) - float(low)
    return xp.floor(shifted * float(inverse) - zero + 0.5) * float(scale)


def _fake_quant_grad(
    xp: Any,
    gradients: Any,
    inputs: Any,
    *,
    min: float,
    max: float,
    num_bits: int,
    narrow_range: bool,
) -> Any:
    low, high, _, _ = _nudged(min, max, num_bits, narrow_range)
    return gradients * ((inputs >= float(low)) & (inputs <= float(high)))


def _gradient(op: OpView, g: Tensor) -> Tensor:
    attrs = {name: op.get_attr(name) for name in ATTRS}
    return call("FakeQuantWithMinMaxArgsGradient", g, op.inputs[0], **attrs)


def _samples(count: int) -> Any:
    def make(rng: np.random.Generator) -> list[Sample]:
        attrs: list[dict[str, Any]] = [
            {},
            {"min": 0.1, "max": 1.0},
            {"min": -1.0, "max": 0.5, "num_bits": 2, "narrow_range": True},
        ]
        return [
            Sample((*[rng.normal(size=5)] * (count - 1), rng.normal(size=5)), a, count == 2)
            for a in attrs
        ]

    return make


op(
    "FakeQuantWithMinMaxArgs",
    inputs="inputs",
    outputs="outputs",
    attrs=ATTRS,
    formula="fake_quant(inputs, min, max, num_bits, narrow_range)",
    infer=real_floating(_checked),
    kernel=_fake_quant,
    gradient=_gradient,
    samples=_samples(1),
    doc="The nearest of 2**num_bits evenly spaced numbers between min and max, 0 among them.",
    kinks="the derivative is 1 between the least and the largest number, both included, and 0 "
    "outside: the rounding is passed over",
    differs=WIDER,
)
op(
    "FakeQuantWithMinMaxArgsGradient",
    inputs="gradients inputs",
    outputs="backprops",
    attrs=ATTRS,
    formula="gradients * fake_quant_passes(inputs, min, max, num_bits, narrow_range)",
    infer=real_floating(_checked),
    kernel=_fake_quant_grad,
    gradient=NOT_DIFFERENTIABLE,
    samples=_samples(2),
    arithmetic="exact",
    doc="The gradient of FakeQuantWithMinMaxArgs: passes inside its interval.",
    differs=WIDER,
)
