"""Convolution of images with the channels last, as matrix products over patches.

The patches of a few images, or of a few rows of one, are laid out at a time as a matrix, small
enough to stay in the cache, and multiplied with the filter at once; on a device as many as memory
allows. Several threads share these blocks. Any number of spatial axes. The arrays are contiguous;
each function lists the calls that write into `out`, with `room(shape, dtype)` as memory on the way
there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

from gradstep.core.ops.catalogue.neural.image_blocks import (
    Axes,
    Padded,
    SameMemory,
    SumOf,
    block_bytes,
    elements,
    images_at_a_time,
    in_sums,
    product_call,
    rows_of,
    small_beside,
    worth_of_products,
)
from gradstep.core.ops.declare.parted_calls import in_parts
from gradstep.core.ops.declare.ufunc import Calls

# With fewer channels than this, patches are copied element by element of the image's rows.
_FEW_CHANNELS = 4

_Block = tuple[slice, slice]  # images, and rows of each


def correlate(xp: Any, x: Any, w: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out[n, o…, k] = the sum of x[n, o * stride + tap…, c] * w[tap…, c, k] over taps and c."""
    if out.size == 0:
        return
    matrix = rows_of(w)
    if all(axis.trivial for axis in axes):
        yield product_call(xp, rows_of(x), matrix, rows_of(out))
        return

    def listed(some: Sequence[_Block], room: Any) -> Calls:
        for patches in _patches(xp, x, axes, some, room):
            yield from patches.calls
            yield product_call(xp, patches.rows, matrix, rows_of(out[patches.place]))

    several = _blocks(xp, x, axes, matrix)
    yield from in_parts(several, listed, room, shared=small_beside(matrix.nbytes))


def correlate_filter(xp: Any, x: Any, g: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out[tap…, c, k] = the sum of x[n, o * stride + tap…, c] * g[n, o…, k] over n and o."""
    if g.size == 0 or out.size == 0:
        yield out.fill, 0
        return
    total = rows_of(out)
    if all(axis.trivial for axis in axes):
        yield product_call(xp, rows_of(x).T, rows_of(g), total)
        return

    def listed(sums: Sequence[SumOf], room: Any) -> Calls:
        blocks = [block for _, some in sums for block in some]
        places = [(place, i) for place, some in sums for i in range(len(some))]
        part = room(total.shape, total.dtype) if len(blocks) > len(sums) else None
        for (place, i), patches in zip(places, _patches(xp, x, axes, blocks, room), strict=True):
            yield from patches.calls
            factors = patches.rows.T, rows_of(g[patches.place])
            yield product_call(xp, *factors, part if i else place)
            if i:
                yield xp.add, place, part, place

    yield from in_sums(xp, _blocks(xp, x, axes, total), listed, total, room)


@dataclass(frozen=True, slots=True)
class _Patches:
    """The patches of some outputs. calls: what lays them out; place: an index of these outputs;
    rows: the matrix [outputs, taps * channels], which is good until the next ones are laid out."""

    calls: list[tuple[Any, ...]]
    place: _Block
    rows: Any


def _blocks(xp: Any, x: Any, axes: Axes, beside: Any) -> list[_Block]:
    """The outputs, block by block. beside: the matrix that the patches of each are multiplied with,
    or into: where that is large it passes the cache once a block, so blocks are to be larger."""
    size = len(beside) * x.dtype.itemsize
    fitting = max(block_bytes(xp), 2 * beside.nbytes) // size
    worth = 0
    if small_beside(beside.nbytes):
        worth = worth_of_products(x.shape[0] * elements(axes), beside.size)
    images, rows = _at_a_time(xp, x.shape[0], axes, fitting, worth)
    return [
        (slice(image, min(image + images, x.shape[0])), slice(row, min(row + rows, axes[0].out)))
        for image in range(0, x.shape[0], images)
        for row in range(0, axes[0].out, rows)
    ]


def _at_a_time(xp: Any, images: int, axes: Axes, outputs: int, worth: int) -> tuple[int, int]:
    """How many images are taken at a time, and how many rows of each, for about so many outputs:
    of one image parts that are as good as equal. worth: see `images_at_a_time`."""
    whole = elements(axes)
    if whole <= outputs:
        return images_at_a_time(xp, images, outputs // whole, worth), axes[0].out
    parts = min(-(-whole // max(outputs, 1)), axes[0].out)
    return 1, -(-axes[0].out // parts)


def _patches(
    xp: Any, x: Any, axes: Axes, several: Sequence[_Block], room: Any
) -> Iterator[_Patches]:
    """The patches of these blocks, one after the other."""
    channels = x.shape[-1]
    size = prod(axis.window for axis in axes) * channels
    images, rows = (
        max(part.stop - part.start for part in parts) for parts in zip(*several, strict=True)
    )
    columns = room((images * rows * elements(axes[1:]) * size,), x.dtype)
    memory = SameMemory(room)
    if any(axis.padded for axis in axes):  # as much as the most rows take
        most = replace(axes[0], out=rows), *axes[1:]
        memory((images, *(axis.seen for axis in most), channels), x.dtype)
    taken: slice | None = None
    for some, part in several:
        if part != taken:
            first, there = axes[0].only(part)
            these = first, *axes[1:]
            padded = Padded(x, these, images, memory.vacated())
            taken = part
        calls, seen = padded.take(xp, x[some, there])
        source = _windows(xp, seen, these)
        laid = columns[: source.size].reshape(source.shape)
        yield _Patches(
            [*calls, (xp.copyto, laid, source)], (some, part), _as_rows(laid, axes, channels)
        )


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


def _as_rows(laid: Any, axes: Axes, channels: int) -> Any:
    """Patches that were copied out of such a view as a matrix [outputs, taps * channels]."""
    size = prod(axis.window for axis in axes) * channels
    return laid.reshape(size, -1).T if channels < _FEW_CHANNELS else laid.reshape(-1, size)
