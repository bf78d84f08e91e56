"""Arithmetic of two or more tensors, with broadcasting."""

from __future__ import annotations

from typing import Any

from core.errors import GradstepError
from core.ops.builder import OpView, Tensor, call
from core.ops.host import is_integer
from core.ops.known import ones_like, select, zeros_like
from core.ops.samples import binary, equal_shapes
from core.ops.shapes import broadcast
from core.ops.table import op
from core.ops.type_rules import floating, numbers, numeric, same_shape

Pair = tuple["Tensor | None", "Tensor | None"]

for _name in ("Add", "AddV2"):
    op(
        _name,
        inputs="x y",
        outputs="z",
        type_attrs={"T": "x"},
        formula="x + y",
        infer=numbers,
        ufunc="add",
        gradient=lambda op, g: (g, g),
        broadcasts=True,
        samples=binary(),
        python="add" if _name == "AddV2" else "",
        doc="Elementwise sum, with broadcasting.",
    )


def _add_n(xp: Any, *inputs: Any) -> Any:
    total = inputs[0]
    for x in inputs[1:]:
        total = xp.add(total, x)
    return total


def _add_n_out(xp: Any, *inputs: Any, out: Any) -> Any:
    if len(inputs) == 1:
        xp.copyto(out, inputs[0])
        return out
    xp.add(inputs[0], inputs[1], out=out)
    for x in inputs[2:]:
        xp.add(out, x, out=out)
    return out


op(
    "AddN",
    inputs="inputs*",
    outputs="sum",
    type_attrs={"T": "inputs", "N": "len(inputs)"},
    formula="add_all(inputs)",
    infer=numeric(same_shape),
    kernel=_add_n,
    out_kernel=_add_n_out,
    gradient=lambda op, g: [g] * len(op.inputs),
    samples=lambda rng: equal_shapes(1)(rng) + equal_shapes(2)(rng) + equal_shapes(4)(rng),
    arithmetic="reducing",
    doc="The sum of tensors of one shape, added from left to right.",
)
op(
    "Sub",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="x - y",
    infer=numbers,
    ufunc="subtract",
    gradient=lambda op, g: (g, -g),
    broadcasts=True,
    samples=binary(),
    python="subtract",
    doc="Elementwise difference, with broadcasting.",
)
op(
    "Mul",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="x * y",
    infer=numbers,
    ufunc="multiply",
    gradient=lambda op, g: (g * op.inputs[1], op.inputs[0] * g),
    broadcasts=True,
    samples=binary(),
    python="multiply",
    doc="Elementwise product, with broadcasting.",
)


def _quotient(op: OpView, g: Tensor) -> Pair:
    x, y = op.inputs
    return g / y, g * (-x / y / y)


op(
    "RealDiv",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="x / y",
    infer=floating(broadcast),
    ufunc="true_divide",
    gradient=_quotient,
    broadcasts=True,
    samples=binary(),
    python="divide realdiv truediv",
    doc="Elementwise quotient of floating-point numbers, with broadcasting.",
)


def _divide_no_nan(xp: Any, x: Any, y: Any) -> Any:
    zero = y == 0
    return xp.where(zero, xp.zeros_like(y), x / xp.where(zero, xp.ones_like(y), y))


def _quotient_no_nan(op: OpView, g: Tensor) -> Pair:
    x, y = op.inputs
    return call("DivNoNan", g, y), g * call("DivNoNan", call("DivNoNan", -x, y), y)


op(
    "DivNoNan",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="where(y == 0, 0, x / y)",
    infer=floating(broadcast),
    kernel=_divide_no_nan,
    gradient=_quotient_no_nan,
    broadcasts=True,
    samples=binary(),
    arithmetic="rounded",
    python="div_no_nan",
    doc="Elementwise quotient that is 0 wherever the divisor is 0.",
    kinks="both derivatives are 0 where y is 0",
)


def _check_divisor(xp: Any, y: Any) -> None:
    if y.size and xp.any(y == 0).item():
        raise GradstepError(
            "Integer division by zero", hint="keep zeros out of the divisor, or cast to float32"
        )


def _floor_divide(xp: Any, x: Any, y: Any) -> Any:
    if is_integer(x):
        _check_divisor(xp, y)
        return xp.floor_divide(x, y)
    return xp.floor(x / y)  # as TensorFlow does; floor_divide goes through fmod and differs


op(
    "FloorDiv",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="floor(x / y)",
    infer=numbers,
    kernel=_floor_divide,
    differentiable=False,
    broadcasts=True,
    samples=binary(),
    arithmetic="rounded",
    python="floordiv",
    doc="Elementwise quotient rounded down, with broadcasting.",
)


def _floor_mod(xp: Any, x: Any, y: Any) -> Any:
    if is_integer(x):
        _check_divisor(xp, y)
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
    infer=numbers,
    kernel=_floor_mod,
    gradient=lambda op, g: (g, g * -call("FloorDiv", *op.inputs)),
    broadcasts=True,
    samples=binary(),
    arithmetic="rounded",
    python="floormod mod",
    doc="Elementwise remainder with the sign of the divisor, with broadcasting.",
    kinks="jumps where x is a multiple of y; the derivative to x is 1 there, too",
)


def _power(op: OpView, g: Tensor) -> Pair:
    """x**y: y·x^(y-1) for x, and z·log x for y, where log x counts as 0 unless x > 0."""
    x, y = op.inputs
    to_x = g * y * x ** (y - 1.0)
    positive = x > 0.0
    log = select(positive, call("Log", select(positive, x, ones_like(x))), zeros_like(x))
    return to_x, g * op.outputs[0] * log


op(
    "Pow",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="x ** y",
    infer=numbers,
    ufunc="power",
    gradient=_power,
    broadcasts=True,
    samples=binary(symmetric=False),
    python="pow",
    doc="Elementwise power, with broadcasting.",
    kinks="the derivative to y is 0 where x <= 0; to x it is NaN at x = 0, y = 0",
)


def _larger_of(condition: str) -> Any:
    def rule(op: OpView, g: Tensor) -> Pair:
        first = call(condition, *op.inputs)
        zeros = zeros_like(g)
        return select(first, g, zeros), select(first, zeros, g)

    return rule


op(
    "Maximum",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="maximum(x, y)",
    infer=numbers,
    ufunc="maximum",
    gradient=_larger_of("GreaterEqual"),
    broadcasts=True,
    samples=binary(),
    python="maximum",
    doc="Elementwise larger value, with broadcasting; NaN where either is NaN.",
    kinks="where x = y the whole gradient goes to x",
)
op(
    "Minimum",
    inputs="x y",
    outputs="z",
    type_attrs={"T": "x"},
    formula="minimum(x, y)",
    infer=numbers,
    ufunc="minimum",
    gradient=_larger_of("LessEqual"),
    broadcasts=True,
    samples=binary(),
    python="minimum",
    doc="Elementwise smaller value, with broadcasting; NaN where either is NaN.",
    kinks="where x = y the whole gradient goes to x",
)
