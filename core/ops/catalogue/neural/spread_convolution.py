"""The gradient of a convolution's input, or transposed convolution: outputs spread over windows.

Memory and arrays are as in im2col_convolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

from gradstep.core.ops.catalogue.neural.image_blocks import (
    Axes,
    blocks,
    elements,
    every_tap,
    in_blocks,
    product_call,
)
from gradstep.core.ops.catalogue.neural.sliding_windows import Axis
from gradstep.core.ops.declare.ufunc import Calls

# With so many channels at most, sums are made channel by channel, in long runs of memory.
_FEW_CHANNELS = 8


def spread(xp: Any, g: Any, w: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out[n, o * stride + tap…, c] += g[n, o…, k] * w[tap…, c, k], summed over k; `out` is x's
    place in `correlate`."""
    if g.size == 0 or out.size == 0:
        yield out.fill, 0
    elif all(axis.trivial for axis in axes):
        yield product_call(xp, _rows(g), _rows(w).T, _rows(out))
    elif out.shape[-1] <= _FEW_CHANNELS:
        yield from _spread_planes(xp, g, w, axes, out, room)
    else:
        yield from _spread_taps(xp, g, w, axes, out, room)


def _rows(x: Any) -> Any:
    return x.reshape(-1, x.shape[-1])


def _spread_taps(xp: Any, g: Any, w: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """Tap by tap: a product of all outputs with the filter there, added where it belongs."""
    apart = all(axis.reach <= axis.stride for axis in axes)  # no element is seen twice

    def listed(some: Sequence[slice], room: Any) -> Calls:
        memory = room((several[0].stop, *g.shape[1:-1], w.shape[-2]), g.dtype)
        for images in some:
            place = out[images]
            part = memory[: place.shape[0]]
            yield place.fill, 0
            for taps, outputs, seen in every_tap(axes):
                yield product_call(xp, _rows(g[images]), w[taps].T, _rows(part))
                if apart:
                    yield xp.copyto, place[seen], part[outputs]
                else:
                    yield xp.add, place[seen], part[outputs], place[seen]

    several = blocks(xp, g, elements(axes) * w.shape[-2], elements(axes) * w.size)
    yield from in_blocks(xp, several, listed, room)


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
            yield product_call(xp, matrix, _rows(g[images]).T, columns)
            yield planes.fill, 0
            products = columns.reshape(*windows, channels, count, *outs)
            for taps in product(*(range(axis.window) for axis in axes)):
                pairs = [_phase(axis, tap) for axis, tap in zip(axes, taps, strict=True)]
                phase, runs = zip(*pairs, strict=True)
                place = planes[phase][(..., *runs)]
                yield xp.add, place, products[taps], place
            yield from _back(xp, planes, axes, out[images])

    several = blocks(xp, g, column, elements(axes) * matrix.size)
    yield from in_blocks(xp, several, listed, room)


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
