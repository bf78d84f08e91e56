"""ONNX's sampling at computed places, grids of such places, and blocks put back together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_operands import (
    add_axis,
    cast,
    fixed_size,
    fixed_sizes,
    in_float32,
    rank,
    reshape,
    scalar,
    size,
    sizes,
    static_ints,
    transpose,
)
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call

_CUBIC = -0.75
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
    lengths, corners = fixed_sizes(x, 2), bool(align_corners)
    places = [
        _place(grid[..., len(lengths) - 1 - axis], length, corners)
        for axis, length in enumerate(lengths)
    ]
    kind = _MODES.get(mode, mode)
    taps = [_taps(place, kind) for place in places]
    pixels = transpose(reshape(x, [*sizes(x)[:2], math.prod(lengths)]), [0, 2, 1])
    total: Tensor | None = None
    for chosen in itertools.product(*taps):
        value = _weighed(pixels, chosen, lengths, padding_mode, corners)
        total = value if total is None else call("AddV2", total, value)
    if total is None:
        raise UnloweredError(f"sampling by {mode!r:.40}")
    last = rank(total) - 1
    return transpose(total, [0, last, *range(1, last)])


def _place(g: Tensor, length: int, corners: bool) -> Tensor:
    """A place from -1 to 1 as one from 0 to the last element, or a half beyond either."""
    up = call("AddV2", g, scalar(g, 1))
    if corners:
        return call("Mul", up, scalar(g, (length - 1) / 2))
    return call("Sub", call("Mul", up, scalar(g, length / 2)), scalar(g, 0.5))


def _taps(place: Tensor, mode: str) -> list[tuple[Tensor, Tensor | None]]:
    """The neighbours of a place, and how much of each; None for all of it."""
    if mode == "nearest":
        return [(call("StopGradient", call("Round", place)), None)]
    low = call("StopGradient", call("Floor", place))
    part = call("Sub", place, low)
    one = scalar(place, 1)
    if mode == "linear":
        return [(low, call("Sub", one, part)), (call("AddV2", low, one), part)]
    if mode != "cubic":
        return []
    offsets = [-1, 0, 1, 2]
    return [
        (call("AddV2", low, scalar(low, n)), _cubic(call("Sub", part, scalar(part, n)), n))
        for n in offsets
    ]


def _cubic(away: Tensor, offset: int) -> Tensor:
    """How much a neighbour counts: those beside the place, or those one farther."""
    x = call("Abs", away)
    near = offset in (0, 1)
    a = _CUBIC
    powers = (a + 2, -(a + 3), 0.0, 1.0) if near else (a, -5 * a, 8 * a, -4 * a)
    found = call("AddV2", call("Mul", x, scalar(x, powers[0])), scalar(x, powers[1]))
    for factor in powers[2:]:
        found = call("AddV2", call("Mul", found, x), scalar(x, factor))
    return found


def _weighed(
    pixels: Tensor,
    chosen: Sequence[tuple[Tensor, Tensor | None]],
    lengths: Sequence[int],
    padding: str,
    corners: bool,
) -> Tensor:
    """One neighbour of each place, [batch, …, channels], times how much of it there is."""
    flat: Tensor | None = None
    weight: Tensor | None = None
    for axis, ((index, share), length) in enumerate(zip(chosen, lengths, strict=True)):
        inside, there = _inside(index, length, padding, corners)
        step = call("Mul", inside, np.int32(math.prod(lengths[axis + 1 :])))
        flat = step if flat is None else call("AddV2", flat, step)
        for factor in (share, there):
            if factor is not None:
                weight = factor if weight is None else call("Mul", weight, factor)
    assert flat is not None
    found = call("GatherV2", pixels, flat, np.int32(1), batch_dims=1)
    if weight is None:
        return found
    return call("Mul", found, add_axis(weight, rank(weight)))


def _inside(
    index: Tensor, length: int, padding: str, corners: bool
) -> tuple[Tensor, Tensor | None]:
    """An index that there is, int32, and 0 where it is taken for zeros."""
    zero, last = scalar(index, 0), scalar(index, length - 1)
    if padding == "reflection":
        around = 2 * (length - 1) if corners else 2 * length
        wave = call("FloorMod", index, scalar(index, max(around, 1)))
        back = scalar(index, around if corners else around - 1)
        index = call("Minimum", wave, call("Sub", back, wave))
    elif padding not in ("zeros", "border"):
        raise UnloweredError(f"padding by {padding!r:.40}")
    kept = call("Minimum", call("Maximum", index, zero), last)
    there = cast(call("Equal", kept, index), index.dtype) if padding == "zeros" else None
    return cast(kept, DType.INT32), there


@lower("AffineGrid")
@in_float32
def affine_grid(site: Site, theta: Tensor, shape: Tensor, *, align_corners: int = 0) -> Tensor:
    """Places of an image from -1 to 1, moved by a matrix for each of the batch."""
    lengths = static_ints(shape, "the size of the image")[2:]
    lines = [_line(length, bool(align_corners)) for length in lengths]
    mesh = np.meshgrid(*lines, indexing="ij")
    columns = [one.reshape(-1) for one in mesh[::-1]]
    base = np.stack([*columns, np.ones_like(columns[0])], -1).astype(theta.dtype.numpy)
    found = call("BatchMatMulV2", theta.builder.constant(base[None]), theta, adj_y=True)
    return reshape(found, [size(theta, 0), *lengths, len(lengths)])


def _line(length: int, corners: bool) -> np.ndarray:
    if corners:
        return np.linspace(-1, 1, length)
    return (2 * np.arange(length) + 1) / length - 1


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
