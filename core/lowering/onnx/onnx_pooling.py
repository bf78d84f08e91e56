"""Pooling of ONNX."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_operands import (
    add_axis,
    apply,
    cast,
    fixed_size,
    fixed_sizes,
    in_float32,
    indices_up_to,
    ints,
    product,
    rank,
    reshape,
    scalar,
    sizes,
    squeeze,
    static_ints,
)
from gradstep.core.lowering.onnx.onnx_table import lower, wanted
from gradstep.core.lowering.onnx.onnx_windows import Windows, windows_of
from gradstep.core.ops.build.builder import Tensor, call


@lower("MaxPool")
def max_pool(
    site: Site,
    x: Tensor,
    *,
    kernel_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    storage_order: int = 0,
) -> list[Tensor]:
    windows = windows_of(x, kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    plain = windows.count <= 2 and {*windows.gaps} == {1} and x.dtype.is_floating
    if plain and wanted(site) == 1:
        return [_largest(x, windows)]
    return _largest_and_where(site, x, windows, storage_order)


def _largest(x: Tensor, windows: Windows) -> Tensor:
    if windows.count == 1:
        return squeeze(_largest(add_axis(x, 2), windows.flat()), [2])
    return call(
        "MaxPool",
        x,
        ksize=(1, 1, *windows.sizes),
        strides=(1, 1, *windows.steps),
        padding="EXPLICIT",
        explicit_paddings=windows.explicit,
        data_format="NCHW",
    )


def _largest_and_where(site: Site, x: Tensor, windows: Windows, order: int) -> list[Tensor]:
    """Each window's places as an axis; the second output, where it is asked for, counts through the
    whole tensor."""
    least = -math.inf if x.dtype.is_floating else np.iinfo(x.dtype.numpy).min
    unfolded = _unfolded(x, windows, scalar(x, least))
    found = [apply("Max", unfolded, ints([rank(x)]))]
    return found if wanted(site) == 1 else [*found, _where(site, x, unfolded, windows, order)]


def _where(site: Site, x: Tensor, unfolded: Tensor, windows: Windows, order: int) -> Tensor:
    """Which element of the whole tensor is the first largest one of each window."""
    first = call("ArgMax", unfolded, np.int32(rank(x)), output_type=DType.INT32)
    places = _places(x, windows, order)
    lengths = places.shape[:-1]
    depth = np.int32(places.shape[-1])
    one = call("OneHot", first, depth, np.int64(1), np.int64(0), axis=-1)
    inside = call("Sum", call("Mul", one, places), ints([rank(x)]))
    count = math.prod(fixed_sizes(x, 2))
    rows = sizes(x)[:2]
    planes = reshape(indices_up_to(site, product(rows)), [*rows, *[1] * len(lengths)])
    before = call("Mul", cast(planes, DType.INT64), np.int64(count))
    return call("AddV2", inside, before)


def _unfolded(x: Tensor, windows: Windows, padding: np.ndarray) -> Tensor:
    """[batch, channels, windows…, places in a window]."""
    around = np.array([(0, 0), (0, 0), *windows.pads], np.int32)
    y = call("PadV2", x, around, padding) if windows.is_padded else x
    for axis in range(windows.count):
        places = windows.places(axis, fixed_size(y, 2 + 2 * axis))
        y = call("GatherV2", y, places.astype(np.int32), np.int32(2 + 2 * axis))
    count = windows.count
    order = [0, 1, *(2 + 2 * i for i in range(count)), *(3 + 2 * i for i in range(count))]
    turned = y if count == 1 else call("Transpose", y, ints(order))
    return reshape(turned, [*sizes(turned)[: 2 + count], math.prod(windows.sizes)])


def _places(x: Tensor, windows: Windows, order: int) -> np.ndarray:
    """[windows…, places]: where in a plane each is; order: 1 where columns come first."""
    lengths = fixed_sizes(x, 2)
    axes = []
    for axis, length in enumerate(lengths):
        before, after = windows.pads[axis]
        axes.append(windows.places(axis, length + before + after) - before)
    count, total = len(lengths), np.zeros((), np.int64)
    for axis, found in enumerate(axes):
        behind = lengths[:axis] if order else lengths[axis + 1 :]
        shape = [1] * (2 * count)
        shape[axis], shape[count + axis] = found.shape
        total = total + found.reshape(shape) * math.prod(behind)
    return total.reshape(*total.shape[:count], -1).astype(np.int64)


@lower("AveragePool")
@in_float32
def average_pool(
    site: Site,
    x: Tensor,
    *,
    kernel_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
    count_include_pad: int = 0,
) -> Tensor:
    told = windows_of(x, kernel_shape, strides, dilations, pads, auto_pad)
    windows = windows_of(x, kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    if windows.count == 2 and {*windows.gaps} == {1} and not windows.is_padded:
        return call(
            "AvgPool",
            x,
            ksize=(1, 1, *windows.sizes),
            strides=(1, 1, *windows.steps),
            padding="VALID",
            data_format="NCHW",
        )
    total = call("Sum", _unfolded(x, windows, scalar(x, 0)), ints([rank(x)]))
    counted = _counts(fixed_sizes(x, 2), windows, told, bool(count_include_pad))
    return call("RealDiv", total, counted.astype(x.dtype.numpy)[None, None])


def _counts(
    lengths: Sequence[int], windows: Windows, told: Windows, counts_pads: bool
) -> np.ndarray:
    """How many elements count in each window: what hangs over at the end never does."""
    total = np.ones((), np.int64)
    for axis, length in enumerate(lengths):
        before, after = told.pads[axis]
        line = np.full(length + before + after, int(counts_pads))
        line[before : before + length] = 1
        line = np.pad(line, (0, windows.pads[axis][1] - after))
        total = np.multiply.outer(total, line[windows.places(axis, len(line))].sum(1))
    return np.maximum(total, 1)


@lower("LpPool")
@in_float32
def lp_pool(
    site: Site,
    x: Tensor,
    *,
    kernel_shape: Sequence[int],
    p: int = 2,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    ceil_mode: int = 0,
) -> Tensor:
    windows = windows_of(x, kernel_shape, strides, dilations, pads, auto_pad, ceil_mode)
    return norm(_unfolded(x, windows, scalar(x, 0)), p, [rank(x)], keeps=False)


def norm(x: Tensor, p: int, axes: Sequence[int], keeps: bool = True) -> Tensor:
    """The p-norm over axes."""
    if p == 2:
        return call("EuclideanNorm", x, ints(axes), keep_dims=keeps)
    total = call("Pow", call("Abs", x), scalar(x, p)) if p != 1 else call("Abs", x)
    total = call("Sum", total, ints(axes), keep_dims=keeps)
    return total if p == 1 else call("Pow", total, scalar(x, 1 / p))


@lower("GlobalAveragePool")
@in_float32
def global_average_pool(site: Site, x: Tensor) -> Tensor:
    return call("Mean", x, ints(range(2, rank(x))), keep_dims=True)


@lower("GlobalMaxPool")
def global_max_pool(site: Site, x: Tensor) -> Tensor:
    return call("Max", x, ints(range(2, rank(x))), keep_dims=True)


@lower("GlobalLpPool")
@in_float32
def global_lp_pool(site: Site, x: Tensor, *, p: int = 2) -> Tensor:
    return norm(x, p, range(2, rank(x)))


@lower("MaxUnpool")
def max_unpool(
    site: Site,
    x: Tensor,
    indices: Tensor,
    output_shape: Tensor | None = None,
    *,
    kernel_shape: Sequence[int],
    strides: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
) -> Tensor:
    """The indices are those in a tensor without padding; one of another shape has more at the
    ends."""
    steps, around = strides or [1] * len(kernel_shape), pads or [0] * (2 * len(kernel_shape))
    count = len(kernel_shape)
    own = [
        (n - 1) * steps[i] + kernel_shape[i] - around[i] - around[count + i]
        for i, n in enumerate(fixed_sizes(x, 2))
    ]
    shape = [*sizes(x)[:2], *own]
    flat = call(
        "ScatterNd",
        add_axis(reshape(indices, [-1]), 1),
        reshape(x, [-1]),
        np.array([math.prod(shape)], np.int64),
    )
    y = reshape(flat, shape)
    if output_shape is None:
        return y
    told = static_ints(output_shape, "the shape")
    behind = [(0, b - a) for a, b in zip(shape, told, strict=True)]
    if min(more for _, more in behind) < 0:
        raise UnloweredError("an output that is smaller than what it holds")
    return call("Pad", y, np.array(behind, np.int32))
