"""Convolutions of PyTorch: weights stay [out, in, …], and are turned where they are read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.lowering.aten.aten_table import lower
from gradstep.core.lowering.aten.aten_tensors import (
    add_axis,
    along_axis,
    dims,
    ints,
    rank,
    transpose,
)
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.ops.build.builder import Tensor, call

Pads = list[tuple[int, int]]


@lower("conv1d", "conv2d", "conv3d")
def convolve(
    site: Site,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sequence[int] = (1,),
    padding: Sequence[int] | str = (0,),
    dilation: Sequence[int] = (1,),
    groups: int = 1,
) -> Tensor:
    """Groups follow from the shapes."""
    count = rank(weight) - 2
    steps, gaps = _each(stride, count), _each(dilation, count)
    pads = _pads(padding, dims(weight)[2:], gaps, count)
    x = input if rank(input) == count + 2 else add_axis(input, 0)
    y = _forward(x, weight, steps, pads, gaps, count)
    y = _with_bias(y, bias)
    return y if x is input else call("Squeeze", y, squeeze_dims=(0,))


@lower(
    "convolution",
    "_convolution",
    ignores=("benchmark", "deterministic", "cudnn_enabled", "allow_tf32"),
)
def convolution(
    site: Site,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    output_padding: Sequence[int],
    groups: int,
) -> Tensor:
    if transposed:
        return spread(site, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return convolve(site, input, weight, bias, stride, padding, dilation, groups)


@lower("conv_transpose1d", "conv_transpose2d", "conv_transpose3d")
def spread(
    site: Site,
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Sequence[int] = (1,),
    padding: Sequence[int] = (0,),
    output_padding: Sequence[int] = (0,),
    groups: int = 1,
    dilation: Sequence[int] = (1,),
) -> Tensor:
    """The gradient of a convolution: of one whose output is this one's input."""
    count = rank(weight) - 2
    if count == 3 or rank(input) != count + 2:
        raise UnloweredError("a transposed convolution of volumes, or of one example alone")
    steps, gaps = _each(stride, count), _each(dilation, count)
    pads: Pads = [(p, p) for p in _each(padding, count)]
    sizes = site.sizes()
    x, filters = (input, weight) if count == 2 else (add_axis(input, 2), add_axis(weight, 2))
    if count == 1:
        steps, gaps, pads = [1, *steps], [1, *gaps], [(0, 0), *pads]
        sizes = (sizes[0], sizes[1], 1, sizes[2])
    turned = _turned_for_spread(filters, groups)
    y = call(
        "Conv2DBackpropInput",
        ints(sizes),
        turned,
        x,
        strides=(1, 1, *steps),
        padding="EXPLICIT",
        explicit_paddings=_explicit(pads),
        dilations=(1, 1, *gaps),
        data_format="NCHW",
    )
    y = y if count == 2 else call("Squeeze", y, squeeze_dims=(2,))
    return _with_bias(y, bias)


def _with_bias(y: Tensor, bias: Tensor | None) -> Tensor:
    if bias is None:
        return y
    if rank(y) == 4:
        return call("BiasAdd", y, bias, data_format="NCHW")
    return call("AddV2", y, along_axis(bias, 1, rank(y)))


def _turned_for_spread(weight: Tensor, groups: int) -> Tensor:
    """[in, out / groups, h, w] as the filter of the convolution that this is the gradient of:
    [h, w, its in / groups, its out], whose in is this one's out."""
    return transpose(weight, [2, 3, 1, 0])


def _forward(
    x: Tensor, weight: Tensor, steps: list[int], pads: Pads, gaps: list[int], count: int
) -> Tensor:
    if count == 3:
        return _of_volumes(x, weight, steps, pads, gaps)
    if count == 1:
        x, weight = add_axis(x, 2), add_axis(weight, 2)
        steps, gaps, pads = [1, *steps], [1, *gaps], [(0, 0), *pads]
    y = call(
        "Conv2D",
        x,
        transpose(weight, [2, 3, 1, 0]),
        strides=(1, 1, *steps),
        padding="EXPLICIT",
        explicit_paddings=_explicit(pads),
        dilations=(1, 1, *gaps),
        data_format="NCHW",
    )
    return y if count == 2 else call("Squeeze", y, squeeze_dims=(2,))


def _of_volumes(x: Tensor, weight: Tensor, steps: list[int], pads: Pads, gaps: list[int]) -> Tensor:
    """Padding is an operation of its own: the one for volumes has none that is told."""
    around = np.array([(0, 0), (0, 0), *pads], np.int32)
    padded = call("Pad", x, around) if around.any() else x
    return call(
        "Conv3D",
        padded,
        transpose(weight, [2, 3, 4, 1, 0]),
        strides=(1, 1, *steps),
        padding="VALID",
        dilations=(1, 1, *gaps),
        data_format="NCDHW",
    )


def _explicit(pads: Pads) -> tuple[int, ...]:
    return (0, 0, 0, 0, *(amount for pair in pads for amount in pair))


def _each(value: Sequence[int] | int, count: int) -> list[int]:
    """One number for all axes, or one for each."""
    values = [value] if isinstance(value, int) else [*value]
    return values * count if len(values) == 1 else values


def _pads(
    padding: Sequence[int] | str, window: Sequence[int], gaps: Sequence[int], count: int
) -> Pads:
    """ "same" puts what does not go evenly behind."""
    if padding == "valid":
        return [(0, 0)] * count
    if padding == "same":
        totals = [(size - 1) * gap for size, gap in zip(window, gaps, strict=True)]
        return [(total // 2, total - total // 2) for total in totals]
    assert not isinstance(padding, str)
    return [(p, p) for p in _each(padding, count)]
