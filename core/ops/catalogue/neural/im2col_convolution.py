"""Convolution of images with the channels last, as matrix products over patches.

The patches of a few images at a time are laid out as a matrix, small enough to stay in the cache,
and multiplied with the filter at once; on a device as many images as memory allows. Any number of
spatial axes; the arrays are contiguous, and results are written into `out`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from gradstep.core.ops.catalogue.neural.sliding_windows import Axis

Axes = Sequence[Axis]

# Bytes of one matrix of patches: what a core's cache holds; on a device, to bound its memory.
_HOST_BLOCK = 2 << 20
_DEVICE_BLOCK = 256 << 20
# With fewer channels than this, patches are copied element by element of the image's rows.
_FEW_CHANNELS = 4


def correlate(xp: Any, x: Any, w: Any, axes: Axes, out: Any) -> None:
    """out[n, o…, k] = the sum of x[n, o * stride + tap…, c] * w[tap…, c, k] over taps and c."""
    if out.size == 0:
        return
    matrix = w.reshape(-1, w.shape[-1])
    for images, rows in _patches(xp, x, axes):
        xp.matmul(rows, matrix, out=out[images].reshape(-1, w.shape[-1]))


def correlate_filter(xp: Any, x: Any, g: Any, axes: Axes, out: Any) -> None:
    """out[tap…, c, k] = the sum of x[n, o * stride + tap…, c] * g[n, o…, k] over n and o."""
    total = None
    if g.size and out.size:
        for images, rows in _patches(xp, x, axes):
            part = xp.matmul(rows.T, g[images].reshape(-1, g.shape[-1]))
            total = part if total is None else xp.add(total, part, out=total)
    if total is None:
        out.fill(0)
    else:
        out.reshape(total.shape)[...] = total


def spread(xp: Any, g: Any, w: Any, axes: Axes, out: Any) -> None:
    """out[n, o * stride + tap…, c] += g[n, o…, k] * w[tap…, c, k], summed over k; `out` is x's
    place in `correlate`."""
    out.fill(0)
    if g.size and out.size:
        for images in blocks(xp, g, prod(g.shape[1:-1]) * w.shape[-2]):
            _spread_block(xp, g[images], w, axes, out[images])


def _spread_block(xp: Any, g: Any, w: Any, axes: Axes, out: Any) -> None:
    rows = g.reshape(-1, g.shape[-1])
    part = xp.empty((rows.shape[0], w.shape[-2]), g.dtype)
    shaped = part.reshape(*g.shape[:-1], -1)
    for taps, outputs, elements in every_tap(axes):
        xp.matmul(rows, w[taps].T, out=part)
        place = out[elements]
        xp.add(place, shaped[outputs], out=place)


def every_tap(axes: Axes) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
    """Each element of the window, as an index into the filter, with the outputs for which it is
    no padding and the elements that they see there, as indices into images."""
    for taps in product(*(range(axis.window) for axis in axes)):
        pairs = [axis.within(tap) for axis, tap in zip(axes, taps, strict=True)]
        outputs, elements = zip(*pairs, strict=True)
        yield taps, (slice(None), *outputs), (slice(None), *elements)


def blocks(xp: Any, x: Any, size: int) -> Iterator[slice]:
    """The images of `x`, as many at a time as go into one block with `size` elements each."""
    limit = _HOST_BLOCK if xp is np else _DEVICE_BLOCK
    step = max(1, limit // max(1, size * x.dtype.itemsize))
    for start in range(0, x.shape[0], step):
        yield slice(start, min(start + step, x.shape[0]))


def pad_images(xp: Any, x: Any, axes: Axes) -> Any:
    """The images with zeros around them, as far as any window sees; `x` itself without padding."""
    if not any(axis.padded for axis in axes):
        return x
    room = xp.zeros((x.shape[0], *(axis.seen for axis in axes), x.shape[-1]), x.dtype)
    _fill(room, x, axes)
    return room


def _fill(room: Any, x: Any, axes: Axes) -> None:
    ends = [min(axis.before + axis.size, axis.seen) for axis in axes]
    inner = [slice(axis.before, end) for axis, end in zip(axes, ends, strict=True)]
    kept = [slice(0, max(end - axis.before, 0)) for axis, end in zip(axes, ends, strict=True)]
    room[(slice(None), *inner)] = x[(slice(None), *kept)]


def _patches(xp: Any, x: Any, axes: Axes) -> Iterator[tuple[slice, Any]]:
    """Some images, and their patches as a matrix [outputs, taps * channels], which is good until
    the next one is asked for."""
    channels = x.shape[-1]
    if all(axis.trivial for axis in axes):
        yield slice(0, x.shape[0]), x.reshape(-1, channels)
        return
    size = prod(axis.window for axis in axes) * channels
    bordered = any(axis.padded for axis in axes)
    room: Any = None
    columns: Any = None
    for images in blocks(xp, x, prod(axis.out for axis in axes) * size):
        some = x[images]
        if columns is None or room.shape[0] != some.shape[0]:
            room = pad_images(xp, some, axes)
            columns = xp.empty(_patch_shape(some, axes), x.dtype)
        elif bordered:
            _fill(room, some, axes)
        columns[...] = _windows(xp, room if bordered else some, axes)
        yield images, _as_rows(columns, size, channels)


def _patch_shape(x: Any, axes: Axes) -> tuple[int, ...]:
    taps, outs = tuple(axis.window for axis in axes), tuple(axis.out for axis in axes)
    if x.shape[-1] < _FEW_CHANNELS:
        return (*taps, x.shape[-1], x.shape[0], *outs)
    return (x.shape[0], *outs, *taps, x.shape[-1])


def _windows(xp: Any, x: Any, axes: Axes) -> Any:
    """A view of padded images in which each window has axes of its own, in the order in which
    patches are quickest to copy: in long runs of memory."""
    batch, *steps, channel = x.strides
    taps = [step * axis.dilation for step, axis in zip(steps, axes, strict=True)]
    outs = [step * axis.stride for step, axis in zip(steps, axes, strict=True)]
    if x.shape[-1] < _FEW_CHANNELS:
        strides = (*taps, channel, batch, *outs)
    else:
        strides = (batch, *outs, *taps, channel)
    return xp.lib.stride_tricks.as_strided(x, shape=_patch_shape(x, axes), strides=strides)


def _as_rows(columns: Any, size: int, channels: int) -> Any:
    return columns.reshape(size, -1).T if channels < _FEW_CHANNELS else columns.reshape(-1, size)
