"""Powers, roots and reciprocals."""

from __future__ import annotations

from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare import domain_limits
from gradstep.core.ops.declare.host_arrays import is_integer
from gradstep.core.ops.declare.kernel_forms import ufunc
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.result_memory import Elementwise
from gradstep.core.ops.declare.samples import binary, unary, with_complex
from gradstep.core.ops.declare.shape_rules import broadcast
from gradstep.core.ops.declare.table import op
from gradstep.core.ops.declare.type_rules import floats, numeric, require_signed, unref
from gradstep.core.ops.typing.static_values import conj, ones_like, select, zeros_like

op(
    "Square",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="x * x",
    infer=numeric(unref),
    kernel=ufunc("square"),
    gradient=lambda op, g: g * (conj(op.inputs[0]) * 2.0),
    samples=with_complex(unary()),
    python="square",
    causes=Causes(vanishes="underflow"),
    doc="x times x.",
)
op(
    "Sqrt",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="sqrt(x)",
    infer=floats,
    kernel=ufunc("sqrt"),
    gradient=lambda op, g: call("SqrtGrad", op.outputs[0], g),
    samples=with_complex(unary(0.5)),
    python="sqrt",
    causes=Causes(breaks=domain_limits.ROOT),
    doc="The square root.",
    kinks="the derivative at 0 is infinite, but a zero gradient stays zero there",
)
op(
    "Rsqrt",
    inputs="x",
    outputs="y",
    type_attrs={"T": "x"},
    formula="1 / sqrt(x)",
    infer=floats,
    kernel=lambda xp, x: 1.0 / xp.sqrt(x),
    gradient=lambda op, g: call("RsqrtGrad", op.outputs[0], g),
    samples=with_complex(unary(0.5)),
    python="rsqrt",
    memory=Elementwise(),
    causes=Causes(breaks=domain_limits.INVERSE_ROOT),
    doc="One over the square root.",
)
for _type in ("Reciprocal", "Inv"):
    op(
        _type,
        inputs="x",
        outputs="y",
        type_attrs={"T": "x"},
        formula="1 / x",
        infer=floats,
        kernel=lambda xp, x: 1.0 / x,
        gradient=lambda op, g: call("ReciprocalGrad", op.outputs[0], g),
        samples=with_complex(unary(0.5)),
        arithmetic="rounded",
        python="reciprocal" if _type == "Reciprocal" else "",
        causes=Causes(breaks=domain_limits.INVERSE, vanishes="underflow"),
        doc="One over x.",
        differs="one over complex 0 has an infinite part where TensorFlow's is NaN",
    )


def _power(xp: Any, x: Any, y: Any) -> Any:
    if is_integer(y) and y.dtype.kind == "i" and y.size and xp.any(y < 0).item():
        raise GradstepError(
            "Integers to negative integer powers are not allowed",
            hint="keep the exponent at 0 or above, or cast both to float32",
        )
    return xp.power(x, y)


def _power_gradient(op: OpView, g: Tensor) -> tuple[Tensor, Tensor]:
    """x**y: y·x^(y-1) for x, and z·log x for y, where log x counts as 0 unless x > 0."""
    x, y = (conj(t) for t in op.inputs)
    to_x = g * y * x ** (y - 1.0)
    usable = call("NotEqual", x, zeros_like(x)) if x.dtype.is_complex else x > 0.0
    log = select(usable, call("Log", select(usable, x, ones_like(x))), zeros_like(x))
    return to_x, g * conj(op.outputs[0]) * log


op(
    "Pow",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="x ** y",
    infer=require_signed(broadcast),
    kernel=_power,
    gradient=_power_gradient,
    broadcasts=True,
    samples=with_complex(binary(symmetric=False)),
    python="pow",
    causes=Causes(breaks=domain_limits.POWER, vanishes="underflow"),
    doc="Elementwise power, with broadcasting.",
    kinks="the derivative to y is 0 where x <= 0; to x it is NaN at x = 0, y = 0",
    differs="0 to the power 0 of complex numbers is 1, not NaN",
)
