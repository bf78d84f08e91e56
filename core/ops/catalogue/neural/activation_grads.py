"""The ops that carry gradients back through activation functions, as TensorFlow makes them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.catalogue.neural.activations import SELU_SCALE, SELU_SCALE_ALPHA
from gradstep.core.ops.declare.float_attributes import single
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.result_memory import Elementwise
from gradstep.core.ops.declare.samples import equal_shapes
from gradstep.core.ops.declare.table import Sample, op
from gradstep.core.ops.declare.type_rules import real, real_floating, same_shape
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.numerics.fused_functions import fused
from gradstep.core.ops.numerics.scalar_operands import number
from gradstep.core.ops.typing.static_values import select, zeros_like

Pair = tuple[Tensor, Tensor]

TYPES = {"T": "gradients"}
floats = real_floating(same_shape)


def _either_side(rng: np.random.Generator) -> list[Sample]:
    """Gradients, and features or outputs on both sides of 0."""
    return [*equal_shapes(2)(rng), *equal_shapes(2, -0.9, -0.5)(rng)]


@fused
def _relu6_grad(xp: Any, gradients: Any, features: Any) -> Any:
    return gradients * ((features > 0) & (features < 6))


op(
    "Relu6Grad",
    inputs="gradients features",
    outputs="backprops",
    type_attrs=TYPES,
    formula="gradients * ((features > 0) & (features < 6))",
    infer=real(same_shape),
    kernel=_relu6_grad,
    gradient=lambda op, g: (call("Relu6Grad", g, op.inputs[1]), zeros_like(op.inputs[1])),
    samples=lambda rng: [*_either_side(rng), *equal_shapes(2, 6.5, 8)(rng)],
    arithmetic="exact",
    doc="The gradient of Relu6: passes where features are above 0 and below 6.",
)


@fused
def _leaky_grad(xp: Any, gradients: Any, features: Any, *, alpha: float) -> Any:
    return xp.where(features > 0, gradients, gradients * single(alpha))


def _leaky_grad_calls(
    xp: Any, gradients: Any, features: Any, *, alpha: float, out: Any, room: Any
) -> Calls:
    """Times 1 or alpha: NumPy has no branch for it."""
    slope, above = number(single(alpha), features.dtype), room(features.shape, np.dtype(bool))
    factor = room(features.shape, features.dtype)
    yield np.greater, features, number(0, features.dtype), above
    if 0 <= single(alpha) <= 1:
        yield partial(np.maximum, out=factor), above, slope
    else:
        yield factor.fill, slope
        yield np.copyto, factor, number(1, features.dtype), "same_kind", above
    yield np.multiply, gradients, factor, out


def _leaky_second(op: OpView, g: Tensor) -> Pair:
    x = op.inputs[1]
    return call("LeakyReluGrad", g, x, alpha=op.get_attr("alpha")), zeros_like(x)


op(
    "LeakyReluGrad",
    inputs="gradients features",
    outputs="backprops",
    attrs={"alpha": 0.2},
    type_attrs=TYPES,
    formula="where(features > 0, gradients, gradients * float32(alpha))",
    infer=floats,
    kernel=Kernels(_leaky_grad, calls=_leaky_grad_calls),
    gradient=_leaky_second,
    samples=lambda rng: [
        Sample(s.inputs, {"alpha": alpha}) for s in _either_side(rng) for alpha in (0.3, 0.0, 1.5)
    ],
    arithmetic="rounded",
    memory=Elementwise("gradients features"),
    doc="The gradient of LeakyRelu: passes where features are above 0, alpha times elsewhere.",
)


def _below(op: OpView, g: Tensor) -> Tensor:
    """The slope of both Elu gradients in their outputs: that of the exponential, below 0."""
    gradients, outputs = op.inputs
    zeros = zeros_like(outputs)
    return select(call("Less", outputs, zeros), g * gradients, zeros)


@fused
def _elu_grad(xp: Any, gradients: Any, outputs: Any) -> Any:
    return xp.where(outputs < 0, (outputs + 1.0) * gradients, gradients)


op(
    "EluGrad",
    inputs="gradients outputs",
    outputs="backprops",
    type_attrs=TYPES,
    formula="where(outputs < 0, (outputs + 1) * gradients, gradients)",
    infer=floats,
    kernel=_elu_grad,
    gradient=lambda op, g: (call("EluGrad", g, op.inputs[1]), _below(op, g)),
    samples=_either_side,
    doc="The gradient of Elu, from its outputs.",
)


@fused
def _selu_grad(xp: Any, gradients: Any, outputs: Any) -> Any:
    below = gradients * (outputs + SELU_SCALE_ALPHA)
    return xp.where(outputs < 0, below, gradients * SELU_SCALE)


op(
    "SeluGrad",
    inputs="gradients outputs",
    outputs="backprops",
    type_attrs=TYPES,
    formula="where(outputs < 0, gradients * (outputs + 1.7580993408473769), "
    "gradients * 1.0507009873554805)",
    infer=floats,
    kernel=_selu_grad,
    gradient=lambda op, g: (call("SeluGrad", g, op.inputs[1]), _below(op, g)),
    samples=_either_side,
    doc="The gradient of Selu, from its outputs.",
)


def _softplus_second(op: OpView, g: Tensor) -> Pair:
    dy, x = op.inputs
    bell = call("Exp", -x) + 2.0 + call("Exp", x)
    return call("SoftplusGrad", g, x), g * dy / bell


op(
    "SoftplusGrad",
    inputs="gradients features",
    outputs="backprops",
    type_attrs=TYPES,
    formula="gradients / (exp(-features) + 1)",
    infer=floats,
    kernel=fused(lambda xp, gradients, features: gradients / (xp.exp(-features) + 1.0)),
    gradient=_softplus_second,
    samples=equal_shapes(2, -2.0),
    doc="The gradient of Softplus, from its features; TensorFlow's own rule uses Sigmoid instead.",
)


@fused
def _softsign_grad(xp: Any, gradients: Any, features: Any) -> Any:
    return gradients / xp.square(xp.abs(features) + 1.0)


op(
    "SoftsignGrad",
    inputs="gradients features",
    outputs="backprops",
    type_attrs=TYPES,
    formula="gradients / (abs(features) + 1) ** 2",
    infer=floats,
    kernel=_softsign_grad,
    samples=_either_side,
    doc="The gradient of Softsign, from its features; it has none itself, as in TensorFlow.",
)
