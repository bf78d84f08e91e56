"""Sums, differences and products of two or more tensors, with broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare import domain_limits
from gradstep.core.ops.declare.kernel_forms import Kernels, ufunc
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.result_memory import Elementwise
from gradstep.core.ops.declare.samples import binary, equal_shapes, with_complex
from gradstep.core.ops.declare.shape_rules import broadcast
from gradstep.core.ops.declare.table import op
from gradstep.core.ops.declare.type_rules import (
    numbers,
    numeric,
    only,
    require_floating,
    same_shape,
)
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.typing.static_values import conj

Pair = tuple[Tensor, Tensor]

# Add is older than the wide unsigned types.
_OF_ADD = "bfloat16 float16 float32 float64 uint8 int8 int16 int32 int64 complex64 complex128"

for _name in ("Add", "AddV2"):
    op(
        _name,
        inputs="x y",
        outputs="z",
        type_attrs={"T": "x"},
        formula="x + y",
        infer=numbers if _name == "AddV2" else only(broadcast, _OF_ADD),
        kernel=ufunc("add"),
        gradient=lambda op, g: (g, g),
        broadcasts=True,
        samples=with_complex(binary()),
        python="add" if _name == "AddV2" else "",
        causes=Causes(breaks=domain_limits.SUM, vanishes="cancelled"),
        doc="Elementwise sum, with broadcasting.",
    )


def _add_n(xp: Any, *inputs: Any) -> Any:
    total = inputs[0]
    for x in inputs[1:]:
        total = xp.add(total, x)
    return total


def _add_n_calls(xp: Any, *inputs: Any, out: Any, room: Any) -> Calls:
    if len(inputs) == 1:
        yield np.copyto, out, inputs[0]
        return
    yield np.add, inputs[0], inputs[1], out
    for x in inputs[2:]:
        yield np.add, out, x, out


op(
    "AddN",
    inputs="inputs*",
    outputs="sum",
    type_attrs={"T": "inputs", "N": "len(inputs)"},
    formula="add_all(inputs)",
    infer=numeric(same_shape),
    kernel=Kernels(_add_n, calls=_add_n_calls),
    gradient=lambda op, g: [g] * len(op.inputs),
    samples=lambda rng: equal_shapes(1)(rng) + equal_shapes(2)(rng) + equal_shapes(4)(rng),
    arithmetic="reducing",
    memory=Elementwise("inputs"),
    causes=Causes(breaks=domain_limits.TERMS, vanishes="cancelled"),
    doc="The sum of tensors of one shape, added from left to right.",
)
op(
    "Sub",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="x - y",
    infer=numbers,
    kernel=ufunc("subtract"),
    gradient=lambda op, g: (g, -g),
    broadcasts=True,
    samples=with_complex(binary()),
    python="subtract",
    causes=Causes(breaks=domain_limits.SUM, vanishes="cancelled"),
    doc="Elementwise difference, with broadcasting.",
)
op(
    "Mul",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="x * y",
    infer=numbers,
    kernel=ufunc("multiply"),
    gradient=lambda op, g: (g * conj(op.inputs[1]), conj(op.inputs[0]) * g),
    broadcasts=True,
    samples=with_complex(binary()),
    python="multiply",
    causes=Causes(breaks=domain_limits.PRODUCT, vanishes="underflow"),
    doc="Elementwise product, with broadcasting.",
)


def _mul_no_nan(xp: Any, x: Any, y: Any) -> Any:
    product = x * y
    return xp.where(y == 0, xp.zeros_like(product), product)


def _mul_no_nan_gradient(op: OpView, g: Tensor) -> Pair:
    x, y = op.inputs
    return call("MulNoNan", g, y), call("MulNoNan", x, g)


op(
    "MulNoNan",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="where(y == 0, 0, x * y)",
    infer=require_floating(broadcast),
    kernel=_mul_no_nan,
    gradient=_mul_no_nan_gradient,
    broadcasts=True,
    samples=with_complex(binary(), differentiable=False),
    arithmetic="rounded",
    python="multiply_no_nan",
    causes=Causes(vanishes="underflow"),
    doc="Elementwise product that is 0 wherever y is 0, even if x is infinite or NaN.",
    kinks="the derivative to y is 0 where the gradient is; for complex numbers they are not "
    "conjugated, as in TensorFlow",
)


def _squared_difference(xp: Any, x: Any, y: Any) -> Any:
    difference = x - y
    return difference * (xp.conj(difference) if x.dtype.kind == "c" else difference)


def _squared_difference_calls(xp: Any, x: Any, y: Any, *, out: Any, room: Any) -> Calls:
    difference = room(out.shape, out.dtype)
    yield xp.subtract, x, y, difference
    if x.dtype.kind != "c":
        yield xp.multiply, difference, difference, out
        return
    other = room(out.shape, out.dtype)
    yield xp.conj, difference, other
    yield xp.multiply, difference, other, out


def _squared_difference_gradient(op: OpView, g: Tensor) -> Pair:
    x, y = op.inputs
    to_x = 2.0 * g * (x - y)
    return to_x, -to_x


op(
    "SquaredDifference",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="(x - y) * conj(x - y)",
    infer=only(broadcast, "bfloat16 float16 float32 float64 int32 int64 complex64 complex128"),
    kernel=Kernels(_squared_difference, calls=_squared_difference_calls),
    gradient=_squared_difference_gradient,
    broadcasts=True,
    samples=with_complex(binary(), differentiable=False),
    python="squared_difference",
    causes=Causes(breaks=domain_limits.SUM, vanishes="cancelled"),
    doc="Elementwise square of the difference, with broadcasting; of complex numbers, of its size.",
    kinks="for complex numbers the gradient counts as real, as in TensorFlow",
)
