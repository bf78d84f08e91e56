"""Elementwise functions and arithmetic of ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Build, Site
from gradstep.core.lowering.onnx.onnx_operands import (
    apply,
    cast,
    in_float,
    positive,
    rank,
    reshape,
    scalar,
    sizes,
)
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call

SAME = {  # ONNX's name -> the op type that is the same function
    "Acos": "Acos", "Acosh": "Acosh", "Asin": "Asin", "Asinh": "Asinh", "Atan": "Atan",
    "Atanh": "Atanh", "Ceil": "Ceil", "Cos": "Cos", "Cosh": "Cosh", "Erf": "Erf", "Exp": "Exp",
    "Floor": "Floor", "IsNaN": "IsNan", "Log": "Log", "Neg": "Neg", "Not": "LogicalNot",
    "Reciprocal": "Reciprocal", "Round": "Round", "Sigmoid": "Sigmoid", "Sign": "Sign",
    "Sin": "Sin", "Sinh": "Sinh", "Sqrt": "Sqrt", "Tan": "Tan", "Tanh": "Tanh",
    "BitwiseNot": "Invert",
}  # fmt: skip
_OF_FLOATS = {"Erf"}


def _same(name: str, type: str) -> Build:
    def build(site: Site, x: Tensor) -> Tensor:
        if name in _OF_FLOATS:
            return in_float(lambda y: apply(type, y), x)
        return apply(type, x)

    return build


for _name, _type in SAME.items():
    lower(_name)(_same(_name, _type))


@lower("Abs")
def absolute(site: Site, x: Tensor) -> Tensor:
    unsigned = x.dtype.is_integer and x.dtype.numpy.kind == "u"
    return call("Identity", x) if unsigned else apply("Abs", x)


@lower("Identity")
def identity(site: Site, x: Tensor) -> Tensor:
    return call("Identity", x)


def _binary(type: str) -> Build:
    def build(
        site: Site, a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0
    ) -> Tensor:
        return apply(type, a, from_axis(a, b, axis))

    return build


def from_axis(a: Tensor, b: Tensor, axis: int | None) -> Tensor:
    """Before version 7, the axes of `b` could be those of `a` from one on."""
    if axis is None:
        return b
    behind = rank(a) - positive(axis, rank(a)) - rank(b)
    return reshape(b, [*sizes(b), *[1] * max(0, behind)])


for _name, _type in {
    "Add": "AddV2",
    "Sub": "Sub",
    "Mul": "Mul",
    "BitwiseAnd": "BitwiseAnd",
    "BitwiseOr": "BitwiseOr",
    "BitwiseXor": "BitwiseXor",
}.items():
    lower(_name)(_binary(_type))


@lower("Div")
def div(site: Site, a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0) -> Tensor:
    """Of whole numbers towards zero."""
    b = from_axis(a, b, axis)
    return apply("TruncateDiv" if a.dtype.is_integer else "RealDiv", a, b)


@lower("Mod")
def mod(site: Site, a: Tensor, b: Tensor, *, fmod: int = 0) -> Tensor:
    """The sign of what divides, or with `fmod` of what is divided."""
    return apply("TruncateMod" if fmod else "FloorMod", a, b)


@lower("Pow")
def power(
    site: Site, a: Tensor, b: Tensor, *, axis: int | None = None, broadcast: int = 0
) -> Tensor:
    """The result is of the type of what is raised."""
    b = from_axis(a, b, axis)
    if b.dtype is a.dtype:
        return apply("Pow", a, b)
    if a.dtype.is_floating:
        return apply("Pow", a, cast(b, a.dtype))
    wide = DType.FLOAT64 if b.dtype.is_floating else DType.INT64
    return cast(call("Pow", cast(a, wide), cast(b, wide)), a.dtype)


def _of_many(type: str) -> Build:
    def build(site: Site, *xs: Tensor) -> Tensor:
        found = xs[0]
        for x in xs[1:]:
            found = apply(type, found, x)
        return found

    return build


for _name, _type in {"Max": "Maximum", "Min": "Minimum", "Sum": "AddV2"}.items():
    lower(_name)(_of_many(_type))


@lower("Mean")
def mean(site: Site, *xs: Tensor) -> Tensor:
    total = xs[0]
    for x in xs[1:]:
        total = call("AddV2", total, x)
    return call("RealDiv", total, scalar(total, len(xs)))


@lower("Clip")
def clip(
    site: Site,
    x: Tensor,
    least: Tensor | None = None,
    most: Tensor | None = None,
    *,
    min: float | None = None,
    max: float | None = None,
) -> Tensor:
    """The gradient passes within the bounds. They were attributes before version 11."""
    low = least if least is not None else None if min is None else scalar(x, min)
    high = most if most is not None else None if max is None else scalar(x, max)
    y = x if low is None else apply("Maximum", x, low)
    return y if high is None else apply("Minimum", y, high)


@lower("IsInf")
def is_inf(site: Site, x: Tensor, *, detect_negative: int = 1, detect_positive: int = 1) -> Tensor:
    found = apply("IsInf", x)
    if not detect_negative:
        found = call("LogicalAnd", found, apply("Greater", x, scalar(x, 0)))
    if not detect_positive:
        found = call("LogicalAnd", found, apply("Less", x, scalar(x, 0)))
    return found


@lower("BitShift")
def bit_shift(site: Site, x: Tensor, by: Tensor, *, direction: str) -> Tensor:
    """By as many bits as there are or more, or by less than none, nothing is left but what the
    sign fills up with."""
    to_left, signed = direction == "LEFT", x.dtype.numpy.kind == "i"
    width = np.array(8 * x.dtype.numpy.itemsize, x.dtype.numpy)
    fits = apply("Less", by, width)
    fits = call("LogicalAnd", fits, call("GreaterEqual", by, scalar(x, 0))) if signed else fits
    by = call("SelectV2", fits, by, scalar(x, 0))
    shifted = call("LeftShift" if to_left else "RightShift", x, by)
    nothing: Any = scalar(x, 0)
    if signed and not to_left:
        nothing = call("SelectV2", call("Less", x, scalar(x, 0)), _like(x, -1), scalar(x, 0))
    return call("SelectV2", fits, shifted, nothing)


def _like(x: Tensor, value: int) -> Tensor:
    return call("AddV2", call("ZerosLike", x), scalar(x, value))
