"""PyTorch's sampling of images at computed places, and grids of such places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.lowering.aten.aten_table import lower
from gradstep.core.lowering.aten.aten_tensors import product, reshape, scalar, transpose
from gradstep.core.lowering.lowering_table import Site, UnloweredError, fixed
from gradstep.core.lowering.sampled_places import PADDINGS, base_places, line, sampled
from gradstep.core.ops.build.builder import Tensor, call

_MODES = ("linear", "nearest", "cubic")


@lower("grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "cudnn_grid_sampler")
def grid_sampler(
    site: Site,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int = 0,
    padding_mode: int = 0,
    align_corners: bool = True,
) -> Tensor:
    """[batch, channels, …] at places from -1 to 1. But for cubic weights, a place beyond the border
    is brought back first, and there nothing comes back to it."""
    mode, padding = _MODES[interpolation_mode], PADDINGS[padding_mode]
    lengths = fixed(tuple(input.shape)[2:])
    flat = reshape(input, [*tuple(input.shape)[:2], product(lengths)])

    def settle(place: Tensor, length: int) -> Tensor:
        if mode == "cubic" or padding == "zeros":
            return place
        if padding == "reflection":
            place = _reflected(place, length, align_corners)
        return _clipped(place, length)

    pixels = transpose(flat, [0, 2, 1])
    return sampled(pixels, grid, lengths, mode, padding, bool(align_corners), settle)


def _clipped(place: Tensor, length: int) -> Tensor:
    low, high = scalar(place, 0), scalar(place, length - 1)
    inside = call("LogicalAnd", call("Greater", place, low), call("Less", place, high))
    bounded = call("StopGradient", call("Minimum", call("Maximum", place, low), high))
    return call("SelectV2", inside, place, bounded)


def _reflected(place: Tensor, length: int, corners: bool) -> Tensor:
    """At the centres of the outermost pixels, or at their edges."""
    low, span = (0.0, length - 1) if corners else (-0.5, length)
    if not span:
        return call("StopGradient", call("Mul", place, scalar(place, 0)))
    away = call("Abs", call("Sub", place, scalar(place, low)))
    wave = call("FloorMod", away, scalar(place, 2 * span))
    back = call("Sub", scalar(place, 2 * span), wave)
    turned = call("SelectV2", call("Less", wave, scalar(place, span)), wave, back)
    return call("AddV2", turned, scalar(place, low))


@lower("affine_grid_generator")
def affine_grid(site: Site, theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """The places of an image, moved by a matrix for each of the batch."""
    if any(isinstance(one, Tensor) for one in size[2:]):
        raise UnloweredError("a grid of a computed size")
    lengths = [int(one) for one in size[2:]]
    lines = [np.zeros(1) if n == 1 else line(n, bool(align_corners)) for n in lengths]
    base = base_places(lines).astype(theta.dtype.numpy)
    found = call("BatchMatMulV2", site.constant(base[None]), theta, adj_y=True)
    return reshape(found, [next(iter(theta.shape)), *lengths, len(lengths)])
