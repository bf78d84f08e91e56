"""The ops that carry gradients back through elementwise functions, as TensorFlow makes them.

Each takes the function's output (ReluGrad: the output, too) instead of its input. Formulas are
those of TensorFlow's CPU kernels, in their order of operations.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare import domain_limits
from gradstep.core.ops.declare.kernel_forms import Kernels
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.result_memory import Elementwise
from gradstep.core.ops.declare.samples import equal_shapes, with_complex
from gradstep.core.ops.declare.table import op
from gradstep.core.ops.declare.type_rules import real, require_floating, same_shape
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.numerics.fused_functions import fused
from gradstep.core.ops.numerics.scalar_operands import number, one
from gradstep.core.ops.typing.static_values import conj, zeros_like

Pair = tuple[Tensor, Tensor]

floats = require_floating(same_shape)


def _tanh_second(op: OpView, g: Tensor) -> Pair:
    y, dy = (conj(t) for t in op.inputs)
    return g * -2.0 * dy * y, call("TanhGrad", y, g)


def _tanh_grad_calls(xp: Any, y: Any, dy: Any, *, out: Any, room: Any) -> Calls:
    rest = room(y.shape, y.dtype)
    yield xp.multiply, y, y, rest
    yield xp.subtract, one(xp, y), rest, rest
    yield xp.multiply, dy, rest, out


op(
    "TanhGrad",
    inputs="y dy",
    outputs="z",
    type_attrs={"T": "y"},
    formula="dy * (1 - y * y)",
    infer=floats,
    kernel=Kernels(fused(lambda xp, y, dy: dy * (1.0 - y * y)), calls=_tanh_grad_calls),
    gradient=_tanh_second,
    samples=with_complex(equal_shapes(2)),
    memory=Elementwise("y dy"),
    doc="The gradient of Tanh, from its output y and the gradient dy.",
)


def _sigmoid_second(op: OpView, g: Tensor) -> Pair:
    y, dy = (conj(t) for t in op.inputs)
    scaled = g * dy
    return scaled - 2.0 * scaled * y, call("SigmoidGrad", y, g)


def _sigmoid_grad_calls(xp: Any, y: Any, dy: Any, *, out: Any, room: Any) -> Calls:
    first, rest = room(y.shape, y.dtype), room(y.shape, y.dtype)
    yield xp.subtract, one(xp, y), y, rest
    yield xp.multiply, dy, y, first
    yield xp.multiply, first, rest, out


op(
    "SigmoidGrad",
    inputs="y dy",
    outputs="z",
    type_attrs={"T": "y"},
    formula="dy * y * (1 - y)",
    infer=floats,
    kernel=Kernels(fused(lambda xp, y, dy: dy * y * (1.0 - y)), calls=_sigmoid_grad_calls),
    gradient=_sigmoid_second,
    samples=with_complex(equal_shapes(2)),
    memory=Elementwise("y dy"),
    doc="The gradient of Sigmoid, from its output y and the gradient dy.",
)


def _relu_grad_calls(xp: Any, gradients: Any, features: Any, *, out: Any, room: Any) -> Calls:
    above = room(features.shape, np.dtype(bool))
    yield np.greater, features, number(0, features.dtype), above
    yield np.multiply, gradients, above, out


op(
    "ReluGrad",
    inputs="gradients features",
    outputs="backprops",
    type_attrs={"T": "gradients"},
    formula="gradients * (features > 0)",
    infer=real(same_shape),
    kernel=Kernels(
        fused(lambda xp, gradients, features: gradients * (features > 0)),
        calls=_relu_grad_calls,
    ),
    gradient=lambda op, g: (call("ReluGrad", g, op.inputs[1]), zeros_like(op.inputs[1])),
    samples=equal_shapes(2),
    arithmetic="exact",
    memory=Elementwise("gradients features"),
    doc="The gradient of Relu: passes where features are above 0.",
)


def _unless_zero(xp: Any, dy: Any, value: Any) -> Any:
    """`value`, but 0 wherever `dy` is 0: so a masked-out infinity does not turn into NaN."""
    return xp.where(dy == 0, xp.zeros_like(dy), value)


def _conjugate(xp: Any, y: Any) -> Any:
    return xp.conj(y) if y.dtype.kind == "c" else y


def _sqrt_second(op: OpView, g: Tensor) -> Pair:
    y = op.inputs[0]
    scaled = g / y
    return -conj(scaled) * op.outputs[0], 0.5 * scaled


@fused
def _sqrt_grad(xp: Any, y: Any, dy: Any) -> Any:
    return _unless_zero(xp, dy, 0.5 * dy / _conjugate(xp, y))


op(
    "SqrtGrad",
    inputs="y dy",
    outputs="z",
    type_attrs={"T": "y"},
    formula="where(dy == 0, 0, 0.5 * dy / conj(y))",
    infer=floats,
    kernel=_sqrt_grad,
    gradient=_sqrt_second,
    samples=with_complex(equal_shapes(2)),
    memory=Elementwise(),
    causes=Causes(breaks=domain_limits.ROOT_SLOPE),
    doc="The gradient of Sqrt, from its output y and the gradient dy; 0 where dy is 0.",
)


def _rsqrt_second(op: OpView, g: Tensor) -> Pair:
    y, dy = conj(op.inputs[0]), op.inputs[1]
    return -1.5 * conj(g) * dy * call("Square", y), call("RsqrtGrad", y, g)


@fused
def _rsqrt_grad(xp: Any, y: Any, dy: Any) -> Any:
    y = _conjugate(xp, y)
    return _unless_zero(xp, dy, -0.5 * (dy * y) * (y * y))


op(
    "RsqrtGrad",
    inputs="y dy",
    outputs="z",
    type_attrs={"T": "y"},
    formula="where(dy == 0, 0, -0.5 * dy * conj(y) ** 3)",
    infer=floats,
    kernel=_rsqrt_grad,
    gradient=_rsqrt_second,
    samples=with_complex(equal_shapes(2)),
    memory=Elementwise(),
    doc="The gradient of Rsqrt, from its output y and the gradient dy; 0 where dy is 0.",
)


def _reciprocal_second(op: OpView, g: Tensor) -> Pair:
    y, dy = conj(op.inputs[0]), op.inputs[1]
    return conj(g) * -2.0 * dy * y, call("ReciprocalGrad", y, g)


@fused
def _reciprocal_grad(xp: Any, y: Any, dy: Any) -> Any:
    y = _conjugate(xp, y)
    return _unless_zero(xp, dy, -y * y * dy)


for _type in ("ReciprocalGrad", "InvGrad"):
    op(
        _type,
        inputs="y dy",
        outputs="z",
        type_attrs={"T": "y"},
        formula="where(dy == 0, 0, -(conj(y) ** 2) * dy)",
        infer=floats,
        kernel=_reciprocal_grad,
        gradient=_reciprocal_second,
        samples=with_complex(equal_shapes(2)),
        doc="The gradient of Reciprocal, from its output y and the gradient dy; 0 where dy is 0.",
    )
