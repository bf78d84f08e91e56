"""ONNX's casts, and what makes few numbers of many: quantization."""

from __future__ import annotations

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError, element_type
from gradstep.core.lowering.onnx.onnx_operands import (
    cast,
    dims,
    fixed_size,
    positive,
    rank,
    reshape,
    scalar,
)
from gradstep.core.lowering.onnx.onnx_products import quantized
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call

_TYPES = {
    1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
    8: "string", 9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64",
    14: "complex64", 15: "complex128", 16: "bfloat16",
}  # fmt: skip


def told_type(number: int) -> DType:
    """Of an attribute. Raises UnloweredError for numbers of a few bits."""
    if number not in _TYPES:
        raise UnloweredError(f"element type number {number}, which there is not here")
    return element_type(_TYPES[number])


@lower("Cast", ignores=("saturate", "round_mode"))
def cast_to(site: Site, x: Tensor, *, to: int) -> Tensor:
    return _converted(x, told_type(to))


@lower("CastLike", ignores=("saturate", "round_mode"))
def cast_like(site: Site, x: Tensor, like: Tensor) -> Tensor:
    if site.is_narrowed(like):
        raise UnloweredError(f"numbers of {site.types[like.ref]}")
    return _converted(x, like.dtype)


def _converted(x: Tensor, dtype: DType) -> Tensor:
    if DType.STRING in (x.dtype, dtype):
        raise UnloweredError("numbers as texts")
    return cast(x, dtype)


@lower("BitCast")
def bit_cast(site: Site, x: Tensor, *, to: int) -> Tensor:
    kind = told_type(to)
    if x.dtype is DType.BOOL:  # a byte, 0 or 1
        return call("Bitcast", cast(x, DType.UINT8), type=kind)
    if kind is DType.BOOL:
        return cast(x, kind)
    return call("Bitcast", x, type=kind)


# -- quantization ----------------------------------------------------------------------------------


def _spread(x: Tensor, like: Tensor, axis: int, block_size: int) -> Tensor:
    """A scale or a zero of all, of each place along an axis, or of each block of it, beside
    `like`."""
    if rank(x) == 0 or (rank(x) == 1 and dims(x) == (1,) and not block_size):
        return reshape(x, []) if rank(x) else x
    place = positive(axis, rank(like))
    if not block_size:
        return reshape(x, [fixed_size(x, 0) if i == place else 1 for i in range(rank(like))])
    places = np.arange(fixed_size(like, place)) // block_size
    return call("GatherV2", x, places.astype(np.int32), np.int32(place))


@lower("QuantizeLinear", ignores=("saturate",))
def quantize_linear(
    site: Site,
    x: Tensor,
    scale: Tensor,
    zero: Tensor | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
    precision: int = 0,
) -> Tensor:
    kind = zero.dtype if zero is not None else told_type(output_dtype or 2)
    if zero is not None and site.is_narrowed(zero):
        raise UnloweredError(f"numbers of {site.types[zero.ref]}")
    if not kind.is_integer:
        raise UnloweredError(f"numbers of {kind.value} from a scale")
    wide = DType.FLOAT32
    divided = call("RealDiv", cast(x, wide), cast(_spread(scale, x, axis, block_size), wide))
    given = site.constant(np.zeros((), kind.numpy)) if zero is None else zero
    return quantized(divided, _spread(given, x, axis, block_size))


@lower("DequantizeLinear")
def dequantize_linear(
    site: Site,
    x: Tensor,
    scale: Tensor,
    zero: Tensor | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: int = 0,
) -> Tensor:
    """The difference is of int32, as are the numbers of a sum."""
    kind = told_type(output_dtype) if output_dtype else scale.dtype
    number = x
    if zero is not None:
        less = _spread(zero, x, axis, block_size)
        wide = DType.INT32 if x.dtype.is_integer else x.dtype
        number = call("Sub", cast(x, wide), cast(less, wide))
    spread = _spread(scale, x, axis, block_size)
    found = call("Mul", cast(number, DType.FLOAT32), cast(spread, DType.FLOAT32))
    return cast(found, kind)


@lower("DynamicQuantizeLinear")
def dynamic_quantize_linear(site: Site, x: Tensor) -> list[Tensor]:
    """To uint8, so that the smallest and the largest have a place, and 0 has."""
    everything = np.arange(rank(x), dtype=np.int32)
    low = call("Minimum", call("Min", x, everything), scalar(x, 0))
    high = call("Maximum", call("Max", x, everything), scalar(x, 0))
    scale = call("RealDiv", call("Sub", high, low), scalar(x, 255))
    begin = call("Round", call("RealDiv", call("Neg", low), scale))
    begin = call("Minimum", call("Maximum", begin, scalar(x, 0)), scalar(x, 255))
    zero = cast(begin, DType.UINT8)
    return [quantized(call("RealDiv", x, scale), zero), scale, zero]
