"""Normalizations of PyTorch: of the batch, of layers, groups and instances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.number_kinds import limits_of
from gradstep.core.lowering.aten.aten_table import lower
from gradstep.core.lowering.aten.aten_tensors import (
    along_axis,
    dims,
    ints,
    product,
    rank,
    reshape,
    scalar,
    size_at,
)
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call

_FUNCTIONAL = "_native_batch_norm_legit_functional"


@lower(
    _FUNCTIONAL,
    "native_batch_norm",
    "_native_batch_norm_legit",
    "batch_norm",
    "_native_batch_norm_legit_no_training",
    "cudnn_batch_norm",
    "_batch_norm_with_update_functional",
    ignores=("cudnn_enabled",),
)
def batch_norm(
    site: Site,
    input: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    eps: float,
    momentum: float,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    training: bool | None = None,
) -> list[Tensor]:
    """PyTorch's momentum is the share of the new; its running variance is unbiased, as the fused
    op's is, and that which it divides by is not."""
    channels = size_at(input, 1)
    trains = training if training is not None else "no_training" not in site.node.op
    scale = weight if weight is not None else _constant(site, input, channels, 1)
    offset = bias if bias is not None else _constant(site, input, channels, 0)
    given = [] if trains else [running_mean, running_var]
    if not trains and None in given:
        raise UnloweredError("batch norm without running averages")
    empty = site.constant(np.zeros(0, input.dtype.numpy))
    x = input if rank(input) == 4 else _as_image(input)
    y, mean, variance, *_ = site.builder.op(
        "FusedBatchNormV3",
        x,
        scale,
        offset,
        *(given or [empty, empty]),
        epsilon=float(eps),
        data_format="NCHW",
        is_training=bool(trains),
    )
    y = y if x is input else reshape(y, tuple(input.shape))
    outputs = len(site.node.outputs)
    if outputs == 1:
        return [y]
    if not trains:
        return [y, *(_nothing(site, i) for i in range(1, outputs))]
    return [y, *_statistics(site, input, mean, variance, eps, momentum, running_mean, running_var)]


def _constant(site: Site, like: Tensor, count: int, value: float) -> Tensor:
    return site.constant(np.full(count, value, like.dtype.numpy))


def _nothing(site: Site, output: int) -> Tensor:
    """What the batch's own statistics are where they are not asked for: empty."""
    if site.sizes(output) != (0,):
        return site.constant(site.recorded(output))
    return site.constant(np.zeros(0, site.dtype(output).numpy))


def _as_image(x: Tensor) -> Tensor:
    """[batch, channels, …] as [batch, channels, all, 1]."""
    return reshape(x, [next(iter(x.shape)), size_at(x, 1), product(dims(x)[2:]), 1])


def _statistics(
    site: Site,
    x: Tensor,
    mean: Tensor,
    variance: Tensor,
    eps: float,
    momentum: float,
    running_mean: Tensor | None,
    running_var: Tensor | None,
) -> list[Tensor]:
    """The batch's mean and inverse deviation; the running averages as they are from then on."""
    count = product(dims(x)) // size_at(x, 1)
    mean, variance = call("StopGradient", mean), call("StopGradient", variance)
    biased = call("Mul", variance, scalar(x, (count - 1) / count))
    inverse = call("Rsqrt", call("AddV2", biased, scalar(x, eps)))
    found = [mean, inverse]
    for running, new in ((running_mean, mean), (running_var, variance)):
        if running is not None and len(site.node.outputs) > 3:
            kept = call("Mul", running, scalar(x, 1 - momentum))
            found.append(call("AddV2", kept, call("Mul", new, scalar(x, momentum))))
    return found[: len(site.node.outputs) - 1]


def normalized(x: Tensor, axes: Sequence[int], eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """With mean 0 and variance 1 over these axes; the mean, and the inverse deviation."""
    mean = call("Mean", x, ints(axes), keep_dims=True)
    variance = call("Mean", call("SquaredDifference", x, mean), ints(axes), keep_dims=True)
    inverse = call("Rsqrt", call("AddV2", variance, scalar(x, eps)))
    return call("Mul", call("Sub", x, mean), inverse), mean, inverse


def scaled(y: Tensor, weight: Tensor | None, bias: Tensor | None) -> Tensor:
    y = y if weight is None else call("Mul", y, weight)
    return y if bias is None else call("AddV2", y, bias)


@lower("layer_norm", "native_layer_norm", ignores=("cudnn_enable",))
def layer_norm(
    site: Site,
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> list[Tensor]:
    axes = list(range(rank(input) - len(normalized_shape), rank(input)))
    y, mean, inverse = normalized(input, axes, eps)
    return [scaled(y, weight, bias), mean, inverse][: len(site.node.outputs)]


@lower("rms_norm", "_fused_rms_norm")
def rms_norm(
    site: Site,
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    eps: float | None = None,
) -> list[Tensor]:
    small = float(limits_of(input.dtype.numpy).eps) if eps is None else eps
    axes = list(range(rank(input) - len(normalized_shape), rank(input)))
    squares = call("Mean", call("Square", input), ints(axes), keep_dims=True)
    inverse = call("Rsqrt", call("AddV2", squares, scalar(input, small)))
    y = scaled(call("Mul", input, inverse), weight, None)
    return [y, inverse][: len(site.node.outputs)]


@lower("group_norm", ignores=("cudnn_enabled",))
def group_norm(
    site: Site,
    input: Tensor,
    num_groups: int,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    return _by_group(input, num_groups, weight, bias, eps)[0]


@lower("native_group_norm", ignores=("N", "C", "HxW"))
def native_group_norm(
    site: Site, input: Tensor, weight: Tensor | None, bias: Tensor | None, group: int, eps: float
) -> list[Tensor]:
    y, mean, inverse = _by_group(input, group, weight, bias, eps)
    return [y, reshape(mean, site.shape(1)), reshape(inverse, site.shape(2))]


def _by_group(
    x: Tensor, groups: int, weight: Tensor | None, bias: Tensor | None, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    rows, count = next(iter(x.shape)), rank(x)
    grouped = reshape(x, [rows, groups, product(dims(x)[1:]) // groups])
    y, mean, inverse = normalized(grouped, [2], eps)
    return _by_channel(reshape(y, tuple(x.shape)), weight, bias, count), mean, inverse


def _by_channel(y: Tensor, weight: Tensor | None, bias: Tensor | None, count: int) -> Tensor:
    wide = [None if v is None else along_axis(v, 1, count) for v in (weight, bias)]
    return scaled(y, *wide)


@lower("instance_norm", ignores=("momentum", "cudnn_enabled"))
def instance_norm(
    site: Site,
    input: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    use_input_stats: bool = True,
    eps: float = 1e-5,
) -> Tensor:
    if not use_input_stats or running_mean is not None:
        raise UnloweredError("instance norm with running averages")
    y, *_ = normalized(input, list(range(2, rank(input))), eps)
    return _by_channel(y, weight, bias, rank(input))


@lower("_weight_norm", "_weight_norm_interface")
def weight_norm(site: Site, v: Tensor, g: Tensor, dim: int = 0) -> list[Tensor]:
    """A direction times a length for each place along one axis, or one for all of it."""
    length = _length_but(v, dim)
    scaled_ = call("Mul", v, call("RealDiv", g, length))
    return [scaled_, length][: len(site.node.outputs)]


@lower("norm_except_dim")
def norm_except_dim(site: Site, v: Tensor, pow: int = 2, dim: int = 0) -> Tensor:
    if pow != 2:
        raise UnloweredError(f"a norm of order {pow}")
    return _length_but(v, dim)


def _length_but(v: Tensor, dim: int) -> Tensor:
    """The root of the sum of squares over all axes but one; over all for -1."""
    count = rank(v)
    axes = [axis for axis in range(count) if dim == -1 or axis != dim % count]
    return call("Sqrt", call("Sum", call("Square", v), ints(axes), keep_dims=dim != -1))
