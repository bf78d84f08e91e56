"""Depthwise convolution of images with the channels last: a filter of its own for each channel.

There is no matrix product in it: the taps of the window are added up one after another, for as
many images at a time as stay in the cache.
"""

from __future__ import annotations

from math import prod
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.ops.catalogue.neural.convolution_types import Method
from gradstep.core.ops.catalogue.neural.im2col_convolution import (
    Axes,
    blocks,
    every_tap,
    pad_images,
)
from gradstep.core.ops.catalogue.neural.sliding_windows import Size, Sizes, differ


def _outputs(channels: Size, filter: Sizes) -> Size:
    """The channels of the output: so many for each of the input's."""
    planes, multiplier = filter[-2:]
    if differ(channels, planes):
        raise GradstepError(
            f"Dimensions must be equal, but are {channels} and {planes}",
            kind="ValueError",
            hint="the filter's third size is the number of channels of the input",
        )
    known = planes if channels is None else channels
    return None if known is None or multiplier is None else known * multiplier


def _seen(taps: tuple[int, ...], axes: Axes) -> tuple[slice, ...]:
    """Where in padded images the outputs find the element `taps` of their windows."""
    spans = zip(taps, axes, strict=True)
    starts = [(tap * axis.dilation, axis) for tap, axis in spans]
    return (
        slice(None),
        *(slice(s, s + (a.out - 1) * a.stride + 1, a.stride) for s, a in starts),
    )


def _forward(xp: Any, x: Any, w: Any, axes: Axes, out: Any) -> None:
    """out[n, o…, c, m] = the sum of x[n, o * stride + tap…, c] * w[tap…, c, m] over taps."""
    if out.size == 0:
        return
    split = out.reshape(*out.shape[:-1], *w.shape[-2:])
    for images in blocks(xp, x, prod(out.shape[1:])):
        _forward_block(xp, pad_images(xp, x[images], axes), w, axes, split[images])


def _forward_block(xp: Any, x: Any, w: Any, axes: Axes, out: Any) -> None:
    part = None
    for taps, _, _ in every_tap(axes):
        seen = x[_seen(taps, axes)][..., None]
        if part is None:
            xp.multiply(seen, w[taps], out=out)
            part = xp.empty(out.shape, out.dtype)
        else:
            xp.add(out, xp.multiply(seen, w[taps], out=part), out=out)


def _to_filter(xp: Any, x: Any, g: Any, axes: Axes, out: Any) -> None:
    """out[tap…, c, m] = the sum of x[n, o * stride + tap…, c] * g[n, o…, c, m] over n and o."""
    out.fill(0)
    if g.size == 0 or out.size == 0:
        return
    split = g.reshape(*g.shape[:-1], *out.shape[-2:])
    summed = tuple(range(g.ndim - 1))
    for images in blocks(xp, x, prod(g.shape[1:])):
        room, some = pad_images(xp, x[images], axes), split[images]
        for taps, _, _ in every_tap(axes):
            product = xp.multiply(room[_seen(taps, axes)][..., None], some)
            out[taps] += xp.sum(product, axis=summed)


def _to_input(xp: Any, g: Any, w: Any, axes: Axes, out: Any) -> None:
    """out[n, o * stride + tap…, c] += g[n, o…, c, m] * w[tap…, c, m], summed over m."""
    out.fill(0)
    if g.size == 0 or out.size == 0:
        return
    split = g.reshape(*g.shape[:-1], *w.shape[-2:])
    for images in blocks(xp, g, prod(g.shape[1:])):
        for taps, outputs, elements in every_tap(axes):
            place = out[images][elements]
            for m in range(w.shape[-1]):
                part = split[images][outputs][..., m] * w[taps][..., m]
                xp.add(place, part, out=place)


DEPTHWISE = Method(
    name="DepthwiseConv2D",
    types=(
        "DepthwiseConv2dNative",
        "DepthwiseConv2dNativeBackpropInput",
        "DepthwiseConv2dNativeBackpropFilter",
    ),
    labels=("DepthwiseConv2DBackpropInput", "DepthwiseConv2DBackpropFilter"),
    integers=False,
    depthwise=True,
    outputs=_outputs,
    forward=_forward,
    to_input=_to_input,
    to_filter=_to_filter,
)
