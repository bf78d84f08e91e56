"""The sign of numbers, their size, and the positive part."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import call
from gradstep.core.ops.declare.declared_gradient import Gradient
from gradstep.core.ops.declare.kernel_forms import Kernels, ufunc
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.result_memory import Elementwise
from gradstep.core.ops.declare.samples import unary, with_complex
from gradstep.core.ops.declare.table import op
from gradstep.core.ops.declare.type_rules import real, require_signed, unref
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.numerics.scalar_operands import beside_zeros
from gradstep.core.ops.typing.static_values import zeros_like

op(
    "Neg",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="-x",
    infer=require_signed(unref),
    kernel=ufunc("negative"),
    gradient=Gradient(lambda op, g: -g, takes_slices=True),
    samples=with_complex(unary()),
    python="negative",
    doc="The value with the opposite sign.",
)
op(
    "Abs",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="abs(x)",
    infer=require_signed(real(unref)),
    kernel=ufunc("absolute"),
    gradient=lambda op, g: g * call("Sign", op.inputs[0]),
    samples=unary(0.5),
    doc="The absolute value of real numbers; ComplexAbs takes complex ones.",
    kinks="the derivative at 0 is 0",
)


def _sign(xp: Any, x: Any) -> Any:
    if x.dtype.kind != "c":
        return xp.sign(x)
    size = xp.abs(x)
    return xp.where(size == 0, xp.zeros_like(x), x / xp.where(size == 0, xp.ones_like(size), size))


op(
    "Sign",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="sign(x)",
    infer=require_signed(unref),
    kernel=_sign,
    gradient=Gradient(lambda op, g: zeros_like(op.inputs[0]), stepped=True),
    samples=with_complex(unary(0.5), differentiable=False),
    arithmetic="rounded",  # of a complex number it is a quotient
    python="sign",
    memory=Elementwise(),
    doc="-1, 0 or 1, as x is negative, zero or positive; x over its size if it is complex.",
    kinks="the derivative is 0 everywhere: zeros, not None",
)


def _relu_calls(xp: Any, x: Any, *, out: Any, room: Any) -> Calls:
    for part, zeros, place in beside_zeros(x, out):
        yield partial(np.maximum, out=place), part, zeros


op(
    "Relu",
    inputs="features",
    outputs="activations",
    type_attrs={"T": "features"},
    formula="maximum(features, 0)",
    infer=real(unref),
    kernel=Kernels(lambda xp, x: xp.maximum(x, 0), calls=_relu_calls),
    gradient=lambda op, g: call("ReluGrad", g, op.outputs[0]),
    samples=unary(0.5),
    arithmetic="exact",
    python="relu",
    memory=Elementwise("features"),
    causes=Causes(flat="inactive", vanishes="inactive"),
    doc="The positive part.",
    kinks="the derivative at 0 is 0",
)
