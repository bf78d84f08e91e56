"""Convolution of images with the channels last, as matrix products over patches.

The patches of a few images, or of a few rows of one, are laid out at a time as a matrix, small
enough to stay in the cache, and multiplied with the filter at once; on a device as many as memory
allows. Any number of spatial axes. The arrays are contiguous; each function lists the calls that
write into `out`, with `room(shape, dtype)` as memory on the way there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any

from gradstep.core.ops.catalogue.neural.image_blocks import (
    Axes,
    Padded,
    block_bytes,
    elements,
    product_call,
)
from gradstep.core.ops.declare.ufunc import Calls

# With fewer channels than this, patches are copied element by element of the image's rows.
_FEW_CHANNELS = 4


def correlate(xp: Any, x: Any, w: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out[n, o…, k] = the sum of x[n, o * stride + tap…, c] * w[tap…, c, k] over taps and c."""
    if out.size == 0:
        return
    matrix = w.reshape(-1, w.shape[-1])
    for patches in _patches(xp, x, axes, matrix.nbytes, room):
        yield from patches.calls
        place = out[patches.place].reshape(-1, w.shape[-1])
        yield product_call(xp, patches.rows, matrix, place)


def correlate_filter(xp: Any, x: Any, g: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out[tap…, c, k] = the sum of x[n, o * stride + tap…, c] * g[n, o…, k] over n and o."""
    if g.size == 0 or out.size == 0:
        yield out.fill, 0
        return
    total, part = out.reshape(-1, g.shape[-1]), None
    for number, patches in enumerate(_patches(xp, x, axes, out.nbytes, room)):
        yield from patches.calls
        rows = g[patches.place].reshape(-1, g.shape[-1])
        if number == 0:
            yield product_call(xp, patches.rows.T, rows, total)
        else:
            part = room(total.shape, total.dtype) if part is None else part
            yield product_call(xp, patches.rows.T, rows, part)
            yield xp.add, total, part, total


@dataclass(frozen=True, slots=True)
class _Patches:
    """The patches of some outputs. calls: what lays them out; place: an index of these outputs;
    rows: the matrix [outputs, taps * channels], which is good until the next ones are laid out."""

    calls: list[tuple[Any, ...]]
    place: tuple[slice, ...]
    rows: Any


def _patches(xp: Any, x: Any, axes: Axes, beside: int, room: Any) -> Iterator[_Patches]:
    """The patches of all images, block by block. beside: bytes of the matrix that each block is
    multiplied with, or into: where that is large it passes the cache once a block, so blocks are
    to be larger."""
    channels = x.shape[-1]
    if all(axis.trivial for axis in axes):
        yield _Patches([], (slice(None),), x.reshape(-1, channels))
        return
    size = prod(axis.window for axis in axes) * channels
    fitting = max(block_bytes(xp), 2 * beside) // (size * x.dtype.itemsize)
    images, rows = _at_a_time(x.shape[0], axes, fitting)
    columns = room((images * rows * elements(axes[1:]) * size,), x.dtype)
    padded = Padded(x, axes, images, room)
    for start in range(0, x.shape[0], images):
        some = slice(start, min(start + images, x.shape[0]))
        calls, seen = padded.take(xp, x[some], first=start == 0)
        windows = _windows(xp, seen, axes)
        for row in range(0, axes[0].out, rows):
            place = some, slice(row, min(row + rows, axes[0].out))
            source = windows[_of_rows(place[1], axes, channels)]
            laid = columns[: source.size].reshape(source.shape)
            yield _Patches(
                [*calls, (xp.copyto, laid, source)], place, _as_rows(laid, axes, channels)
            )
            calls = []


def _at_a_time(images: int, axes: Axes, outputs: int) -> tuple[int, int]:
    """How many images are taken at a time, and how many rows of each, for about so many outputs:
    of one image parts that are as good as equal."""
    whole = elements(axes)
    if whole <= outputs:
        return min(images, outputs // whole), axes[0].out
    parts = min(-(-whole // max(outputs, 1)), axes[0].out)
    return 1, -(-axes[0].out // parts)


def _windows(xp: Any, x: Any, axes: Axes) -> Any:
    """A view of padded images in which each window has axes of its own, in the order in which
    patches are quickest to copy: in long runs of memory."""
    batch, *steps, channel = x.strides
    windows, outs = tuple(axis.window for axis in axes), tuple(axis.out for axis in axes)
    taps = [step * axis.dilation for step, axis in zip(steps, axes, strict=True)]
    strides = [step * axis.stride for step, axis in zip(steps, axes, strict=True)]
    if x.shape[-1] < _FEW_CHANNELS:
        shape = (*windows, x.shape[-1], x.shape[0], *outs)
        return _strided(xp, x, shape, (*taps, channel, batch, *strides))
    shape = (x.shape[0], *outs, *windows, x.shape[-1])
    return _strided(xp, x, shape, (batch, *strides, *taps, channel))


def _strided(xp: Any, x: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> Any:
    """Along axes of one element nobody goes: how far would be the document's word, of any size."""
    strides = tuple(step if size > 1 else 0 for size, step in zip(shape, strides, strict=True))
    return xp.lib.stride_tricks.as_strided(x, shape=shape, strides=strides)


def _of_rows(rows: slice, axes: Axes, channels: int) -> tuple[Any, ...]:
    """The index of these rows of outputs in such a view."""
    if channels < _FEW_CHANNELS:
        return (..., rows, *[slice(None)] * (len(axes) - 1))
    return slice(None), rows


def _as_rows(laid: Any, axes: Axes, channels: int) -> Any:
    """Patches that were copied out of such a view as a matrix [outputs, taps * channels]."""
    size = prod(axis.window for axis in axes) * channels
    return laid.reshape(size, -1).T if channels < _FEW_CHANNELS else laid.reshape(-1, size)
