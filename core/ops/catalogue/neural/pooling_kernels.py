"""Kernels of pooling, forward and backward: the largest or the mean value of each window.

One tap of all windows at a time: the elements that the windows have at one place are a slice of
the input. A few images at a time, so that what the taps share stays in the cache, and that several
threads may share them. Each function lists the calls that write into `out`, with
`room(shape, dtype)` as memory on the way there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np

from gradstep.core.ops.catalogue.neural.image_blocks import (
    Axes,
    Call,
    SameMemory,
    blocks,
    every_tap,
    worth_of_elements,
)
from gradstep.core.ops.catalogue.neural.tiled_pooling import by_taps, is_narrow, tiles
from gradstep.core.ops.declare.parted_calls import in_parts
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.numerics.fused_functions import fused, is_fusing
from gradstep.core.ops.numerics.scalar_operands import number as rank_0


def largest(xp: Any, x: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out = the largest element of each window. As in TensorFlow, NaN is never the largest, and
    no result is below the lowest finite number."""
    if xp is np and tiles(axes) and is_narrow(axes) and out.flags.c_contiguous:
        yield from _each(xp, x, partial(_largest_tap, x, axes, out), room)
        return

    def listed(images: slice, room: Any) -> Calls:
        yield out[images].fill, lowest(x.dtype)
        for _, outputs, elements in every_tap(axes):
            place = out[images][outputs]
            yield _larger(xp, place, x[images][elements], place)

    yield from _each(xp, x, listed, room)


def _largest_tap(x: np.ndarray, axes: Axes, out: np.ndarray, images: slice, room: Any) -> Calls:
    place = out[images].reshape(-1)
    taps = yield from _taps_of(x[images], axes, room)
    yield place.fill, lowest(x.dtype)
    for tap in taps:
        yield _larger(np, place, tap, place)


def mean(xp: Any, x: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out = the mean of each window's elements, padding not counted."""
    counts = _counts(xp, axes, x.dtype)

    def listed(images: slice, room: Any) -> Calls:
        total = room(out[images].shape, counts.dtype)
        yield total.fill, 0
        for _, outputs, elements in every_tap(axes):
            place = total[outputs]  # one object: of two views CuPy would copy one
            yield xp.add, place, x[images][elements], place
        yield xp.divide, total, counts, out[images]

    yield from _each(xp, x, listed, room)


def mean_back(xp: Any, g: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out = for each element its shares in the gradients of the windows that see it."""
    counts = _counts(xp, axes, g.dtype)

    def listed(images: slice, room: Any) -> Calls:
        shares = room(g[images].shape, counts.dtype)
        total = out[images]
        if total.dtype != counts.dtype:
            total = room(total.shape, counts.dtype)
        yield xp.divide, g[images], counts, shares
        yield total.fill, 0
        for _, outputs, elements in every_tap(axes):
            place = total[elements]
            yield xp.add, place, shares[outputs], place
        if total.dtype != out.dtype:
            yield xp.copyto, out[images], total

    yield from _each(xp, out, listed, room)


def largest_back(xp: Any, x: Any, g: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out = each window's gradient at the first of its largest elements, as in TensorFlow."""
    if xp is np and tiles(axes) and out.flags.c_contiguous:
        yield from _each(xp, x, partial(_tap_back, x, g, axes, out), room)
        return

    def listed(images: slice, room: Any) -> Calls:
        yield out[images].fill, 0
        index = yield from first_largest(xp, x[images], axes, room)
        memory = None if is_fusing(xp) else _Marks(xp, index.shape, g.dtype, room)
        for number, (_, outputs, elements) in enumerate(every_tap(axes)):
            place, tap = out[images][elements], _scalar(xp, number, index.dtype)
            given, chosen = g[images][outputs], index[outputs]
            if memory is None:
                yield partial(_with_tap, out=place), xp, place, given, chosen, tap
            else:
                mask = memory.mask(given.shape)
                yield xp.equal, chosen, tap, mask
                part = yield from memory.kept(given, mask)
                yield xp.add, place, part, place

    yield from _each(xp, x, listed, room)


@fused
def _with_tap(xp: Any, total: Any, g: Any, index: Any, tap: Any) -> Any:
    return total + xp.where(index == tap, g, 0)


def _tap_back(
    x: np.ndarray, g: np.ndarray, axes: Axes, out: np.ndarray, images: slice, room: Any
) -> Calls:
    gradient = g[images].reshape(-1)
    taps = yield from _taps_of(x[images], axes, room)
    best = room(gradient.shape, x.dtype)
    index = room(gradient.shape, np.min_scalar_type(len(taps) - 1))
    memory = _Marks(np, gradient.shape, index.dtype, room)
    yield _passed_over(np, taps[0], best)
    yield index.fill, 0
    for number, tap in enumerate(taps):
        yield from _note_larger(np, tap, number, best, index, memory)
    mask = memory.mask(gradient.shape)
    for number, tap in enumerate(taps):
        yield np.equal, index, _scalar(np, number, index.dtype), mask
        yield np.multiply, bits_of(gradient), mask, bits_of(tap)
        yield np.add, tap, _scalar(np, 0, tap.dtype), tap  # as a sum has no -0
    there = by_taps(out[images], axes)
    yield np.copyto, there, taps.reshape(there.shape)


def chosen(xp: Any, x: Any, y: Any, values: Any, axes: Axes, out: Any, room: Any) -> Calls:
    """out = the element of `values` where the window's first element of `x` is that equals `y`;
    0 where none does."""

    def listed(images: slice, room: Any) -> Calls:
        yield out[images].fill, 0
        free = room(out[images].shape, np.dtype(bool))
        memory = None if is_fusing(xp) else _Marks(xp, free.shape, out.dtype, room)
        yield free.fill, True
        for _, outputs, elements in every_tap(axes):
            place, is_free = out[images][outputs], free[outputs]
            given = x[images][elements], y[images][outputs]
            value = values[images][elements]
            if memory is None:
                yield partial(_hit, out=(is_free, place)), xp, *given, value, is_free, place
                continue
            hit = memory.mask(place.shape)
            yield xp.equal, *given, hit
            yield xp.logical_and, hit, is_free, hit
            yield xp.bitwise_xor, is_free, hit, is_free
            part = yield from memory.kept(value, hit)
            yield xp.add, place, part, place

    yield from _each(xp, x, listed, room)


@fused
def _hit(xp: Any, x: Any, y: Any, value: Any, is_free: Any, place: Any) -> tuple[Any, Any]:
    hit = (x == y) & is_free
    return is_free ^ hit, place + xp.where(hit, value, 0)


def first_largest(xp: Any, x: Any, axes: Axes, room: Any) -> Any:
    """For each window the number of the first tap that has its largest element, once the calls
    given are made. An element is larger only if it compares so: NaN stays where it comes first,
    and is passed over elsewhere."""
    start = _first_taps(xp, axes)
    shape = (x.shape[0], *start.shape[1:])
    best, number = room(shape, x.dtype), room(shape, start.dtype)
    first = yield from _first_elements(xp, x, axes, room)
    if is_fusing(xp):
        yield partial(_begun, xp, out=(best, number)), first, start
    else:
        yield _passed_over(xp, first, best)
        yield xp.copyto, number, start
    memory = None if is_fusing(xp) else _Marks(xp, shape, start.dtype, room)
    for tap, (_, outputs, elements) in enumerate(every_tap(axes)):
        yield from _note_larger(xp, x[elements], tap, best[outputs], number[outputs], memory)
    return number


@fused
def _begun(xp: Any, first: Any, tap: Any) -> tuple[Any, Any]:
    """`_passed_over`, and the taps beside it."""
    return (xp.fmin(first, np.inf) if first.dtype.kind == "f" else first), tap


def _note_larger(
    xp: Any, value: Any, tap: int, best: Any, number: Any, memory: _Marks | None
) -> Calls:
    """Where `value` is larger than `best`, it takes its place, and `tap` that in `number`."""
    if memory is None:
        at = number.dtype.type(tap)
        yield partial(_larger_of, out=(best, number)), xp, best, number, value, at
        return
    mask, above = memory.mask(value.shape), memory.values(value.shape)
    yield xp.greater, value, best, mask
    ones = mask.view(number.dtype) if number.dtype.itemsize == 1 else mask
    yield xp.multiply, ones, _scalar(xp, tap, number.dtype), above
    yield partial(xp.maximum, out=number), number, above  # taps only grow
    yield _larger(xp, best, value, best)


@fused
def _larger_of(xp: Any, best: Any, number: Any, value: Any, tap: Any) -> tuple[Any, Any]:
    above = value > best
    return xp.where(above, value, best), xp.where(above, tap, number)


class _Marks:
    """Memory for which elements of up to so many are meant, and for a value beside each."""

    def __init__(self, xp: Any, shape: tuple[int, ...], dtype: Any, room: Any) -> None:
        self._xp = xp
        self._mask, self._values = (room((prod(shape),), np.dtype(t)) for t in (bool, dtype))

    def mask(self, shape: tuple[int, ...]) -> Any:
        return self._mask[: prod(shape)].reshape(shape)

    def values(self, shape: tuple[int, ...]) -> Any:
        return self._values[: prod(shape)].reshape(shape)

    def kept(self, values: Any, mask: Any) -> Any:
        """`values` where the mask holds, else 0, once the call given is made."""
        found = self.values(values.shape)
        yield self._xp.multiply, bits_of(values), mask, bits_of(found)
        return found


def bits_of(values: Any) -> Any:
    """The same as whole numbers: such are multiplied with a mask so that NaN and infinity do not
    spread, at no branch an element."""
    return values.view(f"uint{8 * values.dtype.itemsize}")


def _taps_of(x: np.ndarray, axes: Axes, room: Any) -> Any:
    """A copy [taps, elements of all images], once the call given is made."""
    there = by_taps(x, axes)
    taps = room(there.shape, x.dtype)
    yield np.copyto, taps, there
    return taps.reshape(prod(there.shape[: len(axes)]), -1)


def _first_elements(xp: Any, x: Any, axes: Axes, room: Any) -> Any:
    """Each window's first element that is no padding, once the calls given are made."""
    for place, axis in enumerate(axes, start=1):
        if axis.before == 0:
            stop = (axis.out - 1) * axis.stride + 1 if axis.out else 0
            x = x[(slice(None),) * place + (slice(0, stop, axis.stride),)]
        else:
            elements = np.maximum(np.arange(axis.out) * axis.stride - axis.before, 0)
            taken = room((*x.shape[:place], axis.out, *x.shape[place + 1 :]), x.dtype)
            # mode: with "raise" NumPy would copy the result, in case there is no such element.
            more = {"mode": "clip"} if xp is np else {}
            yield partial(xp.take, out=taken, **more), x, xp.asarray(elements), place
            x = taken
    return x


def _first_taps(xp: Any, axes: Axes) -> Any:
    """The numbers of these elements' taps in each image, in the smallest type that holds every
    tap's."""
    total = np.zeros((1,), np.int64)
    for axis in axes:
        taps = np.maximum(axis.before - np.arange(axis.out) * axis.stride, 0)
        total = np.add.outer(total * axis.window, taps)
    small = np.min_scalar_type(prod(axis.window for axis in axes) - 1)
    return xp.asarray(total.astype(small))


def _passed_over(xp: Any, first: Any, best: Any) -> Call:
    """The call that copies `first` to `best`, with infinity, above which nothing is, for NaN."""
    if first.dtype.kind != "f":
        return xp.copyto, best, first
    return xp.fmin, first, _scalar(xp, np.inf, first.dtype), best


def lowest(dtype: Any) -> Any:
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


def _larger(xp: Any, a: Any, b: Any, out: Any) -> Call:
    """The call that puts the larger ones of each two elements in `out`."""
    if a.dtype.kind == "f":
        return xp.fmax, a, b, out
    return partial(xp.maximum, out=out), a, b


def _scalar(xp: Any, value: float, dtype: np.dtype) -> Any:
    """A number as an operand beside arrays."""
    return rank_0(value, dtype) if xp is np else dtype.type(value)


def _each(xp: Any, x: Any, listed: Callable[[slice, Any], Calls], room: Any) -> Calls:
    """What is done with the images of `x` block by block, all in the same memory."""

    def several(some: Sequence[slice], room: Any) -> Calls:
        memory = SameMemory(room)
        for images in some:
            yield from listed(images, memory.vacated())

    parts = blocks(xp, x, prod(x.shape[1:]), worth_of_elements(x.size))
    yield from in_parts(parts, several, room)


def _counts(xp: Any, axes: Axes, dtype: Any) -> Any:
    """How many elements each window has, padding left out: one number, or an array that
    broadcasts against an image. Half precision is added up and divided in single precision."""
    wide = "float32" if dtype == "float16" else dtype
    if not any(axis.padded for axis in axes):
        return xp.asarray(np.array(prod(axis.window for axis in axes), wide))
    total = np.ones((1,), np.int64)
    for axis in axes:
        total = np.multiply.outer(total, axis.counts())
    return xp.asarray(total.astype(wide))
