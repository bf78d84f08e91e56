"""Exponentials and logarithms, and products with logarithms that are 0 wherever a factor is."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare import domain_limits
from gradstep.core.ops.declare.kernel_forms import Kernels, ufunc
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.result_memory import Elementwise
from gradstep.core.ops.declare.samples import binary, unary, with_complex
from gradstep.core.ops.declare.shape_rules import broadcast
from gradstep.core.ops.declare.table import op
from gradstep.core.ops.declare.type_rules import floats, require_floating
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.numerics.fused_functions import fused
from gradstep.core.ops.numerics.scalar_operands import one
from gradstep.core.ops.typing.static_values import conj, zeros_like

Pair = tuple[Tensor, Tensor]

op(
    "Exp",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="exp(x)",
    infer=floats,
    kernel=ufunc("exp"),
    gradient=lambda op, g: g * conj(op.outputs[0]),
    samples=with_complex(unary()),
    python="exp",
    causes=Causes(flat="underflow", vanishes="underflow"),
    doc="e to the power of x.",
)
op(
    "Expm1",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="expm1(x)",
    infer=floats,
    kernel=ufunc("expm1"),
    gradient=lambda op, g: g * call("Exp", conj(op.inputs[0])),
    samples=with_complex(unary()),
    python="expm1",
    causes=Causes(flat="underflow"),
    doc="e to the power of x, less 1; exact for small x, too.",
)
op(
    "Log",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="log(x)",
    infer=floats,
    kernel=ufunc("log"),
    gradient=lambda op, g: g * call("Reciprocal", conj(op.inputs[0])),
    samples=with_complex(unary(0.5)),
    python="log",
    causes=Causes(breaks=domain_limits.LOG),
    doc="The natural logarithm.",
)
op(
    "Log1p",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="log1p(x)",
    infer=floats,
    kernel=ufunc("log1p"),
    gradient=lambda op, g: g * call("Reciprocal", 1.0 + conj(op.inputs[0])),
    samples=with_complex(unary(-0.5)),
    python="log1p",
    causes=Causes(breaks=domain_limits.LOG1P),
    doc="The natural logarithm of 1 + x; exact for small x, too.",
)


@fused
def _sigmoid(xp: Any, x: Any) -> Any:
    if x.dtype == np.float16:
        return _sigmoid_of_half(xp, x)
    # Where the power is infinite, the result is below the least normal number, and 0 as in
    # TensorFlow, which has no subnormal ones.
    return 1.0 / (1.0 + xp.exp(-x))


def _sigmoid_of_half(xp: Any, x: Any) -> Any:
    """With e^-|x|, which never overflows: in half precision powers soon do."""
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, xp.ones_like(small), small) / (1.0 + small)


def _sigmoid_calls(xp: Any, x: Any, *, out: Any, room: Any) -> Calls:
    if x.dtype == np.float16:
        yield _put_sigmoid_of_half, x, out
        return
    powers = room(x.shape, x.dtype)
    yield np.negative, x, powers
    yield np.exp, powers, powers
    yield np.add, one(np, x), powers, powers
    yield np.divide, one(np, x), powers, out


def _put_sigmoid_of_half(x: Any, out: Any) -> None:
    out[...] = _sigmoid_of_half(np, x)


op(
    "Sigmoid",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="1 / (1 + exp(-x))",
    infer=floats,
    kernel=Kernels(_sigmoid, calls=_sigmoid_calls),
    gradient=lambda op, g: call("SigmoidGrad", conj(op.outputs[0]), g),
    samples=with_complex(unary()),
    python="sigmoid",
    memory=Elementwise("x"),
    causes=Causes(flat="saturated", vanishes="underflow"),
    doc="The logistic function.",
)


def _counts(x: Tensor) -> Tensor:
    """1 where `x` is not 0, else 0."""
    return call("Cast", call("NotEqual", x, zeros_like(x)), DstT=x.dtype)


def _xlogy(op: OpView, g: Tensor) -> Pair:
    x, y = op.inputs
    return call("Xlogy", _counts(x), y) * g, call("Xdivy", x, y) * g


def _xlog1py(op: OpView, g: Tensor) -> Pair:
    x, y = op.inputs
    return call("Xlog1py", _counts(x), y) * g, call("Xdivy", x, y + 1.0) * g


def _xdivy(op: OpView, g: Tensor) -> Pair:
    x, y = op.inputs
    return call("Xdivy", _counts(x), y) * g, call("Xdivy", -x, call("Square", y)) * g


def _unless_zero(function: Any) -> Any:
    def kernel(xp: Any, x: Any, y: Any) -> Any:
        return xp.where(x == 0, x, function(xp, x, y))

    return kernel


def _of_second(breaks: domain_limits.Breaks) -> domain_limits.Breaks:
    """The conditions of a function of y, for a product of it with x."""
    return {cause: lambda x, y, at=at: at(y) for cause, at in breaks.items()}


_PRODUCTS: tuple[tuple[Any, ...], ...] = (
    (
        "Xlogy",
        "x * log(y)",
        lambda xp, x, y: x * xp.log(y),
        _xlogy,
        _of_second(domain_limits.LOG),
        "x times the logarithm of y",
    ),
    (
        "Xlog1py",
        "x * log1p(y)",
        lambda xp, x, y: x * xp.log1p(y),
        _xlog1py,
        _of_second(domain_limits.LOG1P),
        "x times the logarithm of 1 + y",
    ),
    ("Xdivy", "x / y", lambda xp, x, y: x / y, _xdivy, domain_limits.QUOTIENT, "x over y"),
)
for _type, _formula, _function, _gradient, _breaks, _doc in _PRODUCTS:
    op(
        _type,
        inputs="x y",
        outputs="z",
        type_attrs={"T": "x"},
        formula=f"where(x == 0, x, {_formula})",
        infer=require_floating(broadcast),
        kernel=_unless_zero(_function),
        gradient=_gradient,
        broadcasts=True,
        samples=with_complex(binary(symmetric=False), differentiable=False),
        python=_type.lower(),
        causes=Causes(breaks=_breaks),
        doc=f"{_doc[0].upper()}{_doc[1:]}, but 0 wherever x is 0; with broadcasting.",
        kinks="both derivatives are 0 where x is 0; for complex numbers they are not conjugated, "
        "as in TensorFlow",
    )
