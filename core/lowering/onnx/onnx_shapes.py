"""ONNX's operators that change shapes, and that tell them."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError, fixed
from gradstep.core.lowering.onnx.onnx_known import SizeOf, known, known_in_part
from gradstep.core.lowering.onnx.onnx_operands import (
    Size,
    add_axis,
    cast,
    dims,
    flattened,
    positive,
    rank,
    reshape,
    shape_of,
    size,
    squeeze,
    static_ints,
)
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.ops.build.builder import Tensor, call


@lower("Reshape")
def reshape_to(site: Site, x: Tensor, shape: Tensor, *, allowzero: int = 0) -> Tensor:
    """0 keeps a size, unless it is told to be 0."""
    told = known_in_part(shape)
    if told is None:
        return call("Reshape", x, shape if allowzero else _with_kept(x, shape))
    own = [(part == 0 and not allowzero) or part == (x.ref, i) for i, part in enumerate(told)]
    kept = [i for i, is_own in enumerate(own) if is_own]
    if -1 in told and x.shape.rank is not None:
        told[told.index(-1)] = _left(x, told, kept)
    return reshape(x, [_size(x, shape, i, i in kept, part) for i, part in enumerate(told)])


def _size(x: Tensor, shape: Tensor, place: int, is_kept: bool, told: int | SizeOf) -> Size:
    """One of those that are asked for."""
    if is_kept:
        return size(x, place)
    return told if isinstance(told, int) else cast(shape[place], DType.INT32)


def _left(x: Tensor, told: Sequence[int | SizeOf], kept: Sequence[int]) -> int:
    """The size that is told as -1, which follows from those that are not kept; still -1 where these
    may be any. So where a batch may be of any size the others are not."""
    rest = [length for axis, length in enumerate(x.shape) if axis not in kept]
    others = [part for i, part in enumerate(told) if i not in kept and part != -1]
    known_rest = [n for n in rest if n]
    known_others = [part for part in others if isinstance(part, int) and part]
    if len(known_rest) < len(rest) or len(known_others) < len(others):
        return -1
    whole, by = math.prod(known_rest), math.prod(known_others)
    return whole // by if whole % by == 0 else -1


def _with_kept(x: Tensor, shape: Tensor) -> Tensor:
    """A shape that is computed, its zeros the sizes of `x`."""
    count = next(iter(shape.shape)) if shape.shape.rank == 1 else None
    if count is None:
        raise UnloweredError("a shape of as many sizes as may be any")
    own = call("Shape", x, out_type=shape.dtype)
    behind = max(0, count - rank(x))
    own = call("Pad", own, np.array([[0, behind]], np.int32)) if behind else own[:count]
    return call("SelectV2", call("Equal", shape, np.zeros((), shape.dtype.numpy)), own, shape)


@lower("Flatten")
def flatten(site: Site, x: Tensor, *, axis: int = 1) -> Tensor:
    count = rank(x)
    return flattened(x, axis + count if axis < 0 else axis)


@lower("Transpose")
def transpose(site: Site, x: Tensor, *, perm: Sequence[int] | None = None) -> Tensor:
    order = range(rank(x))[::-1] if perm is None else [positive(p, rank(x)) for p in perm]
    return call("Transpose", x, np.array(order, np.int32))


@lower("Squeeze")
def squeezed(
    site: Site, x: Tensor, which: Tensor | None = None, *, axes: Sequence[int] | None = None
) -> Tensor:
    """The axes were an attribute before version 13."""
    told = axes if which is None else static_ints(which, "its axes")
    if told is not None:
        return squeeze(x, [positive(axis, rank(x)) for axis in told]) if told else x
    return squeeze(x, [axis for axis, length in enumerate(x.shape) if length == 1])


@lower("Unsqueeze")
def unsqueezed(
    site: Site, x: Tensor, which: Tensor | None = None, *, axes: Sequence[int] | None = None
) -> Tensor:
    told = axes if which is None else static_ints(which, "its axes")
    count = rank(x) + len(told or ())
    for axis in sorted(positive(a, count) for a in told or ()):
        x = add_axis(x, axis)
    return x


@lower("Expand")
def expand(site: Site, x: Tensor, shape: Tensor) -> Tensor:
    """To what both broadcast to."""
    value = known(shape)
    if value is not None and None not in tuple(x.shape):
        whole = np.broadcast_shapes(dims(x), tuple(int(n) for n in value.reshape(-1)))
        return call("BroadcastTo", x, np.array(whole, np.int32))
    told = cast(shape, DType.INT32)
    return call("BroadcastTo", x, call("BroadcastArgs", shape_of(x), told))


@lower("Tile")
def tile(site: Site, x: Tensor, repeats: Tensor) -> Tensor:
    return call("Tile", x, repeats)


@lower("Shape")
def shape(site: Site, x: Tensor, *, start: int = 0, end: int | None = None) -> Tensor:
    whole = call("Shape", x, out_type=DType.INT64)
    return whole if start == 0 and end is None else whole[start:end]


@lower("Size")
def size_of(site: Site, x: Tensor) -> Tensor:
    return call("Size", x, out_type=DType.INT64)


@lower("DepthToSpace")
def depth_to_space(site: Site, x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    rows, channels, height, width = (size(x, axis) for axis in range(4))
    if not isinstance(channels, int):
        raise UnloweredError("as many channels as may be any")
    deep = channels // blocksize**2
    inner: list[Size] = (
        [blocksize, blocksize, deep] if mode == "DCR" else [deep, blocksize, blocksize]
    )
    y = reshape(x, [rows, *inner, height, width])
    order = [0, 3, 4, 1, 5, 2] if mode == "DCR" else [0, 1, 4, 2, 5, 3]
    return _blocks(y, order, [rows, deep, height, width], blocksize)


def _blocks(y: Tensor, order: Sequence[int], parts: Sequence[Size], by: int) -> Tensor:
    turned = call("Transpose", y, np.array(order, np.int32))
    rows, deep, height, width = parts
    wide = [one * by if isinstance(one, int) else call("Mul", one, by) for one in (height, width)]
    return reshape(turned, [rows, deep, *wide])


@lower("SpaceToDepth")
def space_to_depth(site: Site, x: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    rows = size(x, 0)
    channels, height, width = fixed(tuple(x.shape)[1:])
    high, wide = height // blocksize, width // blocksize
    y = reshape(x, [rows, channels, high, blocksize, wide, blocksize])
    order = [0, 3, 5, 1, 2, 4] if mode == "DCR" else [0, 1, 3, 5, 2, 4]
    turned = call("Transpose", y, np.array(order, np.int32))
    return reshape(turned, [rows, channels * blocksize**2, high, wide])
