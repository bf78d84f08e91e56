"""Images a few at a time, the padding around them, and what each tap of a window sees of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from math import prod
from typing import Any

import numpy as np

from gradstep.core.ops.catalogue.neural.sliding_windows import Axis

Axes = Sequence[Axis]
Call = tuple[Any, ...]  # a function and its arguments

# Bytes of what is worked on at a time: what a core's cache holds; on a device, to bound its memory.
_HOST_BLOCK = 1 << 20
_DEVICE_BLOCK = 256 << 20


def block_bytes(xp: Any) -> int:
    """How many bytes are to be worked on at a time."""
    return _HOST_BLOCK if xp is np else _DEVICE_BLOCK


def blocks(xp: Any, x: Any, size: int) -> Iterator[slice]:
    """The images of `x`, as many at a time as go into one block with `size` elements each."""
    step = max(1, block_bytes(xp) // max(1, size * x.dtype.itemsize))
    for start in range(0, x.shape[0], step):
        yield slice(start, min(start + step, x.shape[0]))


def every_tap(axes: Axes) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
    """Each element of the window, as an index into the filter, with the outputs for which it is
    no padding and the elements that they see there, as indices into images."""
    for taps in product(*(range(axis.window) for axis in axes)):
        pairs = [axis.within(tap) for axis, tap in zip(axes, taps, strict=True)]
        outputs, elements = zip(*pairs, strict=True)
        yield taps, (slice(None), *outputs), (slice(None), *elements)


class Padded:
    """Up to `count` images at a time with zeros around them, as far as any window sees; the images
    themselves without padding. `room` gives the memory for it."""

    def __init__(self, x: Any, axes: Axes, count: int, room: Any) -> None:
        self._images: Any = None
        if any(axis.padded for axis in axes):
            sizes = (min(count, x.shape[0]), *(axis.seen for axis in axes), x.shape[-1])
            self._images = room(sizes, x.dtype)
        ends = [min(axis.before + axis.size, axis.seen) for axis in axes]
        pairs = list(zip(axes, ends, strict=True))
        self._inner = slice(None), *(slice(axis.before, end) for axis, end in pairs)
        self._kept = slice(None), *(slice(0, max(end - axis.before, 0)) for axis, end in pairs)

    def take(self, xp: Any, x: Any, first: bool) -> tuple[list[Call], Any]:
        """These images with their padding, and the calls that bring them there; they stay until
        the next ones are taken. first: of all."""
        if self._images is None:
            return [], x
        some = self._images[: x.shape[0]]
        border = [(self._images.fill, 0)] if first else []
        return [*border, (xp.copyto, some[self._inner], x[self._kept])], some


def product_call(xp: Any, a: Any, b: Any, out: Any) -> Call:
    """The call that multiplies matrices; CuPy is told where to by name."""
    return (xp.matmul, a, b, out) if xp is np else (partial(xp.matmul, out=out), a, b)


def contiguous(xp: Any, x: Any, dtype: Any, room: Any) -> Any:
    """`x` in contiguous memory and of this type, once the calls given are made; `x` itself where it
    is that."""
    if x.dtype == dtype and x.flags.c_contiguous:
        return x
    copy = room(x.shape, np.dtype(dtype))
    yield xp.copyto, copy, x
    return copy


def elements(axes: Axes) -> int:
    """How many outputs an image has in each channel."""
    return prod(axis.out for axis in axes)
