"""Quotients and remainders, with broadcasting: exact, rounded down, rounded to zero."""

from __future__ import annotations

from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import OpView, Tensor, call
from gradstep.core.ops.declare import domain_limits
from gradstep.core.ops.declare.declared_gradient import NOT_DIFFERENTIABLE
from gradstep.core.ops.declare.host_arrays import is_integer
from gradstep.core.ops.declare.kernel_forms import Kernels, ufunc
from gradstep.core.ops.declare.result_causes import Causes
from gradstep.core.ops.declare.samples import binary, with_complex
from gradstep.core.ops.declare.shape_rules import broadcast
from gradstep.core.ops.declare.table import op
from gradstep.core.ops.declare.type_rules import numbers, only, real_numbers, require_floating
from gradstep.core.ops.numerics.fused_functions import fused
from gradstep.core.ops.numerics.integer_division import truncate_divide
from gradstep.core.ops.typing.static_values import conj

Pair = tuple[Tensor, Tensor]

_ASKS = "whether an integer divisor is 0"


def _check_divisor(xp: Any, x: Any, y: Any) -> None:
    if x.size and y.size and xp.any(y == 0).item():
        raise GradstepError(
            "Integer division by zero", hint="keep zeros out of the divisor, or cast to float32"
        )


def _truncated(xp: Any, x: Any, y: Any) -> Any:
    """The quotient of integers rounded to zero. Raises GradstepError when a divisor is 0."""
    _check_divisor(xp, x, y)
    return truncate_divide(xp, x, y)


def _divide(xp: Any, x: Any, y: Any) -> Any:
    return _truncated(xp, x, y) if is_integer(x) else x / y


def _quotient(op: OpView, g: Tensor) -> Pair:
    x, y = (conj(t) for t in op.inputs)
    return g / y, g * (-x / y / y)


op(
    "RealDiv",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="x / y",
    infer=require_floating(broadcast),
    kernel=ufunc("true_divide"),
    gradient=_quotient,
    broadcasts=True,
    samples=with_complex(binary()),
    python="realdiv",
    causes=Causes(breaks=domain_limits.QUOTIENT, vanishes="underflow"),
    doc="Elementwise quotient of floating-point numbers, with broadcasting.",
    differs="complex numbers over 0 have infinite parts where TensorFlow's are NaN",
)
op(
    "Div",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="x / y",
    infer=numbers,
    kernel=Kernels(_divide, asks=_ASKS),
    gradient=_quotient,
    broadcasts=True,
    samples=with_complex(binary()),
    arithmetic="rounded",
    causes=Causes(breaks=domain_limits.QUOTIENT, vanishes="underflow"),
    doc="Elementwise quotient, of integers rounded to zero; with broadcasting.",
)


@fused
def _divide_no_nan(xp: Any, x: Any, y: Any) -> Any:
    zero = y == 0
    return xp.where(zero, xp.zeros_like(y), x / xp.where(zero, xp.ones_like(y), y))


def _quotient_no_nan(op: OpView, g: Tensor) -> Pair:
    x, y = (conj(t) for t in op.inputs)
    return call("DivNoNan", g, y), g * call("DivNoNan", call("DivNoNan", -x, y), y)


op(
    "DivNoNan",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="where(y == 0, 0, x / y)",
    infer=require_floating(broadcast),
    kernel=_divide_no_nan,
    gradient=_quotient_no_nan,
    broadcasts=True,
    samples=with_complex(binary()),
    arithmetic="rounded",
    python="div_no_nan divide_no_nan",
    causes=Causes(vanishes="underflow"),
    doc="Elementwise quotient that is 0 wherever the divisor is 0.",
    kinks="both derivatives are 0 where y is 0",
)


def _floor_divide(xp: Any, x: Any, y: Any) -> Any:
    if is_integer(x):
        _check_divisor(xp, x, y)
        return xp.floor_divide(x, y)
    return xp.floor(x / y)  # as TensorFlow does; floor_divide goes through fmod and differs


op(
    "FloorDiv",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="floor(x / y)",
    infer=real_numbers,
    kernel=Kernels(_floor_divide, asks=_ASKS),
    gradient=NOT_DIFFERENTIABLE,
    broadcasts=True,
    samples=binary(),
    arithmetic="rounded",
    python="floordiv floor_div",
    causes=Causes(breaks=domain_limits.REMAINDER, vanishes="rounded"),
    doc="Elementwise quotient rounded down, with broadcasting.",
)


def _floor_mod(xp: Any, x: Any, y: Any) -> Any:
    if is_integer(x):
        _check_divisor(xp, x, y)
        return xp.remainder(x, y)
    rest = xp.fmod(x, y)
    opposite = (rest != 0) & ((y < 0) != (rest < 0))
    return xp.where(opposite, rest + y, rest)


op(
    "FloorMod",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="x - floor(x / y) * y",
    infer=real_numbers,
    kernel=Kernels(_floor_mod, asks=_ASKS),
    gradient=lambda op, g: (g, g * -call("FloorDiv", *op.inputs)),
    broadcasts=True,
    samples=binary(),
    arithmetic="rounded",
    python="floormod mod",
    causes=Causes(breaks=domain_limits.REMAINDER),
    doc="Elementwise remainder with the sign of the divisor, with broadcasting.",
    kinks="jumps where x is a multiple of y; the derivative to x is 1 there, too",
)


def _truncate_div(xp: Any, x: Any, y: Any) -> Any:
    return _truncated(xp, x, y) if is_integer(x) else xp.trunc(x / y)


op(
    "TruncateDiv",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="trunc(x / y)",
    infer=real_numbers,
    kernel=Kernels(_truncate_div, asks=_ASKS),
    gradient=NOT_DIFFERENTIABLE,
    broadcasts=True,
    samples=binary(),
    arithmetic="rounded",
    python="truncatediv",
    causes=Causes(breaks=domain_limits.REMAINDER, vanishes="rounded"),
    doc="Elementwise quotient rounded to zero, with broadcasting.",
    differs="an integer divided by 0 says so; TensorFlow calls it an unexpected error",
)


def _truncate_mod(xp: Any, x: Any, y: Any) -> Any:
    return x - _truncated(xp, x, y) * y if is_integer(x) else xp.fmod(x, y)


for _type in ("TruncateMod", "Mod"):
    op(
        _type,
        inputs="x y",
        outputs="z",
        type_attrs={"T": "x"},
        formula="fmod(x, y)",
        infer=only(broadcast, "int32 int64 float16 bfloat16 float32 float64"),
        kernel=Kernels(_truncate_mod, asks=_ASKS),
        broadcasts=True,
        samples=binary(),
        arithmetic="rounded",
        python=_type.lower() if _type == "TruncateMod" else "",
        causes=Causes(breaks=domain_limits.REMAINDER),
        doc="Elementwise remainder with the sign of the dividend, with broadcasting.",
        kinks="TensorFlow has no gradient for it: a LookupError",
        differs="an integer divided by 0 says so; TensorFlow calls it an unexpected error"
        if _type == "TruncateMod"
        else "",
    )
