"""Normalizations of ONNX: of the batch, of layers, groups, instances and neighbours."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError, element_type
from gradstep.core.lowering.onnx.onnx_operands import (
    along_axis,
    cast,
    in_float32,
    ints,
    positive,
    product,
    rank,
    reshape,
    scalar,
    size,
    sizes,
)
from gradstep.core.lowering.onnx.onnx_pooling import norm
from gradstep.core.lowering.onnx.onnx_table import lower, version, wanted
from gradstep.core.ops.build.builder import Tensor, call

_TYPES = {1: "float32", 10: "float16", 11: "float64", 16: "bfloat16"}


@lower("BatchNormalization", ignores=("spatial", "consumed_inputs", "is_test"))
@in_float32
def batch_normalization(
    site: Site,
    x: Tensor,
    scale: Tensor,
    offset: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: int = 0,
) -> list[Tensor]:
    """Its momentum is the share of the old; both variances are that of the population."""
    scale, offset = (cast(one, x.dtype) for one in (scale, offset))
    if not training_mode and version(site) < 14 and wanted(site) > 1:
        raise UnloweredError("batch normalization in training, of before version 14")
    if training_mode:
        axes = [axis for axis in range(rank(x)) if axis != 1]
        y, now, spread = _normalized(x, axes, epsilon)
        y = _by_channel(y, scale, offset)
        kept = [
            call("AddV2", call("Mul", old, scalar(old, momentum)),
                 call("Mul", cast(reshape(new, [size(old, 0)]), old.dtype),
                      scalar(old, 1 - momentum)))
            for old, new in ((mean, now), (variance, spread))
        ]  # fmt: skip
        return [y, *kept]
    mean, variance = cast(mean, x.dtype), cast(variance, x.dtype)
    if rank(x) == 4 and x.dtype is DType.FLOAT32:
        return [_fused(x, scale, offset, mean, variance, epsilon)]
    inverse = _inverse(variance, epsilon)
    y = call("Sub", x, along_axis(mean, 1, rank(x)))
    return [_by_channel(y, call("Mul", scale, inverse), offset)]


def _fused(
    x: Tensor, scale: Tensor, offset: Tensor, mean: Tensor, variance: Tensor, epsilon: float
) -> Tensor:
    y, *_ = x.builder.op(
        "FusedBatchNormV3",
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=float(epsilon),
        data_format="NCHW",
        is_training=False,
    )
    return y


def _normalized(x: Tensor, axes: Sequence[int], epsilon: float) -> tuple[Tensor, Tensor, Tensor]:
    """With mean 0 and variance 1 over these axes; the mean, and the variance."""
    mean, variance = _moments(x, axes)
    return call("Mul", call("Sub", x, mean), _inverse(variance, epsilon)), mean, variance


def _moments(x: Tensor, axes: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Mean and variance over these axes, which stay."""
    mean = call("Mean", x, ints(axes), keep_dims=True)
    return mean, call("Mean", call("SquaredDifference", x, mean), ints(axes), keep_dims=True)


def _inverse(variance: Tensor, epsilon: float) -> Tensor:
    """Of the deviation."""
    return call("Rsqrt", call("AddV2", variance, scalar(variance, epsilon)))


def _by_channel(y: Tensor, scale: Tensor, offset: Tensor | None) -> Tensor:
    y = call("Mul", y, along_axis(scale, 1, rank(y)))
    return y if offset is None else call("AddV2", y, along_axis(offset, 1, rank(y)))


@lower("InstanceNormalization")
@in_float32
def instance_normalization(
    site: Site, x: Tensor, scale: Tensor, offset: Tensor, *, epsilon: float = 1e-5
) -> Tensor:
    y, *_ = _normalized(x, range(2, rank(x)), epsilon)
    return _by_channel(y, scale, offset)


@lower("GroupNormalization")
@in_float32
def group_normalization(
    site: Site,
    x: Tensor,
    scale: Tensor,
    offset: Tensor,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Tensor:
    """Before version 21 there was a scale for each group, and not for each channel."""
    all_sizes = sizes(x)
    each = product(all_sizes[1:])
    if not isinstance(each, int):
        raise UnloweredError("groups of sizes that may be any")
    grouped = reshape(x, [all_sizes[0], num_groups, each // num_groups])
    y, *_ = _normalized(grouped, [2], epsilon)
    if version(site) < 21:
        y = _by_channel(y, scale, offset)
        return reshape(y, all_sizes)
    return _by_channel(reshape(y, all_sizes), scale, offset)


@lower("LayerNormalization")
def layer_normalization(
    site: Site,
    x: Tensor,
    scale: Tensor,
    offset: Tensor | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> list[Tensor]:
    axes = range(positive(axis, rank(x)), rank(x))
    wide = _stashed(x, stash_type)
    mean, variance = _moments(wide, axes)
    inverse = _inverse(variance, epsilon)
    y = cast(call("Mul", call("Sub", wide, mean), inverse), x.dtype)
    y = call("Mul", y, scale)
    y = y if offset is None else call("AddV2", y, offset)
    return [y, mean, inverse]


@lower("RMSNormalization")
def rms_normalization(
    site: Site,
    x: Tensor,
    scale: Tensor,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Tensor:
    axes = range(positive(axis, rank(x)), rank(x))
    wide = _stashed(x, stash_type)
    squares = call("Mean", call("Square", wide), ints(axes), keep_dims=True)
    inverse = _inverse(squares, epsilon)
    return call("Mul", cast(call("Mul", wide, inverse), scale.dtype), scale)


def _stashed(x: Tensor, stash_type: int) -> Tensor:
    """In the element type in which it is told to add up."""
    if stash_type not in _TYPES:
        raise UnloweredError(f"sums in element type {stash_type}")
    return cast(x, element_type(_TYPES[stash_type]))


@lower("MeanVarianceNormalization")
@in_float32
def mean_variance_normalization(
    site: Site, x: Tensor, *, axes: Sequence[int] = (0, 2, 3)
) -> Tensor:
    """What divides is the deviation and a little more."""
    mean, variance = _moments(x, axes)
    deviation = call("AddV2", call("Sqrt", variance), scalar(x, 1e-9))
    return call("RealDiv", call("Sub", x, mean), deviation)


@lower("LpNormalization")
@in_float32
def lp_normalization(site: Site, x: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    """Where all are 0, so is what comes out."""
    return call("DivNoNan", x, norm(x, p, [positive(axis, rank(x))]))


@lower("LRN")
@in_float32
def lrn(
    site: Site,
    x: Tensor,
    *,
    size: int,
    alpha: float = 1e-4,
    beta: float = 0.75,
    bias: float = 1.0,
) -> Tensor:
    """Over neighbouring channels: one more behind than before for an even size."""
    before, behind = (size - 1) // 2, size - 1 - (size - 1) // 2
    around = np.zeros((rank(x), 2), np.int32)
    around[1] = before, behind
    squares = call("Pad", call("Square", x), around)
    channels = sizes(x)[1]
    if not isinstance(channels, int):
        raise UnloweredError("neighbours of as many channels as may be any")
    places = np.arange(channels)[:, None] + np.arange(size)
    total = call("Sum", call("GatherV2", squares, places.astype(np.int32), np.int32(1)), ints([2]))
    inner = call("AddV2", call("Mul", total, scalar(x, alpha / size)), scalar(x, bias))
    return call("RealDiv", x, call("Pow", inner, scalar(x, beta)))
