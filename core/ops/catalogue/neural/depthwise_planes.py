"""Depthwise convolution of images with the channels last: a filter of its own for each channel.

There is no matrix product in it: the taps of the window are added up one after another, for as
many images at a time as stay in the cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.ops.catalogue.neural.convolution_types import Method
from gradstep.core.ops.catalogue.neural.image_blocks import (
    Axes,
    Padded,
    SumOf,
    blocks,
    every_tap,
    in_sums,
    worth_of_elements,
)
from gradstep.core.ops.catalogue.neural.sliding_windows import Size, Sizes, differ
from gradstep.core.ops.declare.parted_calls import in_parts
from gradstep.core.ops.declare.ufunc import Calls


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


def _blocks(xp: Any, x: Any, outputs: Any) -> list[slice]:
    """The images of `x`, for each of which there are so many outputs."""
    return blocks(xp, x, prod(outputs.shape[1:]), worth_of_elements(outputs.size))


def _forward(xp: Any, x: Any, w: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out[n, o…, c, m] = the sum of x[n, o * stride + tap…, c] * w[tap…, c, m] over taps."""
    if out.size == 0:
        return
    split = out.reshape(*out.shape[:-1], *w.shape[-2:])

    def listed(some: Sequence[slice], room: Any) -> Calls:
        padded = Padded(x, axes, several[0].stop, room)
        memory = room(split[several[0]].shape, out.dtype)
        for images in some:
            calls, seen = padded.take(xp, x[images])
            yield from calls
            place = split[images]
            part = memory[: place.shape[0]]
            for number, (taps, _, _) in enumerate(every_tap(axes)):
                shown = seen[_seen(taps, axes)][..., None]
                yield xp.multiply, shown, w[taps], part if number else place
                if number:
                    yield xp.add, place, part, place

    several = _blocks(xp, x, out)
    yield from in_parts(several, listed, room)


def _to_filter(xp: Any, x: Any, g: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out[tap…, c, m] = the sum of x[n, o * stride + tap…, c] * g[n, o…, c, m] over n and o."""
    if g.size == 0 or out.size == 0:
        yield out.fill, 0
        return
    split = g.reshape(*g.shape[:-1], *out.shape[-2:])
    summed = tuple(range(g.ndim - 1))
    several = _blocks(xp, x, g)

    def listed(sums: Sequence[SumOf], room: Any) -> Calls:
        padded = Padded(x, axes, several[0].stop, room)
        memory, total = room(split[several[0]].shape, g.dtype), room(out.shape[-2:], g.dtype)
        for place, some in sums:
            yield place.fill, 0
            for images in some:
                calls, seen = padded.take(xp, x[images])
                yield from calls
                products = memory[: images.stop - images.start]
                for taps, _, _ in every_tap(axes):
                    shown = seen[_seen(taps, axes)][..., None]
                    yield xp.multiply, shown, split[images], products
                    yield xp.sum, products, summed, None, total
                    yield xp.add, place[taps], total, place[taps]

    yield from in_sums(xp, several, listed, out, room)


def _to_input(xp: Any, g: Any, w: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out[n, o * stride + tap…, c] += g[n, o…, c, m] * w[tap…, c, m], summed over m."""
    if g.size == 0 or out.size == 0:
        yield out.fill, 0
        return
    split = g.reshape(*g.shape[:-1], *w.shape[-2:])

    def listed(some: Sequence[slice], room: Any) -> Calls:
        memory = room(split[several[0]].shape[:-1], g.dtype)
        for images in some:
            yield out[images].fill, 0
            for taps, outputs, elements in every_tap(axes):
                place = out[images][elements]
                part = memory[: place.shape[0]][outputs]
                for m in range(w.shape[-1]):
                    yield xp.multiply, split[images][outputs][..., m], w[taps][..., m], part
                    yield xp.add, place, part, place

    several = _blocks(xp, g, g)
    yield from in_parts(several, listed, room)


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
