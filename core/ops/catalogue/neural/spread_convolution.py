"""The gradient of a convolution's input, or transposed convolution: outputs spread over windows.

Memory and arrays are as in im2col_convolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from gradstep.core.ops.catalogue.neural.image_blocks import (
    Axes,
    Call,
    block_bytes,
    blocks,
    elements,
    every_tap,
    is_worth_a_part,
    product_call,
    rows_of,
    worth_of_products,
)
from gradstep.core.ops.catalogue.neural.sliding_windows import Axis
from gradstep.core.ops.declare.parted_calls import in_parts
from gradstep.core.ops.declare.ufunc import Calls

# With so many channels at most, sums are made channel by channel, in long runs of memory.
_FEW_CHANNELS = 8


def spread(xp: Any, g: Any, w: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out[n, o * stride + tap…, c] += g[n, o…, k] * w[tap…, c, k], summed over k; `out` is x's
    place in `correlate`."""
    if g.size == 0 or out.size == 0:
        yield out.fill, 0
    elif all(axis.trivial for axis in axes):
        yield product_call(xp, rows_of(g), rows_of(w).T, rows_of(out))
    elif out.shape[-1] <= _FEW_CHANNELS:
        yield from _spread_planes(xp, g, w, axes, out, room)
    else:
        yield from _spread_taps(xp, g, w, axes, out, room)


def _spread_taps(xp: Any, g: Any, w: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """Tap by tap: a product of all outputs with the filter there, added where it belongs."""
    images = blocks(xp, g, elements(axes) * w.shape[-2], _worth(g, w))
    together = _taps_together(xp, g, w)
    if len(images) == 1 and together > 1:
        yield from _spread_together(g, w, axes, out, together, room)
        return

    def listed(some: Sequence[slice], room: Any) -> Calls:
        memory = room((images[0].stop, *g.shape[1:-1], w.shape[-2]), g.dtype)
        for block in some:
            yield out[block].fill, 0
            part = memory[: block.stop - block.start]
            for taps, outputs, seen in every_tap(axes):
                yield product_call(xp, rows_of(g[block]), w[taps].T, rows_of(part))
                yield _added(xp, axes, out[block][seen], part[outputs])

    yield from in_parts(images, listed, room)


def _added(xp: Any, axes: Axes, place: Any, part: Any) -> Call:
    """The call that adds what outputs give at one tap."""
    apart = all(axis.reach <= axis.stride for axis in axes)  # no element is seen twice
    return (xp.copyto, place, part) if apart else (xp.add, place, part, place)


def _spread_together(
    g: np.ndarray, w: np.ndarray, axes: Axes, out: np.ndarray, together: int, room: Any
) -> Calls:
    """The same of few images, with several threads: they share the products of some taps, each of
    which has memory of its own."""
    yield out.fill, 0
    parts = room((together, *g.shape[:-1], w.shape[-2]), g.dtype)
    every = list(every_tap(axes))

    def listed(some: Sequence[tuple[Any, tuple[int, ...]]], room: Any) -> Calls:
        for part, taps in some:
            yield product_call(np, rows_of(g), w[taps].T, rows_of(part))

    for start in range(0, len(every), together):
        some = every[start : start + together]
        products = [(part, taps) for part, (taps, _, _) in zip(parts, some, strict=False)]
        yield from in_parts(products, listed, room)
        for part, (_, outputs, seen) in zip(parts, some, strict=False):
            yield _added(np, axes, out[seen], part[outputs])


def _worth(g: Any, w: Any) -> int:
    return worth_of_products(g.size // g.shape[-1], w.size)


def _taps_together(xp: Any, g: Any, w: Any) -> int:
    """How many products of one tap each are worth being made together, and stay in the cache."""
    rows, size = g.size // g.shape[-1], w.shape[-1] * w.shape[-2]
    if xp is not np or not is_worth_a_part(rows * size):
        return 1
    fitting = block_bytes(xp) // (2 * rows * w.shape[-2] * g.dtype.itemsize)
    return int(min(fitting - fitting % 2, prod(w.shape[:-2])))


def _spread_planes(xp: Any, g: Any, w: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """All products at once, channels and taps before outputs. What they are added up in keeps
    elements that lie a stride apart next to each other: sums run along rows, and padding is there,
    so that none has an edge."""
    matrix, channels = w.reshape(-1, w.shape[-1]), w.shape[-2]
    windows, outs = tuple(axis.window for axis in axes), tuple(axis.out for axis in axes)
    strides = tuple(axis.stride for axis in axes)
    lengths = tuple(axis.out + (axis.reach - 1) // axis.stride for axis in axes)
    column, plane = elements(axes) * matrix.shape[0], channels * prod((*strides, *lengths))

    def listed(some: Sequence[slice], room: Any) -> Calls:
        first, second = (room((several[0].stop * size,), g.dtype) for size in (column, plane))
        for images in some:
            count = images.stop - images.start
            columns = first[: count * column].reshape(matrix.shape[0], -1)
            planes = second[: count * plane].reshape(*strides, channels, count, *lengths)
            yield product_call(xp, matrix, rows_of(g[images]).T, columns)
            yield planes.fill, 0
            products = columns.reshape(*windows, channels, count, *outs)
            for taps in product(*(range(axis.window) for axis in axes)):
                pairs = [_phase(axis, tap) for axis, tap in zip(axes, taps, strict=True)]
                phase, runs = zip(*pairs, strict=True)
                place = planes[phase][(..., *runs)]
                yield xp.add, place, products[taps], place
            yield from _back(xp, planes, axes, out[images])

    several = blocks(xp, g, column, _worth(g, matrix))
    yield from in_parts(several, listed, room)


def _phase(axis: Axis, tap: int) -> tuple[int, slice]:
    """Which elements, a stride apart, the outputs see at `tap`, and where among them."""
    start, phase = divmod(tap * axis.dilation, axis.stride)
    return phase, slice(start, start + axis.out)


def _back(xp: Any, planes: Any, axes: Axes, out: Any) -> Calls:
    """From such planes to images, without the padding; no window sees what lies behind them."""
    yield out.fill, 0
    for phase in product(*(range(axis.stride) for axis in axes)):
        pairs = [_kept(axis, one) for axis, one in zip(axes, phase, strict=True)]
        elements, runs = zip(*pairs, strict=True)
        source = planes[phase][(..., *runs)]
        yield xp.copyto, xp.moveaxis(out[(slice(None), *elements)], -1, 0), source


def _kept(axis: Axis, phase: int) -> tuple[slice, slice]:
    """The elements of an image that are of this phase, and where they are among those."""
    first = (phase - axis.before) % axis.stride
    start = (first + axis.before) // axis.stride
    held = axis.out + (axis.reach - 1) // axis.stride - start
    count = max(min(-(-(axis.size - first) // axis.stride), held), 0)
    stop = first + (count - 1) * axis.stride + 1 if count else first
    return slice(first, stop, axis.stride), slice(start, start + count)
