"""Elementwise functions of `tf` that choose their op by the element type, or build several."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.number_kinds import limits_of
from gradstep.core.ops.api.tf_creation import alike, constant
from gradstep.core.ops.build.tensor import Tensor, TensorLike, builder_of, call
from gradstep.core.ops.catalogue.math.complex_numbers import complex_of, part
from gradstep.core.ops.typing import static_values

_HALF_PRECISE = {DType.INT8, DType.INT16, DType.UINT8, DType.UINT16}  # fit into float32


def absolute(x: TensorLike, name: str | None = None) -> Tensor:
    x = constant(x)
    return part("ComplexAbs", x, name=name) if x.dtype.is_complex else call("Abs", x, name=name)


def round_(x: TensorLike, name: str | None = None) -> Tensor:
    x = constant(x)
    return x if x.dtype.is_integer else call("Round", x, name=name)


def complex_(real: TensorLike, imag: TensorLike, name: str | None = None) -> Tensor:
    first = next((t for t in (real, imag) if isinstance(t, Tensor)), None)
    return complex_of(alike(real, first), alike(imag, first), name=name)


def conj(x: TensorLike, name: str | None = None) -> Tensor:
    return static_values.conj(constant(x))


def real(input: TensorLike, name: str | None = None) -> Tensor:
    x = constant(input)
    return part("Real", x, name=name) if x.dtype.is_complex else x


def imag(input: TensorLike, name: str | None = None) -> Tensor:
    x = constant(input)
    return part("Imag", x, name=name) if x.dtype.is_complex else static_values.zeros_like(x)


def angle(input: TensorLike, name: str | None = None) -> Tensor:
    x = constant(input)
    if x.dtype.is_complex:
        return part("Angle", x, name=name)
    with builder_of((x,)).scope(name or "Angle"):
        half_turn = math.pi * static_values.ones_like(x)
        return static_values.select(x < 0.0, half_turn, static_values.zeros_like(x))


def bitcast(input: TensorLike, type: DType | str, name: str | None = None) -> Tensor:
    return call("Bitcast", constant(input), type=DType(type), name=name)


def _pair(x: TensorLike, y: TensorLike) -> tuple[Tensor, Tensor]:
    first = next((t for t in (x, y) if isinstance(t, Tensor)), None)
    x = alike(x, first)
    return x, alike(y, x)


def truediv(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient; of integers, as floating-point numbers."""
    x, y = _pair(x, y)
    if not x.dtype.is_integer:
        return call("RealDiv", x, y, name=name)
    wide = DType.FLOAT32 if x.dtype in _HALF_PRECISE else DType.FLOAT64
    with builder_of((x,)).scope(name or "truediv") as scope:
        over = [call("Cast", t, DstT=wide) for t in (x, y)]
        return call("RealDiv", *over, name=f"{scope}/")


def div(x: TensorLike, y: TensorLike, name: str | None = None) -> Tensor:
    """The quotient; of integers, rounded down."""
    x, y = _pair(x, y)
    return call("FloorDiv" if x.dtype.is_integer else "RealDiv", x, y, name=name or "div")


def reciprocal_no_nan(x: TensorLike, name: str | None = None) -> Tensor:
    """One over x, but 0 wherever x is 0."""
    x = constant(x)
    return call("DivNoNan", alike(1, x), x, name=name or "reciprocal_no_nan")


def _to(own_name: str, dtype: DType) -> Callable[..., Tensor]:
    def function(x: TensorLike, name: str = own_name) -> Tensor:
        x = constant(x)
        return x if x.dtype is dtype else call("Cast", x, DstT=dtype, name=name)

    function.__name__ = own_name
    function.__doc__ = f"`x` as {dtype.value}."
    return function


_TO = {
    "ToFloat": DType.FLOAT32,
    "ToDouble": DType.FLOAT64,
    "ToInt32": DType.INT32,
    "ToInt64": DType.INT64,
    "ToComplex64": DType.COMPLEX64,
    "ToComplex128": DType.COMPLEX128,
}


def logical_xor(x: TensorLike, y: TensorLike, name: str = "LogicalXor") -> Tensor:
    x, y = constant(x), constant(y)
    not_both = call("LogicalNot", call("LogicalAnd", x, y))
    return call("LogicalAnd", call("LogicalOr", x, y), not_both, name=name)


def clip_by_value(
    t: TensorLike,
    clip_value_min: TensorLike,
    clip_value_max: TensorLike,
    name: str | None = None,
) -> Tensor:
    """`t` between two bounds that broadcast to its shape: a Maximum of a Minimum."""
    t = constant(t)
    with builder_of((t,)).scope(name or "clip_by_value") as scope:
        below = call("Minimum", t, clip_value_max)
        _check_same_shape(t, below)
        inside = call("Maximum", below, clip_value_min, name=f"{scope}/")
        _check_same_shape(t, inside)
    return inside


def _check_same_shape(t: Tensor, clipped: Tensor) -> None:
    try:
        t.shape.merge(clipped.shape)
    except ValueError:
        raise ValueError(f"Shapes {t.shape} and {clipped.shape} are incompatible") from None


def saturate_cast(value: TensorLike, dtype: DType | str, name: str | None = None) -> Tensor:
    """A Cast that gives the nearest number there is, where the type has no room for it."""
    value, target = constant(value), DType(dtype)
    if value.dtype.is_complex and not target.is_complex:
        value = part("Real", value)
    low, high = _common_range(value.dtype, target)
    with builder_of((value,)).scope(name or "saturate_cast") as scope:
        clamped = call("ClipByValue", value, low, high, name="clamp")
        return call("Cast", clamped, DstT=target, name=f"{scope}/")


def _common_range(source: DType, target: DType) -> tuple[Any, Any]:
    """The smallest and the largest number of type `source` that `target` has room for, too."""
    (low, high), (least, most) = _range(source), _range(target)
    kind = source.numpy.type if source.is_integer else limits_of(source.numpy).dtype.type
    bounds = [_inwards(kind(b), least, most) for b in (max(low, least), min(high, most))]
    lower, upper = [complex(b, b) for b in bounds] if source.is_complex else bounds
    return lower, upper


def _range(dtype: DType) -> tuple[int, int]:
    """Exact, as Python's integers; of complex numbers, their parts'."""
    limits = np.iinfo(dtype.numpy) if dtype.is_integer else limits_of(dtype.numpy)
    return int(limits.min), int(limits.max)


def _inwards(bound: Any, least: int, most: int) -> Any:
    """The bound, or its neighbour if it was rounded to a number outside."""
    return bound if least <= int(bound) <= most else np.nextafter(bound, type(bound)(0))


FUNCTIONS: dict[str, Callable[..., Tensor]] = {
    "abs": absolute,
    "angle": angle,
    "bitcast": bitcast,
    "clip_by_value": clip_by_value,
    "complex": complex_,
    "conj": conj,
    "div": div,
    "divide": truediv,
    "imag": imag,
    "logical_xor": logical_xor,
    "real": real,
    "reciprocal_no_nan": reciprocal_no_nan,
    "round": round_,
    "saturate_cast": saturate_cast,
    "truediv": truediv,
    **{f"to_{name[2:].lower()}": _to(name, dtype) for name, dtype in _TO.items()},
}
