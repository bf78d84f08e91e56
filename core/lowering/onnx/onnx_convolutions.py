"""Convolutions of ONNX: weights stay [out, in, …], and are turned where they are read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_operands import (
    add_axis,
    along_axis,
    cast,
    concat,
    ensured,
    fixed_size,
    fixed_sizes,
    in_float32,
    part,
    rank,
    shape_tensor,
    size,
    squeeze,
    transpose,
)
from gradstep.core.lowering.onnx.onnx_products import quantized
from gradstep.core.lowering.onnx.onnx_table import lower
from gradstep.core.lowering.onnx.onnx_windows import Windows, windows_of
from gradstep.core.ops.build.builder import Tensor, call


@lower("Conv", ignores=("kernel_shape",))
@in_float32
def conv(
    site: Site,
    x: Tensor,
    w: Tensor,
    b: Tensor | None = None,
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    group: int = 1,
) -> Tensor:
    """Groups follow from the shapes."""
    windows = windows_of(x, fixed_sizes(w, 2), strides, dilations, pads, auto_pad)
    return _with_bias(_forward(x, w, windows), b)


def plain_convolution(x: Tensor, w: Tensor) -> Tensor:
    """Without strides, gaps and padding."""
    return _forward(x, w, windows_of(x, fixed_sizes(w, 2), None, None, None, "VALID"))


def _forward(x: Tensor, w: Tensor, windows: Windows) -> Tensor:
    if windows.count == 3:
        return _of_volumes(x, w, windows)
    if windows.count == 1:
        flat = _forward(add_axis(x, 2), add_axis(w, 2), windows.flat())
        return squeeze(flat, [2])
    if windows.count != 2:
        raise UnloweredError(f"a convolution over {windows.count} axes")
    return call(
        "Conv2D",
        x,
        transpose(w, [2, 3, 1, 0]),
        strides=(1, 1, *windows.steps),
        padding="EXPLICIT",
        explicit_paddings=windows.explicit,
        dilations=(1, 1, *windows.gaps),
        data_format="NCHW",
    )


def _of_volumes(x: Tensor, w: Tensor, windows: Windows) -> Tensor:
    """Padding is an operation of its own: the one for volumes has none that is told."""
    around = np.array([(0, 0), (0, 0), *windows.pads], np.int32)
    return call(
        "Conv3D",
        call("Pad", x, around) if windows.is_padded else x,
        transpose(w, [2, 3, 4, 1, 0]),
        strides=(1, 1, *windows.steps),
        padding="VALID",
        dilations=(1, 1, *windows.gaps),
        data_format="NCDHW",
    )


def _with_bias(y: Tensor, b: Tensor | None) -> Tensor:
    if b is None:
        return y
    if rank(y) == 4:
        return call("BiasAdd", y, b, data_format="NCHW")
    return call("AddV2", y, along_axis(b, 1, rank(y)))


# -- transposed ------------------------------------------------------------------------------------


@lower("ConvTranspose", ignores=("kernel_shape",))
@in_float32
def conv_transpose(
    site: Site,
    x: Tensor,
    w: Tensor,
    b: Tensor | None = None,
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    output_padding: Sequence[int] | None = None,
    output_shape: Sequence[int] | None = None,
    group: int = 1,
) -> Tensor:
    """The gradient of a convolution: of one whose output is this one's input."""
    told = windows_of(x, fixed_sizes(w, 2), strides, dilations, pads, "NOTSET")
    extra = [*(output_padding or [0] * told.count)]
    lengths = fixed_sizes(x, 2)
    whole = [
        (length - 1) * step + span + more
        for length, step, span, more in zip(lengths, told.steps, told.spans, extra, strict=True)
    ]
    around = _around(told, whole, lengths, auto_pad, output_shape)
    ends = [w - sum(pair) for w, pair in zip(whole, around, strict=True)]
    groups = [
        _spread(part_x, part_w, Windows(told.sizes, told.steps, told.gaps, around), ends)
        for part_x, part_w in _grouped(x, w, group)
    ]
    return _with_bias(concat(groups, 1), b)


def _around(
    windows: Windows,
    whole: Sequence[int],
    lengths: Sequence[int],
    auto_pad: str,
    output_shape: Sequence[int] | None,
) -> tuple[tuple[int, int], ...]:
    """What is cut off before and behind."""
    wanted = [*output_shape][-windows.count :] if output_shape else None
    if wanted is None and auto_pad.startswith("SAME"):
        wanted = [n * step for n, step in zip(lengths, windows.steps, strict=True)]
    if wanted is None:
        return windows.pads if auto_pad != "VALID" else ((0, 0),) * windows.count
    found = []
    for all_of_it, size_wanted in zip(whole, wanted, strict=True):
        total = all_of_it - size_wanted
        less, more = total // 2, total - total // 2
        found.append((less, more) if auto_pad == "SAME_UPPER" else (more, less))
    return tuple(found)


def _grouped(x: Tensor, w: Tensor, groups: int) -> list[tuple[Tensor, Tensor]]:
    if groups == 1:
        return [(x, w)]
    each = fixed_size(w, 0) // groups
    bounds = [(i * each, (i + 1) * each) for i in range(groups)]
    return [(part(x, 1, a, b), part(w, 0, a, b)) for a, b in bounds]


def _spread(x: Tensor, w: Tensor, windows: Windows, ends: Sequence[int]) -> Tensor:
    """What is missing at the end, beyond the last window, is zeros; so is what padding below 0
    asks for."""
    if windows.count == 1:
        flat = _spread(add_axis(x, 2), add_axis(w, 2), windows.flat(), [1, *ends])
        return squeeze(flat, [2])
    bare = [
        (n - 1) * step + span
        for n, step, span in zip(fixed_sizes(x, 2), windows.steps, windows.spans, strict=True)
    ]
    y = _spread_whole(x, w, windows, bare)
    around = [(0, 0), (0, 0)]
    for (before, _), length, end in zip(windows.pads, bare, ends, strict=True):
        around.append((max(0, -before), max(0, end + before - length)))
    y = call("Pad", y, np.array(around, np.int32)) if any(map(any, around)) else y
    padded = [n + sum(pair) for n, pair in zip(bare, around[2:], strict=True)]
    for axis, ((before, _), end) in enumerate(zip(windows.pads, ends, strict=True)):
        first = max(0, before)
        if first or padded[axis] != end:
            y = part(y, 2 + axis, first, first + end)
    return y


def _spread_whole(x: Tensor, w: Tensor, windows: Windows, bare: Sequence[int]) -> Tensor:
    """Without anything cut off. What follows has sizes, also where the batch may be of any."""
    batch, channels = size(x, 0), fixed_size(w, 1)
    sizes = [batch, channels, *bare]
    return ensured(_spread_to(shape_tensor(sizes), x, w, windows), sizes)


def _spread_to(shape: Any, x: Tensor, w: Tensor, windows: Windows) -> Tensor:
    if windows.count == 2:
        return call(
            "Conv2DBackpropInput",
            shape,
            transpose(w, [2, 3, 1, 0]),
            x,
            strides=(1, 1, *windows.steps),
            padding="VALID",
            dilations=(1, 1, *windows.gaps),
            data_format="NCHW",
        )
    if windows.count != 3:
        raise UnloweredError(f"a convolution over {windows.count} axes")
    return call(
        "Conv3DBackpropInputV2",
        shape,
        transpose(w, [2, 3, 4, 1, 0]),
        x,
        strides=(1, 1, *windows.steps),
        padding="VALID",
        dilations=(1, 1, *windows.gaps),
        data_format="NCDHW",
    )


# -- of whole numbers ------------------------------------------------------------------------------


@lower("ConvInteger", ignores=("kernel_shape",))
def conv_integer(
    site: Site,
    x: Tensor,
    w: Tensor,
    x_zero: Tensor | None = None,
    w_zero: Tensor | None = None,
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    group: int = 1,
) -> Tensor:
    """In float64, which holds every sum of such products."""
    windows = windows_of(x, fixed_sizes(w, 2), strides, dilations, pads, auto_pad)
    found = _forward(_centred(x, x_zero), _centred(w, w_zero), windows)
    return cast(found, DType.INT32)


def _centred(x: Tensor, zero: Tensor | None) -> Tensor:
    wide = cast(x, DType.FLOAT64)
    if zero is None:
        return wide
    less = cast(zero, DType.FLOAT64)
    return call("Sub", wide, along_axis(less, 0, rank(x)) if rank(zero) == 1 else less)


@lower("QLinearConv", ignores=("kernel_shape",))
def q_linear_conv(
    site: Site,
    x: Tensor,
    x_scale: Tensor,
    x_zero: Tensor,
    w: Tensor,
    w_scale: Tensor,
    w_zero: Tensor,
    y_scale: Tensor,
    y_zero: Tensor,
    b: Tensor | None = None,
    *,
    strides: Sequence[int] | None = None,
    dilations: Sequence[int] | None = None,
    pads: Sequence[int] | None = None,
    auto_pad: str = "NOTSET",
    group: int = 1,
) -> Tensor:
    windows = windows_of(x, fixed_sizes(w, 2), strides, dilations, pads, auto_pad)
    found = _forward(_centred(x, x_zero), _centred(w, w_zero), windows)
    found = found if b is None else _with_bias(found, cast(b, DType.FLOAT64))
    scale = call("Mul", cast(x_scale, DType.FLOAT64), cast(w_scale, DType.FLOAT64))
    scale = call("RealDiv", scale, cast(y_scale, DType.FLOAT64))
    wide = (
        along_axis(scale, 1, rank(found))
        if rank(scale) == 1 and fixed_size(scale, 0) > 1
        else scale
    )
    return quantized(call("Mul", found, wide), y_zero)
