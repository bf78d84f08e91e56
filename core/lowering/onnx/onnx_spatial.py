"""ONNX's sampling at computed places, grids of such places, and blocks put back together."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gradstep.core.lowering.lowering_table import Site
from gradstep.core.lowering.onnx.onnx_operands import (
    fixed_size,
    fixed_sizes,
    in_float32,
    reshape,
    size,
    sizes,
    static_ints,
    transpose,
)
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.lowering.sampled_places import base_places, line, sampled
from gradstep.core.ops.build.builder import Tensor, call

_MODES = {"bilinear": "linear", "bicubic": "cubic"}  # as they were called before version 20


@lower("GridSample")
@in_float32
def grid_sample(
    site: Site,
    x: Tensor,
    grid: Tensor,
    *,
    align_corners: int = 0,
    mode: str = "linear",
    padding_mode: str = "zeros",
) -> Tensor:
    """x: [batch, channels, …]; the last axis of the grid has places from -1 to 1, the last axis of
    an image first. What comes out is a weighted sum of neighbours, to which a gradient goes as it
    does to the places."""
    lengths = fixed_sizes(x, 2)
    pixels = transpose(reshape(x, [*sizes(x)[:2], math.prod(lengths)]), [0, 2, 1])
    kind = _MODES.get(mode, mode)
    return sampled(pixels, grid, lengths, kind, padding_mode, bool(align_corners))


@lower("AffineGrid")
@in_float32
def affine_grid(site: Site, theta: Tensor, shape: Tensor, *, align_corners: int = 0) -> Tensor:
    """Places of an image from -1 to 1, moved by a matrix for each of the batch."""
    lengths = static_ints(shape, "the size of the image")[2:]
    base = base_places([line(length, bool(align_corners)) for length in lengths])
    base = base.astype(theta.dtype.numpy)
    found = call("BatchMatMulV2", theta.builder.constant(base[None]), theta, adj_y=True)
    return reshape(found, [size(theta, 0), *lengths, len(lengths)])


@lower("Col2Im")
def col2im(
    site: Site,
    x: Tensor,
    image_shape: Tensor,
    block_shape: Tensor,
    *,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    strides: Sequence[int] | None = None,
) -> Tensor:
    """[batch, channels x places in a block, blocks]; what overlaps is added up."""
    image = static_ints(image_shape, "the size of the image")
    block = static_ints(block_shape, "the size of a block")
    count = len(image)
    gaps, steps = dilations or [1] * count, strides or [1] * count
    around = pads or [0] * (2 * count)
    whole = [n + around[i] + around[count + i] for i, n in enumerate(image)]
    places = np.zeros((), np.int64)
    for axis in range(count):
        blocks = (whole[axis] - (block[axis] - 1) * gaps[axis] - 1) // steps[axis] + 1
        own = np.arange(block[axis])[:, None] * gaps[axis] + np.arange(blocks) * steps[axis]
        shape = [1] * (2 * count)
        shape[axis], shape[count + axis] = own.shape
        places = places + own.reshape(shape) * math.prod(whole[axis + 1 :])
    rows, channels = size(x, 0), fixed_size(x, 1) // math.prod(block)
    flat = transpose(reshape(x, [rows, channels, places.size]), [2, 0, 1])
    total = call(
        "UnsortedSegmentSum",
        flat,
        places.reshape(-1).astype(np.int32),
        np.int32(math.prod(whole)),
    )
    found = reshape(transpose(total, [1, 2, 0]), [rows, channels, *whole])
    inner = tuple(slice(around[i], around[i] + n) for i, n in enumerate(image))
    return found[(slice(None), slice(None), *inner)]
