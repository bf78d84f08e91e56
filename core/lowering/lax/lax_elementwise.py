"""Elementwise functions and arithmetic of JAX."""

from __future__ import annotations

import math
from typing import Any

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.kinked_functions import flat, larger, relu, smaller
from gradstep.core.lowering.lax.lax_operands import cast, operands, scalar, tensor
from gradstep.core.lowering.lax.lax_table import lower
from gradstep.core.lowering.lowering_table import Build, Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call

SAME = {  # JAX's name -> the op type that is the same function
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "bessel_i0e": "BesselI0e",
    "bessel_i1e": "BesselI1e",
    "ceil": "Ceil",
    "conj": "Conj",
    "copy": "Identity",
    "cos": "Cos",
    "cosh": "Cosh",
    "digamma": "Digamma",
    "erf": "Erf",
    "erf_inv": "Erfinv",
    "erfc": "Erfc",
    "exp": "Exp",
    "expm1": "Expm1",
    "floor": "Floor",
    "imag": "Imag",
    "is_finite": "IsFinite",
    "lgamma": "Lgamma",
    "log": "Log",
    "log1p": "Log1p",
    "logistic": "Sigmoid",
    "neg": "Neg",
    "real": "Real",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "square": "Square",
    "stop_gradient": "StopGradient",
    "tan": "Tan",
    "tanh": "Tanh",
}
_ATTRIBUTES = {"Real": "Tout", "Imag": "Tout"}


def _same(type: str) -> Build:
    def build(site: Site, x: Any) -> Tensor:
        more = {_ATTRIBUTES[type]: site.dtype()} if type in _ATTRIBUTES else {}
        return call(type, tensor(site, x), **more)

    return build


for _name, _type in SAME.items():
    lower(_name)(_same(_type))


@lower("abs")
def absolute(site: Site, x: Any) -> Tensor:
    x = tensor(site, x)
    return call("ComplexAbs", x, Tout=site.dtype()) if x.dtype.is_complex else call("Abs", x)


@lower("relu")
def rectified(site: Site, x: Any) -> Tensor:
    """jax.nn.relu, whose gradient at 0 is 0."""
    x = tensor(site, x)
    return relu(site, x)


@lower("sqrt", "rsqrt")
def root(site: Site, x: Any) -> Tensor:
    """As a power, whose gradient is NaN where 0 comes back to an infinite slope, as JAX's is;
    TensorFlow's own ops give 0 there, and would hide it."""
    x = tensor(site, x)
    exponent = {"sqrt": 0.5, "rsqrt": -0.5}[site.variant]
    return call("Pow", x, scalar(x, exponent))


@lower("cbrt")
def cube_root(site: Site, x: Any) -> Tensor:
    x = tensor(site, x)
    return call("Mul", call("Sign", x), call("Pow", call("Abs", x), scalar(x, 1 / 3)))


@lower("exp2")
def exp2(site: Site, x: Any) -> Tensor:
    x = tensor(site, x)
    return call("Exp", call("Mul", x, scalar(x, math.log(2))))


@lower("integer_pow")
def integer_power(site: Site, x: Any, y: int) -> Tensor:
    x = tensor(site, x)
    if y == 0:  # whose slope is 0 everywhere, where that of the power is NaN at 0
        return flat(call("OnesLike", x), x)
    simple = {1: "Identity", 2: "Square"}.get(y)
    return call("Pow", x, scalar(x, y)) if simple is None else call(simple, x)


@lower("round")
def rounded(site: Site, x: Any, rounding_method: Any = 0) -> Tensor:
    """To even, or away from 0."""
    x = tensor(site, x)
    if str(rounding_method).lower() in ("1", "to_nearest_even"):
        return call("Rint", x)
    up = call("Floor", call("AddV2", call("Abs", x), scalar(x, 0.5)))
    return call("Mul", call("Sign", x), up)


@lower("convert_element_type", ignores=("new_dtype",))
def convert(site: Site, x: Any) -> Tensor:
    found = cast(tensor(site, x), site.dtype())
    return found if found is not x else call("Identity", found)


@lower("reduce_precision")
def reduce_precision(site: Site, x: Any, exponent_bits: int, mantissa_bits: int) -> Tensor:
    x = tensor(site, x)
    if exponent_bits < 8 or mantissa_bits < 23 or x.dtype is DType.FLOAT64:
        raise UnloweredError("numbers of fewer bits than they have")
    return call("Identity", x)


@lower("bitcast_convert_type", ignores=("new_dtype",))
def bitcast(site: Site, x: Any) -> Tensor:
    x = tensor(site, x)
    return call("Bitcast", x, type=site.dtype())


# -- two operands ----------------------------------------------------------------------------------


def _binary(type: str) -> Build:
    def build(site: Site, x: Any, y: Any) -> Tensor:
        return call(type, *operands(site, x, y))

    return build


for _name, _type in {
    "add": "AddV2",
    "add_any": "AddV2",
    "atan2": "Atan2",
    "igamma": "Igamma",
    "igamma_grad_a": "IgammaGradA",
    "igammac": "Igammac",
    "mul": "Mul",
    "nextafter": "NextAfter",
    "polygamma": "Polygamma",
    "shift_left": "LeftShift",
    "shift_right_arithmetic": "RightShift",
    "sub": "Sub",
    "zeta": "Zeta",
}.items():
    lower(_name, ignores=("out_dtype",))(_binary(_type))


@lower("shift_right_logical")
def shift_right_logical(site: Site, x: Any, y: Any) -> Tensor:
    a, b = operands(site, x, y)
    if not a.dtype.value.startswith("uint"):
        raise UnloweredError("a logical shift of numbers with a sign")
    return call("RightShift", a, b)


@lower("complex")
def complex_of(site: Site, x: Any, y: Any) -> Tensor:
    a, b = operands(site, x, y)
    return call("Complex", a, b, Tout=site.dtype())


@lower("div")
def divide(site: Site, x: Any, y: Any) -> Tensor:
    """Of whole numbers towards 0."""
    return call("TruncateDiv" if site.dtype().is_integer else "RealDiv", *operands(site, x, y))


@lower("rem")
def remainder(site: Site, x: Any, y: Any) -> Tensor:
    """Of the sign of x. The op has no gradient: that is of x − y · trunc(x / y)."""
    a, b = operands(site, x, y)
    exact = call("TruncateMod", a, b)
    if not a.dtype.is_floating:
        return exact
    ratio = call("RealDiv", a, b)
    whole = call(
        "StopGradient", call("Mul", call("Sign", ratio), call("Floor", call("Abs", ratio)))
    )
    slope = call("Sub", a, call("Mul", whole, b))
    rest = call("Sub", slope, call("StopGradient", slope))
    return call("AddV2", call("StopGradient", exact), rest)


@lower("pow")
def power(site: Site, x: Any, y: Any) -> Tensor:
    a = tensor(site, x, site.dtype())
    b = cast(y, a.dtype) if isinstance(y, Tensor) else scalar(a, y)
    if isinstance(y, Tensor) and y.dtype.is_integer and a.dtype.is_floating:
        a = call("SelectV2", call("Equal", b, scalar(a, 0)), scalar(a, 1), a)  # as integer_pow
    return call("Pow", a, b)


@lower("regularized_incomplete_beta")
def incomplete_beta(site: Site, operands: list[Any]) -> Tensor:
    """Of two shapes, to which neither has a gradient, and a place."""
    return call("Betainc", *_operands(site, *operands))


_operands = operands  # JAX calls an argument so


@lower("max")
def maximum(site: Site, x: Any, y: Any) -> Tensor:
    return _logic(site, "LogicalOr", x, y) or larger(site, *operands(site, x, y))


@lower("min")
def minimum(site: Site, x: Any, y: Any) -> Tensor:
    return _logic(site, "LogicalAnd", x, y) or smaller(site, *operands(site, x, y))


def _logic(site: Site, type: str, x: Any, y: Any) -> Tensor | None:
    return call(type, *operands(site, x, y)) if site.dtype() is DType.BOOL else None


@lower("clamp")
def clamp(site: Site, min: Any, x: Any, max: Any) -> Tensor:
    """The gradient passes between the bounds, and not on them."""
    value, low, high = operands(site, x, min, max)
    below = call("SelectV2", call("Less", value, high), value, high)
    return call("SelectV2", call("Greater", value, low), below, low)


# -- comparison, logic, choice ---------------------------------------------------------------------

for _name, _type in {
    "eq": "Equal",
    "ge": "GreaterEqual",
    "gt": "Greater",
    "le": "LessEqual",
    "lt": "Less",
    "ne": "NotEqual",
}.items():
    lower(_name)(_binary(_type))


@lower("lt_to", "le_to", differs="−0 and 0 are equal")
def total_order(site: Site, x: Any, y: Any) -> Tensor:
    """In an order of all numbers, in which NaN is the last."""
    is_less = site.variant == "lt_to"
    a, b = operands(site, x, y)
    found = call("Less" if is_less else "LessEqual", a, b)
    if not a.dtype.is_floating:
        return found
    last = call("IsNan", tensor(site, b, a.dtype))
    if is_less:
        last = call("LogicalAnd", last, call("LogicalNot", call("IsNan", a)))
    return call("LogicalOr", found, last)


def _bits(logical: str, bitwise: str) -> Build:
    def build(site: Site, x: Any, y: Any) -> Tensor:
        return call(logical if site.dtype() is DType.BOOL else bitwise, *operands(site, x, y))

    return build


lower("and")(_bits("LogicalAnd", "BitwiseAnd"))
lower("or")(_bits("LogicalOr", "BitwiseOr"))
lower("xor")(_bits("NotEqual", "BitwiseXor"))


@lower("not")
def negation(site: Site, x: Any) -> Tensor:
    x = tensor(site, x)
    return call("LogicalNot" if x.dtype is DType.BOOL else "Invert", x)


@lower("select_n")
def select_n(site: Site, which: Any, cases: list[Any]) -> Tensor:
    """The case of that number; of two, what is false is the first."""
    first, *rest = operands(site, *cases)
    if not isinstance(which, Tensor):
        return call("Identity", [first, *rest][int(which)])
    if which.dtype is DType.BOOL:
        return call("SelectV2", which, tensor(site, rest[0]), first)
    found: Tensor = first
    for number, case in enumerate(rest, 1):
        found = call("SelectV2", call("Equal", which, scalar(which, number)), case, found)
    return found
