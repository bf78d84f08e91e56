"""Images a few at a time, the padding around them, and what each tap of a window sees of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise, product
from math import prod
from typing import Any

import numpy as np

from gradstep.core.ops.catalogue.neural.sliding_windows import Axis
from gradstep.core.ops.declare.parted_calls import in_parts
from gradstep.core.ops.declare.ufunc import Calls

Axes = Sequence[Axis]
Call = tuple[Any, ...]  # a function and its arguments
SumOf = tuple[Any, Sequence[Any]]  # a place, and the blocks that are added up there

# Bytes of what is worked on at a time: what a core's cache holds; on a device, to bound its memory.
_HOST_BLOCK = 1 << 20
_DEVICE_BLOCK = 256 << 20

# What is worth a block that another thread may take: elements that are gone through tap by tap,
# multiplications of a product, and rows of it: with fewer, the filter is read too often.
_WORTH_ELEMENTS = 1 << 17
_WORTH_PRODUCTS = 1 << 24
_WORTH_ROWS = 1024
_BLOCKS = 16  # more than that are made to fit a cache only

# Bytes of a filter up to which threads share blocks. Those of larger ones are larger themselves,
# as are the products, which threads share then.
_SMALL_FILTER = 1 << 20
_SUMS = 8  # over blocks, which are added up in the end: at most, and in so many bytes
_SUMS_BYTES = 2 << 20


def block_bytes(xp: Any) -> int:
    """How many bytes are to be worked on at a time."""
    return _HOST_BLOCK if xp is np else _DEVICE_BLOCK


def blocks(xp: Any, x: Any, size: int, worth: int) -> list[slice]:
    """The images of `x` in blocks that are as good as equal: of as many images as go into one with
    `size` elements each, and at least `worth` blocks."""
    fitting = block_bytes(xp) // max(1, size * x.dtype.itemsize)
    step = images_at_a_time(xp, x.shape[0], fitting, worth)
    return [slice(i, min(i + step, x.shape[0])) for i in range(0, x.shape[0], step)]


def worth_of_elements(count: int) -> int:
    """How many blocks so many elements are worth, which are gone through tap by tap."""
    return max(1, count // _WORTH_ELEMENTS)


def worth_of_products(rows: int, products: int) -> int:
    """How many blocks a matrix product of that many rows is worth, or several of such; with so many
    multiplications for each row."""
    return max(1, min(rows * products // _WORTH_PRODUCTS, rows // _WORTH_ROWS))


def is_worth_a_part(products: int) -> bool:
    """Whether several products of so many multiplications each are worth several threads."""
    return 4 * products >= _WORTH_PRODUCTS


def images_at_a_time(xp: Any, images: int, fitting: int, worth: int) -> int:
    """How many of so many images make a block, of which `fitting` ones go into one, and so many
    blocks are worth it, if any: of few blocks, two, four or eight threads have as many each."""
    count = -(-images // max(1, fitting))
    if xp is np and worth:
        count = max(count, min(worth, _BLOCKS))
        if 1 < count < _BLOCKS:
            count = 1 << (count - 1).bit_length()
    return max(1, -(-images // max(1, count)))


def every_tap(axes: Axes) -> Iterator[tuple[tuple[int, ...], Any, Any]]:
    """Each element of the window, as an index into the filter, with the outputs for which it is
    no padding and the elements that they see there, as indices into images."""
    for taps in product(*(range(axis.window) for axis in axes)):
        pairs = [axis.within(tap) for axis, tap in zip(axes, taps, strict=True)]
        outputs, elements = zip(*pairs, strict=True)
        yield taps, (slice(None), *outputs), (slice(None), *elements)


def small_beside(nbytes: int) -> bool:
    """Whether a filter of that many bytes leaves blocks as small as they are without it."""
    return nbytes <= _SMALL_FILTER


def in_sums(
    xp: Any,
    several: Sequence[Any],
    listed: Callable[[Sequence[SumOf], Any], Calls],
    out: Any,
    room: Any,
) -> Calls:
    """out = a sum over blocks. They are added up in a few places, which threads share, and these in
    the end: so the order in which numbers are added hangs on shapes alone. listed: the calls that
    put in some of the places the sum of what belongs there."""
    fitting = _SUMS_BYTES // out.nbytes if small_beside(out.nbytes) else 1
    count = max(1, min(len(several), _SUMS, fitting))
    ends = [len(several) * i // count for i in range(count + 1)]
    places = [out, *(room(out.shape, out.dtype) for _ in range(1, count))]
    groups = [several[start:stop] for start, stop in pairwise(ends)]
    yield from in_parts([*zip(places, groups, strict=True)], listed, room)
    for other in places[1:]:
        yield xp.add, out, other, out


class SameMemory:
    """Memory that is asked for again and again, in the same order, for arrays that are no larger
    than the first time."""

    def __init__(self, room: Any) -> None:
        self._room = room
        self._held: list[Any] = []
        self._given = 0

    def vacated(self) -> SameMemory:
        self._given = 0
        return self

    def __call__(self, shape: tuple[int, ...], dtype: Any) -> Any:
        if self._given == len(self._held):
            self._held.append(self._room((prod(shape),), dtype))
        self._given += 1
        return self._held[self._given - 1][: prod(shape)].reshape(shape)


class Padded:
    """Up to `count` images at a time with zeros around them, as far as any window sees; the images
    themselves without padding. `room` gives the memory for it."""

    def __init__(self, x: Any, axes: Axes, count: int, room: Any) -> None:
        self._images: Any = None
        self._border: list[Call] = []
        if any(axis.padded for axis in axes):
            sizes = (min(count, x.shape[0]), *(axis.seen for axis in axes), x.shape[-1])
            self._images = room(sizes, x.dtype)
            self._border = [(self._images.fill, 0)]
        ends = [min(axis.before + axis.size, axis.seen) for axis in axes]
        pairs = list(zip(axes, ends, strict=True))
        self._inner = slice(None), *(slice(axis.before, end) for axis, end in pairs)
        self._kept = slice(None), *(slice(0, max(end - axis.before, 0)) for axis, end in pairs)

    def take(self, xp: Any, x: Any) -> tuple[list[Call], Any]:
        """These images with their padding, and the calls that bring them there; they stay until
        the next ones are taken. The border is made with the first ones."""
        if self._images is None:
            return [], x
        some = self._images[: x.shape[0]]
        border, self._border = self._border, []
        return [*border, (xp.copyto, some[self._inner], x[self._kept])], some


def rows_of(x: Any) -> Any:
    """The matrix [all else, channels]."""
    return x.reshape(-1, x.shape[-1])


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
