"""Activation functions, with TensorFlow's slopes at their corners."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare.float_attributes import single
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.result_memory import Elementwise
from gradstep.core.ops.declare.samples import unary
from gradstep.core.ops.declare.table import Sample, op
from gradstep.core.ops.declare.type_rules import real, real_floats, unref
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.numerics.fused_functions import fused
from gradstep.core.ops.numerics.scalar_operands import number

SELU_SCALE = 1.0507009873554805
SELU_SCALE_ALPHA = 1.7580993408473769

TYPES = {"T": "features"}


def _bent(*corners: float) -> Any:
    """Vectors away from `corners`, a matrix, a scalar; and the corners themselves."""

    def make(rng: np.random.Generator) -> list[Sample]:
        away = unary(0.5, 2.0)(rng) + unary(-2.0, -0.5)(rng) + unary(6.5, 8.0)(rng)
        return [*away, Sample((np.array(corners, float),), differentiable=False)]

    return make


op(
    "Relu6",
    inputs="features",
    outputs="activations",
    type_attrs=TYPES,
    formula="minimum(maximum(features, 0), 6)",
    infer=real(unref),
    kernel=fused(lambda xp, features: xp.minimum(xp.maximum(features, 0), 6)),
    gradient=lambda op, g: call("Relu6Grad", g, op.outputs[0]),
    samples=_bent(0, 6),
    arithmetic="exact",
    python="relu6",
    causes=Causes(flat="clipped", vanishes="inactive"),
    doc="The positive part, but 6 at most.",
    kinks="the derivative at 0 and at 6 is 0",
)


@fused
def _leaky(xp: Any, features: Any, *, alpha: float) -> Any:
    return xp.where(features > 0, features, features * single(alpha))


def _leaky_calls(xp: Any, features: Any, *, alpha: float, out: Any, room: Any) -> Calls:
    """The larger one, where that is what is chosen: NumPy has no branch for it."""
    slope, less = number(single(alpha), features.dtype), room(features.shape, features.dtype)
    yield np.multiply, features, slope, less
    if 0 < single(alpha) <= 1:
        yield partial(np.maximum, out=out), features, less
        return
    above = room(features.shape, np.dtype(bool))
    yield np.greater, features, number(0, features.dtype), above
    yield np.copyto, less, features, "same_kind", above
    yield np.copyto, out, less


def _leaky_gradient(op: OpView, g: Tensor) -> Tensor:
    return call("LeakyReluGrad", g, op.inputs[0], alpha=op.get_attr("alpha"))


def _leaky_samples(rng: np.random.Generator) -> list[Sample]:
    plain = _bent(0)(rng)
    others = [Sample(plain[3].inputs, {"alpha": alpha}) for alpha in (0.0, 1.5, -0.5)]
    return [*plain, *others]


op(
    "LeakyRelu",
    inputs="features",
    outputs="activations",
    attrs={"alpha": 0.2},
    type_attrs=TYPES,
    formula="where(features > 0, features, features * float32(alpha))",
    infer=real_floats,
    kernel=Kernels(_leaky, calls=_leaky_calls),
    gradient=_leaky_gradient,
    samples=_leaky_samples,
    arithmetic="rounded",
    memory=Elementwise("features"),
    causes=Causes(flat="inactive"),
    doc="The value where it is positive, alpha times it elsewhere.",
    kinks="the derivative at 0 is alpha",
)


@fused
def _elu(xp: Any, features: Any) -> Any:
    return xp.where(features < 0, xp.exp(features) - 1.0, features)


op(
    "Elu",
    inputs="features",
    outputs="activations",
    type_attrs=TYPES,
    formula="where(features < 0, exp(features) - 1, features)",
    infer=real_floats,
    kernel=_elu,
    gradient=lambda op, g: call("EluGrad", g, op.outputs[0]),
    samples=_bent(0),
    python="elu",
    causes=Causes(flat="saturated"),
    doc="The value where it is positive, exp(value) - 1 elsewhere.",
    kinks="the derivative at 0 is 1, the second derivative there 0",
)


@fused
def _selu(xp: Any, features: Any) -> Any:
    below = SELU_SCALE_ALPHA * (xp.exp(features) - 1.0)
    return xp.where(features < 0, below, SELU_SCALE * features)


op(
    "Selu",
    inputs="features",
    outputs="activations",
    type_attrs=TYPES,
    formula="where(features < 0, 1.7580993408473769 * (exp(features) - 1), "
    "1.0507009873554805 * features)",
    infer=real_floats,
    kernel=_selu,
    gradient=lambda op, g: call("SeluGrad", g, op.outputs[0]),
    samples=_bent(0),
    python="selu",
    causes=Causes(flat="saturated"),
    doc="Elu, scaled so that layers keep mean 0 and variance 1.",
    kinks="the derivative at 0 is the scale, 1.0507; from below it is 1.7581",
)


@fused
def _softplus(xp: Any, features: Any) -> Any:
    # Beyond it, log(1 + e^x) is x (or e^x) to the last bit or so, and e^x may overflow.
    threshold = math.log(np.finfo(features.dtype).eps) + 2.0
    powers = xp.exp(features)
    small = xp.where(features < threshold, powers, xp.log1p(powers))
    return xp.where(features > -threshold, features, small)


def _softplus_samples(rng: np.random.Generator) -> list[Sample]:
    return [*unary()(rng), Sample((np.array([-800.0, -40.0, 40.0, 800.0]),))]


op(
    "Softplus",
    inputs="features",
    outputs="activations",
    type_attrs=TYPES,
    formula="logaddexp(features, 0)",
    infer=real_floats,
    kernel=_softplus,
    gradient=lambda op, g: g * call("Sigmoid", op.inputs[0]),
    samples=_softplus_samples,
    python="softplus",
    causes=Causes(flat="saturated", vanishes="underflow"),
    doc="The logarithm of 1 + exp(x): a smooth Relu.",
)
op(
    "Softsign",
    inputs="features",
    outputs="activations",
    type_attrs=TYPES,
    formula="features / (1 + abs(features))",
    infer=real_floats,
    kernel=fused(lambda xp, features: features / (xp.abs(features) + 1.0)),
    gradient=lambda op, g: call("SoftsignGrad", g, op.inputs[0]),
    samples=unary(),
    python="softsign",
    causes=Causes(flat="saturated"),
    doc="x over one plus its absolute value.",
)
