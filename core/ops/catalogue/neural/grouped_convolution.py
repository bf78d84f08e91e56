"""Convolution of images and volumes, in groups of channels, as a Method."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.ops.catalogue.neural.convolution_types import Algorithm, Method
from gradstep.core.ops.catalogue.neural.im2col_convolution import correlate, correlate_filter
from gradstep.core.ops.catalogue.neural.image_blocks import Axes, SameMemory, contiguous
from gradstep.core.ops.catalogue.neural.sliding_windows import Size, Sizes
from gradstep.core.ops.catalogue.neural.spread_convolution import spread
from gradstep.core.ops.declare.ufunc import Calls


def _outputs(channels: Size, filter: Sizes) -> Size:
    """The channels of the output: the filter's, whose inputs are the image's or those of a
    group of them."""
    depth, outputs = filter[-2:]
    if depth == 0:
        raise GradstepError("Depth of filter must not be 0", kind="ValueError")
    if channels is None or depth is None:
        return outputs
    if channels % depth:
        raise GradstepError(
            f"Depth of input ({channels}) is not a multiple of input depth of filter ({depth})",
            kind="ValueError",
            hint="a filter has the sizes window, channels of the input, channels of the output",
        )
    groups = channels // depth
    if outputs is not None and groups and outputs % groups:
        raise GradstepError(
            f"Depth of output ({outputs}) is not a multiple of the number of groups ({groups})",
            kind="ValueError",
            hint="with fewer channels in the filter than in the input, these form groups",
        )
    return outputs


def _forward(xp: Any, x: Any, w: Any, axes: Axes, out: Any, room: Any) -> Calls:
    for ins, outs, memory in _groups(x.shape[-1], w.shape, room):
        work = correlate, x[..., ins], w[..., outs]
        yield from _into(xp, out[..., outs], *work, axes, memory)


def _to_input(xp: Any, g: Any, w: Any, axes: Axes, out: Any, room: Any) -> Calls:
    for ins, outs, memory in _groups(out.shape[-1], w.shape, room):
        work = spread, g[..., outs], w[..., outs]
        yield from _into(xp, out[..., ins], *work, axes, memory)


def _to_filter(xp: Any, x: Any, g: Any, axes: Axes, out: Any, room: Any) -> Calls:
    for ins, outs, memory in _groups(x.shape[-1], out.shape, room):
        work = correlate_filter, x[..., ins], g[..., outs]
        yield from _into(xp, out[..., outs], *work, axes, memory)


def _groups(channels: int, filter: Sequence[int], room: Any) -> Iterator[tuple[slice, slice, Any]]:
    """For each group its channels in the input and in the output, and memory: all have the same."""
    count = channels // filter[-2]
    size = filter[-1] // max(count, 1)
    memory = SameMemory(room)
    for i in range(count):
        ins, outs = slice(i * filter[-2], (i + 1) * filter[-2]), slice(i * size, (i + 1) * size)
        yield ins, outs, memory.vacated()


def _into(xp: Any, out: Any, algorithm: Algorithm, a: Any, b: Any, axes: Axes, room: Any) -> Calls:
    """Have `algorithm` work on these channels, in contiguous memory."""
    a = yield from contiguous(xp, a, a.dtype, room)
    b = yield from contiguous(xp, b, b.dtype, room)
    if out.flags.c_contiguous:
        yield from algorithm(xp, a, b, axes, out, room)
        return
    place = room(out.shape, out.dtype)
    yield from algorithm(xp, a, b, axes, place, room)
    yield xp.copyto, out, place


CONV2D = Method(
    name="Conv2D",
    types=("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"),
    labels=("Conv2DCustomBackpropInput", "Conv2DCustomBackpropFilter"),
    integers=True,
    depthwise=False,
    outputs=_outputs,
    forward=_forward,
    to_input=_to_input,
    to_filter=_to_filter,
)
CONV3D = replace(
    CONV2D,
    name="Conv3D",
    types=("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2"),
    labels=("Conv3DBackpropInput", "Conv3DBackpropFilter"),
    integers=False,
)
