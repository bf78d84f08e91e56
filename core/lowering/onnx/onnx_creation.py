"""ONNX's operators that make tensors of nothing: constants, ranges, windows, random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_casting import told_type
from gradstep.core.lowering.onnx.onnx_operands import (
    cast,
    indices_up_to,
    number,
    reshape,
    shape_of,
    size,
    static,
)
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call

DRAWN = "other numbers are drawn than elsewhere"


@lower("Constant")
def constant(
    site: Site,
    *,
    value: np.ndarray | None = None,
    value_float: float | None = None,
    value_floats: Any = None,
    value_int: int | None = None,
    value_ints: Any = None,
) -> Tensor:
    if value is not None:
        return site.constant(value)
    if value_int is not None or value_ints is not None:
        return site.constant(np.array(value_ints if value_int is None else value_int, np.int64))
    return site.constant(np.array(value_floats if value_float is None else value_float, np.float32))


@lower("ConstantOfShape")
def constant_of_shape(site: Site, shape: Tensor, *, value: np.ndarray | None = None) -> Tensor:
    filled = np.zeros(1, np.float32) if value is None else value
    if filled.size != 1:
        raise UnloweredError(f"{filled.size} values to fill with")
    return call("Fill", shape, filled.reshape(()))


@lower("Range")
def range_(site: Site, start: Tensor, limit: Tensor, delta: Tensor) -> Tensor:
    kind = start.dtype
    start, limit, delta = (reshape(x, []) for x in (start, limit, delta))
    if kind in (DType.INT16, DType.FLOAT16, DType.BFLOAT16):
        wide = DType.INT32 if kind is DType.INT16 else DType.FLOAT32
        return cast(call("Range", *(cast(x, wide) for x in (start, limit, delta))), kind)
    return call("Range", start, limit, delta)


@lower("EyeLike")
def eye_like(site: Site, x: Tensor, *, dtype: int | None = None, k: int = 0) -> Tensor:
    kind = x.dtype if dtype is None else told_type(dtype)
    rows, columns = (indices_up_to(site, size(x, axis)) for axis in (0, 1))
    away = call(
        "Sub", call("ExpandDims", columns, np.int32(0)), call("ExpandDims", rows, np.int32(1))
    )
    return cast(call("Equal", away, np.int32(k)), kind)


# -- windows ---------------------------------------------------------------------------------------


def _window(coefficients: tuple[float, ...]) -> Any:
    """A sum of cosines, of which each takes one more turn over the window."""

    def build(site: Site, length: Tensor, *, output_datatype: int = 1, periodic: int = 1) -> Tensor:
        kind = told_type(output_datatype)
        count = cast(length, DType.FLOAT64)
        count = call("Reshape", count, np.zeros(0, np.int32))
        places = call("Range", np.float64(0), count, np.float64(1))
        whole = count if periodic else call("Sub", count, np.float64(1))
        turn = call("Mul", call("RealDiv", places, whole), np.float64(2 * np.pi))
        total = call("ZerosLike", turn)
        for times, by in enumerate(coefficients):
            wave = call("Cos", call("Mul", turn, np.float64(times)))
            total = call("AddV2", total, call("Mul", wave, np.float64(by)))
        return cast(total, kind)

    return build


lower("HannWindow")(_window((0.5, -0.5)))
lower("HammingWindow")(_window((25 / 46, -21 / 46)))
lower("BlackmanWindow")(_window((0.42, -0.5, 0.08)))


@lower("MelWeightMatrix")
def mel_weight_matrix(
    site: Site,
    bins: Tensor,
    length: Tensor,
    rate: Tensor,
    lowest: Tensor,
    highest: Tensor,
    *,
    output_datatype: int = 1,
) -> Tensor:
    """[frequencies, bins]: triangles whose corners are equally far apart on the mel scale."""
    count = int(number(bins, "how many bins there are"))
    whole = int(number(length, "the length of the transform"))
    per_second = float(number(rate, "the sample rate"))
    ends = [float(number(one, "the bounds")) for one in (lowest, highest)]
    low, high = (2595 * np.log10(1 + one / 700) for one in ends)
    mels = low + np.arange(count + 2) * ((high - low) / (count + 2))
    hertz = 700 * (10 ** (mels / 2595) - 1)
    corners = ((whole + 1) * hertz // per_second).astype(np.int64)
    found = np.zeros((whole // 2 + 1, count))
    for i in range(count):
        left, centre, right = corners[i : i + 3]
        if centre == left:
            found[centre, i] = 1
        else:
            rising = np.arange(left, centre + 1)
            found[rising, i] = (rising - left) / (centre - left)
        if right > centre:
            falling = np.arange(centre, right)
            found[falling, i] = (right - falling) / (right - centre)
    return site.constant(found.astype(told_type(output_datatype).numpy))


# -- random numbers --------------------------------------------------------------------------------


def _seed(seed: float | None) -> dict[str, Any]:
    return {} if seed is None else {"seed": int(seed) or 1, "seed2": 1}


def _drawn(site: Site, type: str, shape: Any, dtype: DType, seed: float | None) -> Tensor:
    kind = dtype if dtype in (DType.FLOAT32, DType.FLOAT64) else DType.FLOAT32
    given = shape if isinstance(shape, Tensor) else site.constant(np.array(shape, np.int32))
    return cast(call(type, given, dtype=kind, **_seed(seed)), dtype)


def _scaled(x: Tensor, by: float, more: float) -> Tensor:
    kind = x.dtype.numpy
    return call("AddV2", call("Mul", x, np.array(by, kind)), np.array(more, kind))


@lower("RandomUniform", differs=DRAWN)
def random_uniform(
    site: Site,
    *,
    shape: Any,
    dtype: int = 1,
    low: float = 0.0,
    high: float = 1.0,
    seed: float | None = None,
) -> Tensor:
    drawn = _drawn(site, "RandomUniform", shape, told_type(dtype), seed)
    return _scaled(drawn, high - low, low)


@lower("RandomUniformLike", differs=DRAWN)
def random_uniform_like(
    site: Site,
    x: Tensor,
    *,
    dtype: int | None = None,
    low: float = 0.0,
    high: float = 1.0,
    seed: float | None = None,
) -> Tensor:
    kind = x.dtype if dtype is None else told_type(dtype)
    return _scaled(_drawn(site, "RandomUniform", shape_of(x), kind, seed), high - low, low)


@lower("RandomNormal", differs=DRAWN)
def random_normal(
    site: Site,
    *,
    shape: Any,
    dtype: int = 1,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
) -> Tensor:
    drawn = _drawn(site, "RandomStandardNormal", shape, told_type(dtype), seed)
    return _scaled(drawn, scale, mean)


@lower("RandomNormalLike", differs=DRAWN)
def random_normal_like(
    site: Site,
    x: Tensor,
    *,
    dtype: int | None = None,
    mean: float = 0.0,
    scale: float = 1.0,
    seed: float | None = None,
) -> Tensor:
    kind = x.dtype if dtype is None else told_type(dtype)
    return _scaled(_drawn(site, "RandomStandardNormal", shape_of(x), kind, seed), scale, mean)


@lower("Bernoulli", differs=DRAWN)
def bernoulli(
    site: Site, x: Tensor, *, dtype: int | None = None, seed: float | None = None
) -> Tensor:
    kind = x.dtype if dtype is None else told_type(dtype)
    drawn = _drawn(site, "RandomUniform", shape_of(x), x.dtype, seed)
    return cast(call("Less", drawn, x), kind)


@lower("Dropout", differs=DRAWN)
def dropout(
    site: Site,
    x: Tensor,
    share: Tensor | None = None,
    trains: Tensor | None = None,
    *,
    ratio: float = 0.5,
    seed: float | None = None,
    is_test: int = 1,
) -> list[Tensor]:
    """Nothing is dropped unless it is told that it trains."""
    training = trains is not None and bool(static(trains, "whether it trains").reshape(-1)[0])
    told = float(number(share, "the share")) if share is not None else float(ratio)
    ones = call("OnesLike", x)
    if not training or told == 0:
        return [call("Identity", x), cast(ones, DType.BOOL)]
    drawn = _drawn(site, "RandomUniform", shape_of(x), x.dtype, seed)
    kept = call("GreaterEqual", drawn, np.array(told, x.dtype.numpy))
    scaled = call("Mul", x, np.array(1 / (1 - told) if told < 1 else 0, x.dtype.numpy))
    return [call("SelectV2", kept, scaled, call("ZerosLike", x)), kept]
