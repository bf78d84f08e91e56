"""Convolution of images and volumes, in groups of channels, as a Method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gradstep.core.errors import GradstepError
from gradstep.core.ops.catalogue.neural.convolution_types import Algorithm, Method
from gradstep.core.ops.catalogue.neural.im2col_convolution import (
    Axes,
    correlate,
    correlate_filter,
    spread,
)
from gradstep.core.ops.catalogue.neural.sliding_windows import Size, Sizes


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


def _forward(xp: Any, x: Any, w: Any, axes: Axes, out: Any) -> None:
    for ins, outs in _groups(x.shape[-1], w.shape):
        _into(xp, out, outs, correlate, x[..., ins], w[..., outs], axes)


def _to_input(xp: Any, g: Any, w: Any, axes: Axes, out: Any) -> None:
    for ins, outs in _groups(out.shape[-1], w.shape):
        _into(xp, out, ins, spread, g[..., outs], w[..., outs], axes)


def _to_filter(xp: Any, x: Any, g: Any, axes: Axes, out: Any) -> None:
    for ins, outs in _groups(x.shape[-1], out.shape):
        _into(xp, out, outs, correlate_filter, x[..., ins], g[..., outs], axes)


def _groups(channels: int, filter: Sequence[int]) -> list[tuple[slice, slice]]:
    """For each group its channels in the input and in the output."""
    count = channels // filter[-2]
    size = filter[-1] // max(count, 1)
    return [
        (slice(i * filter[-2], (i + 1) * filter[-2]), slice(i * size, (i + 1) * size))
        for i in range(count)
    ]


def _into(
    xp: Any, out: Any, channels: slice, algorithm: Algorithm, a: Any, b: Any, axes: Axes
) -> None:
    """Have `algorithm` write some channels of `out`; only all of them are contiguous memory."""
    if channels == slice(0, out.shape[-1]):
        algorithm(xp, a, b, axes, out)
        return
    place = xp.empty(out[..., channels].shape, out.dtype)
    algorithm(xp, a, b, axes, place)
    out[..., channels] = place


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
