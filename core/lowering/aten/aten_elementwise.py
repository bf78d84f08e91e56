"""Elementwise functions and arithmetic of PyTorch."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.number_kinds import limits_of
from gradstep.core.lowering.aten.aten_table import lower, lower_as_given
from gradstep.core.lowering.aten.aten_tensors import (
    as_operands,
    cast,
    number,
    promoted,
    scalar,
    to_result,
)
from gradstep.core.lowering.foreign_graph import ElementType
from gradstep.core.lowering.kinked_functions import (
    angle,
    flat,
    larger,
    power,
    relu,
    smaller,
    times_log,
)
from gradstep.core.lowering.lowering_table import Build, Site
from gradstep.core.ops.build.builder import Tensor, call

SAME = {  # PyTorch's name -> the op type that is the same function
    "abs": "Abs",
    "acos": "Acos",
    "acosh": "Acosh",
    "asin": "Asin",
    "asinh": "Asinh",
    "atan": "Atan",
    "atanh": "Atanh",
    "bitwise_not": "Invert",
    "ceil": "Ceil",
    "cos": "Cos",
    "cosh": "Cosh",
    "digamma": "Digamma",
    "erf": "Erf",
    "erfc": "Erfc",
    "erfinv": "Erfinv",
    "exp": "Exp",
    "expm1": "Expm1",
    "floor": "Floor",
    "lgamma": "Lgamma",
    "log": "Log",
    "log1p": "Log1p",
    "logical_not": "LogicalNot",
    "neg": "Neg",
    "round": "Rint",
    "sgn": "Sign",
    "sigmoid": "Sigmoid",
    "sign": "Sign",
    "sin": "Sin",
    "sinh": "Sinh",
    "square": "Square",
    "tan": "Tan",
    "tanh": "Tanh",
}
_KEEPS = {"abs", "neg", "sign", "sgn", "square", "bitwise_not"}
_STEPS = {"ceil", "floor", "round"}  # zeros come back


def _same(name: str, type: str) -> Build:
    def build(site: Site, self: Tensor) -> Tensor:
        if name == "logical_not":
            return call("LogicalNot", cast(self, DType.BOOL))
        if name == "bitwise_not" and self.dtype is DType.BOOL:
            return call("LogicalNot", self)
        if name in _STEPS:
            is_whole = not self.dtype.is_floating
            return call("Identity", self) if is_whole else flat(call(type, self), self)
        if name == "abs" and self.dtype.is_complex:
            return call("ComplexAbs", self, Tout=site.dtype())
        return call(type, self if name in _KEEPS else to_result(site, self))

    return build


for _name, _type in SAME.items():
    lower_as_given(_name)(_same(_name, _type))  # the kernels round once


@lower("round.decimals")
def round_to(site: Site, self: Tensor, decimals: int = 0) -> Tensor:
    """Behind the point; before it, where there are less than none."""
    many, few = ("Mul", "RealDiv") if decimals >= 0 else ("RealDiv", "Mul")
    by = scalar(self, 10.0 ** abs(decimals))
    return flat(call(few, call("Rint", call(many, self, by)), by), self)


@lower_as_given("detach")
def detach(site: Site, self: Tensor) -> Tensor:
    return call("StopGradient", self)


@lower_as_given(
    "alias",
    "clone",
    "contiguous",
    "lift_fresh_copy",
    "alias_copy",
    "positive",
    "lift_fresh",
    ignores=("memory_format",),
)
def identity(site: Site, self: Tensor) -> Tensor:
    return call("Identity", self)


@lower_as_given(
    "_to_copy", "to", "type_as", "_cast_Float", ignores=("copy", "memory_format", "other")
)
def convert(site: Site, self: Tensor, dtype: ElementType | None = None) -> Tensor:
    found = to_result(site, self)
    return found if found is not self else call("Identity", self)


@lower_as_given("relu")
def rectified(site: Site, self: Tensor) -> Tensor:
    return relu(site, self)


@lower("sqrt", "rsqrt", "reciprocal")
def root(site: Site, self: Tensor) -> Tensor:
    """As a power, whose gradient is NaN where 0 comes back to an infinite slope, as PyTorch's is;
    TensorFlow's own ops give 0 there, and would hide it."""
    exponent = {"sqrt": 0.5, "rsqrt": -0.5, "reciprocal": -1.0}[site.node.op.split(".")[1]]
    x = to_result(site, self)
    return call("Pow", x, scalar(x, exponent))


@lower("log2")
def log2(site: Site, self: Tensor) -> Tensor:
    x = to_result(site, self)
    return call("Mul", call("Log", x), scalar(x, 1 / math.log(2)))


@lower("log10")
def log10(site: Site, self: Tensor) -> Tensor:
    x = to_result(site, self)
    return call("Mul", call("Log", x), scalar(x, 1 / math.log(10)))


@lower("exp2")
def exp2(site: Site, self: Tensor) -> Tensor:
    x = to_result(site, self)
    return call("Exp", call("Mul", x, scalar(x, math.log(2))))


@lower("trunc", "fix")
def trunc(site: Site, self: Tensor) -> Tensor:
    return flat(_whole_part(self), self)


def _whole_part(x: Tensor) -> Tensor:
    return call("Mul", call("Sign", x), call("Floor", call("Abs", x)))


@lower("frac")
def frac(site: Site, self: Tensor) -> Tensor:
    return call("Sub", self, call("StopGradient", _whole_part(self)))


@lower("logit")
def logit(site: Site, self: Tensor, eps: float | None = None) -> Tensor:
    x = self if eps is None else clamp(site, self, eps, 1 - eps)
    return call("Sub", call("Log", x), call("Log1p", call("Neg", x)))


# -- two operands ----------------------------------------------------------------------------------


def binary(type: str) -> Callable[..., Tensor]:
    """An op of two operands, in the element type that PyTorch computes in."""

    def build(site: Site, self: Any, other: Any, alpha: float = 1) -> Tensor:
        a, b = as_operands(promoted(self, other), self, other)
        if number(alpha) != 1:
            b = call("Mul", b, np.array(alpha, promoted(self, other).numpy))
        return _of_any(site, type, a, b)

    return build


def _of_any(site: Site, type: str, a: Any, b: Any) -> Tensor:
    """Where both are numbers, one of them is made a tensor. The logic of bools, where it is that of
    numbers in PyTorch."""
    if not isinstance(a, Tensor) and not isinstance(b, Tensor):
        a = site.constant(a)
    dtype = (a if isinstance(a, Tensor) else b).dtype
    if dtype is DType.BOOL:
        type = {"AddV2": "LogicalOr", "Mul": "LogicalAnd"}.get(type, type)
    return call(type, a, b)


for _name, _type in {
    "add": "AddV2",
    "sub": "Sub",
    "mul": "Mul",
    "multiply": "Mul",
    "subtract": "Sub",
}.items():
    lower(_name)(binary(_type))


@lower("rsub")
def rsub(site: Site, self: Any, other: Any, alpha: float = 1) -> Tensor:
    return (
        binary("Sub")(site, other, self)
        if alpha == 1
        else binary("Neg")(site, binary("Sub")(site, self, other, alpha))
    )


@lower_as_given("maximum", "max.other")
def maximum(site: Site, self: Tensor, other: Tensor) -> Tensor:
    return larger(site, *_both(self, other))


@lower_as_given("minimum", "min.other")
def minimum(site: Site, self: Tensor, other: Tensor) -> Tensor:
    return smaller(site, *_both(self, other))


def _both(a: Tensor, b: Tensor) -> list[Any]:
    return as_operands(promoted(a, b), a, b)


@lower("atan2")
def atan2(site: Site, self: Tensor, other: Tensor) -> Tensor:
    return angle(site, to_result(site, self), to_result(site, other))


@lower("hypot")
def hypot(site: Site, self: Tensor, other: Tensor) -> Tensor:
    a, b = to_result(site, self), to_result(site, other)
    top = call("StopGradient", call("Maximum", call("Abs", a), call("Abs", b)))
    usual = call("LogicalAnd", call("IsFinite", top), call("Greater", top, scalar(top, 0)))
    scale = call("SelectV2", usual, top, scalar(top, 1))  # squares of large numbers are infinite
    squares = call("AddV2", *(call("Square", call("RealDiv", x, scale)) for x in (a, b)))
    return call("Mul", call("Pow", squares, scalar(squares, 0.5)), scale)


@lower("logaddexp")
def logaddexp(site: Site, self: Tensor, other: Tensor) -> Tensor:
    a, b = to_result(site, self), to_result(site, other)
    most = call("Maximum", a, b)
    infinite = call("LogicalOr", call("IsInf", a), call("IsInf", b))
    finite = [call("SelectV2", infinite, scalar(x, 0), x) for x in (a, b)]
    top = call("StopGradient", call("Maximum", *finite))
    total = call("AddV2", *(call("Exp", call("Sub", x, top)) for x in finite))
    return call("SelectV2", infinite, most, call("AddV2", call("Log", total), top))


@lower("xlogy", "special_xlogy")
def xlogy(site: Site, self: Any, other: Any) -> Tensor:
    x, y = as_operands(site.dtype(), self, other)
    x, y = (one if isinstance(one, Tensor) else site.constant(one) for one in (x, y))
    return times_log(site, x, y)


@lower("div", "true_divide", "divide")
def div(site: Site, self: Any, other: Any, rounding_mode: str | None = None) -> Tensor:
    """Of integers, unrounded, a float."""
    if rounding_mode == "floor":
        return floor_divide(site, self, other)
    a, b = as_operands(
        site.dtype() if rounding_mode is None else promoted(self, other), self, other
    )
    found = _of_any(site, "RealDiv" if site.dtype().is_floating else "TruncateDiv", a, b)
    return flat(_whole_part(found), a, b) if rounding_mode and site.dtype().is_floating else found


@lower("floor_divide")
def floor_divide(site: Site, self: Any, other: Any) -> Tensor:
    a, b = as_operands(promoted(self, other), self, other)
    if site.dtype().is_floating:
        return flat(call("Floor", _of_any(site, "RealDiv", a, b)), a, b)
    return _of_any(site, "FloorDiv", a, b)


@lower("remainder")
def remainder(site: Site, self: Any, other: Any) -> Tensor:
    return binary("FloorMod")(site, self, other)


@lower("fmod")
def fmod(site: Site, self: Any, other: Any) -> Tensor:
    """Of floats a − b · trunc(a / b), since the op has no gradient."""
    a, b = as_operands(promoted(self, other), self, other)
    a = a if isinstance(a, Tensor) else site.constant(a)
    if not a.dtype.is_floating:
        return call("TruncateMod", a, b)
    whole = call("StopGradient", _whole_part(call("RealDiv", a, b)))
    return call("Sub", a, call("Mul", whole, b))


@lower("pow", differs="PyTorch's gradient of the exponent is NaN of a base below 0; here it is 0")
def pow_(site: Site, self: Any, exponent: Any) -> Tensor:
    a, b = as_operands(promoted(self, exponent), self, exponent)
    simple = {2.0: "Square", 1.0: "Identity"}
    is_plain = isinstance(a, Tensor) and a.dtype.is_floating and not isinstance(b, Tensor)
    type = simple.get(float(exponent)) if is_plain else None
    return power(site, a, b) if type is None else call(type, a)


@lower("addcmul")
def addcmul(site: Site, self: Tensor, tensor1: Tensor, tensor2: Tensor, value: float = 1) -> Tensor:
    return call("AddV2", self, _scaled(call("Mul", tensor1, tensor2), value))


@lower("addcdiv")
def addcdiv(site: Site, self: Tensor, tensor1: Tensor, tensor2: Tensor, value: float = 1) -> Tensor:
    return call("AddV2", self, _scaled(call("RealDiv", tensor1, tensor2), value))


@lower("lerp")
def lerp(site: Site, self: Tensor, end: Tensor, weight: Any) -> Tensor:
    share = weight if isinstance(weight, Tensor) else scalar(self, weight)
    return call("AddV2", self, call("Mul", call("Sub", end, self), share))


def _scaled(x: Tensor, by: float) -> Tensor:
    return x if by == 1 else call("Mul", x, scalar(x, by))


# -- bounds ----------------------------------------------------------------------------------------


@lower_as_given("clamp", "clip", "clamp.Tensor")
def clamp(site: Site, self: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """The gradient passes within the bounds and on them."""
    bounds = [bound for bound in (min, max) if bound is not None]
    x, *_ = as_operands(promoted(self, *bounds), self)
    if min is not None:
        x = call("Maximum", x, *as_operands(x.dtype, min))
    if max is not None:
        x = call("Minimum", x, *as_operands(x.dtype, max))
    return x  # type: ignore[no-any-return]


@lower_as_given("clamp_min")
def clamp_min(site: Site, self: Tensor, min: Any) -> Tensor:
    return clamp(site, self, min)


@lower_as_given("clamp_max")
def clamp_max(site: Site, self: Tensor, max: Any) -> Tensor:
    return clamp(site, self, None, max)


@lower_as_given("nan_to_num")
def nan_to_num(
    site: Site,
    self: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    most = limits_of(self.dtype.numpy).max
    x = call("SelectV2", call("IsNan", self), scalar(self, nan or 0.0), self)
    for value, low in ((posinf, False), (neginf, True)):
        at = call("Equal", x, scalar(self, -math.inf if low else math.inf))
        x = call(
            "SelectV2",
            at,
            scalar(self, value if value is not None else float(-most if low else most)),
            x,
        )
    return x
