"""Kernels of pooling, forward and backward: the largest or the mean value of each window.

One tap of all windows at a time: the elements that the windows have at one place are a slice of
the input. A few images at a time, so that what the taps share stays in the cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

import numpy as np

from gradstep.core.ops.catalogue.neural.image_blocks import Axes, blocks, every_tap
from gradstep.core.ops.catalogue.neural.tiled_pooling import by_taps, is_narrow, taps_of, tiles
from gradstep.core.ops.numerics.fused_functions import fused, is_fusing


def largest(xp: Any, x: Any, axes: Axes, out: Any) -> None:
    """out = the largest element of each window. As in TensorFlow, NaN is never the largest, and
    no result is below the lowest finite number."""
    larger = _larger(xp, x)
    if xp is np and tiles(axes) and is_narrow(axes) and out.flags.c_contiguous:
        _largest_tap(x, axes, out)
        return
    out.fill(lowest(x.dtype))
    for images in _blocks(xp, x):
        for _, outputs, elements in every_tap(axes):
            place = out[images][outputs]
            larger(place, x[images][elements], out=place)


def _largest_tap(x: np.ndarray, axes: Axes, out: np.ndarray) -> None:
    larger, low = _larger(np, x), np.array(lowest(x.dtype), x.dtype)
    for images in _blocks(np, x):
        place = out[images].reshape(-1)
        place.fill(low)
        for tap in taps_of(x[images], axes):
            larger(place, tap, out=place)


def mean(xp: Any, x: Any, axes: Axes, out: Any) -> None:
    """out = the mean of each window's elements, padding not counted."""
    counts = _counts(xp, axes, x.dtype)
    for images in _blocks(xp, x):
        total = xp.zeros(out[images].shape, counts.dtype)
        for _, outputs, elements in every_tap(axes):
            place = total[outputs]
            xp.add(place, x[images][elements], out=place)
        out[images] = total / counts


def mean_back(xp: Any, g: Any, axes: Axes, out: Any) -> None:
    """out = for each element its shares in the gradients of the windows that see it."""
    counts = _counts(xp, axes, g.dtype)
    for images in _blocks(xp, out):
        shares = g[images] / counts
        total = xp.zeros(out[images].shape, counts.dtype)
        for _, outputs, elements in every_tap(axes):
            place = total[elements]
            xp.add(place, shares[outputs], out=place)
        out[images] = total


def largest_back(xp: Any, x: Any, g: Any, axes: Axes, out: Any) -> None:
    """out = each window's gradient at the first of its largest elements, as in TensorFlow."""
    if xp is np and tiles(axes) and out.flags.c_contiguous:
        _tap_back(x, g, axes, out)
        return
    out.fill(0)
    for images in _blocks(xp, x):
        index = first_largest(xp, x[images], axes)
        for number, (_, outputs, elements) in enumerate(every_tap(axes)):
            place = out[images][elements]
            tap = index.dtype.type(number)
            _add_of_tap(xp, place, g[images][outputs], index[outputs], tap, place)


def _add_of_tap(xp: Any, total: Any, g: Any, index: Any, tap: Any, place: Any) -> None:
    """place = total and the gradients of the windows whose chosen tap this is."""
    if is_fusing(xp):
        _with_tap(xp, total, g, index, tap, out=place)
    else:
        xp.add(total, kept(g, index == tap), out=place)


@fused
def _with_tap(xp: Any, total: Any, g: Any, index: Any, tap: Any) -> Any:
    return total + xp.where(index == tap, g, 0)


def _tap_back(x: np.ndarray, g: np.ndarray, axes: Axes, out: np.ndarray) -> None:
    zero = x.dtype.type(0)
    for images in _blocks(np, x):
        taps, gradient = taps_of(x[images], axes), g[images].reshape(-1)
        best = _passed_over(np, taps[0])
        index = np.zeros(len(best), np.min_scalar_type(len(taps) - 1))
        for number, tap in enumerate(taps):
            _note_larger(np, tap, number, best, index)
        for number, tap in enumerate(taps):  # + 0, as a sum has no -0
            np.add(kept(gradient, index == number), zero, out=tap)
        there = by_taps(out[images], axes)
        there[...] = taps.reshape(there.shape)


def chosen(xp: Any, x: Any, y: Any, values: Any, axes: Axes, out: Any) -> None:
    """out = the element of `values` where the window's first element of `x` is that equals `y`;
    0 where none does."""
    out.fill(0)
    for images in _blocks(xp, x):
        free = xp.ones(out[images].shape, bool)
        for _, outputs, elements in every_tap(axes):
            place, is_free = out[images][outputs], free[outputs]
            given = x[images][elements], y[images][outputs], values[images][elements]
            if is_fusing(xp):
                _hit(xp, *given, is_free, place, out=(is_free, place))
                continue
            hit = (given[0] == given[1]) & is_free
            free[outputs] = is_free ^ hit
            xp.add(place, kept(given[2], hit), out=place)


@fused
def _hit(xp: Any, x: Any, y: Any, value: Any, is_free: Any, place: Any) -> tuple[Any, Any]:
    hit = (x == y) & is_free
    return is_free ^ hit, place + xp.where(hit, value, 0)


def first_largest(xp: Any, x: Any, axes: Axes) -> Any:
    """For each window the number of the first tap that has its largest element. An element is
    larger only if it compares so: NaN stays where it comes first, and is passed over elsewhere."""
    first, number = _first_elements(xp, x, axes), _first_taps(xp, x, axes)
    best = _passed_over(xp, first)
    for tap, (_, outputs, elements) in enumerate(every_tap(axes)):
        _note_larger(xp, x[elements], tap, best[outputs], number[outputs])
    return number


def _note_larger(xp: Any, value: Any, tap: int, best: Any, number: Any) -> None:
    """Where `value` is larger than `best`, it takes its place, and `tap` that in `number`."""
    if is_fusing(xp):
        _larger_of(xp, best, number, value, number.dtype.type(tap), out=(best, number))
        return
    above = (value > best) * number.dtype.type(tap)  # taps only grow
    xp.maximum(number, above, out=number)
    _larger(xp, value)(best, value, out=best)


@fused
def _larger_of(xp: Any, best: Any, number: Any, value: Any, tap: Any) -> tuple[Any, Any]:
    above = value > best
    return xp.where(above, value, best), xp.where(above, tap, number)


def _first_elements(xp: Any, x: Any, axes: Axes) -> Any:
    """Each window's first element that is no padding."""
    for place, axis in enumerate(axes, start=1):
        if axis.before == 0:
            stop = (axis.out - 1) * axis.stride + 1 if axis.out else 0
            x = x[(slice(None),) * place + (slice(0, stop, axis.stride),)]
        else:
            elements = np.maximum(np.arange(axis.out) * axis.stride - axis.before, 0)
            x = xp.take(x, xp.asarray(elements), axis=place)
    return x


def _first_taps(xp: Any, x: Any, axes: Axes) -> Any:
    """The numbers of these elements' taps, in the smallest type that holds every tap's."""
    total = np.zeros((1,), np.int64)
    for axis in axes:
        taps = np.maximum(axis.before - np.arange(axis.out) * axis.stride, 0)
        total = np.add.outer(total * axis.window, taps)
    small = np.min_scalar_type(prod(axis.window for axis in axes) - 1)
    shape = (x.shape[0], *(axis.out for axis in axes))
    return xp.broadcast_to(xp.asarray(total.astype(small)), shape).copy()


def _passed_over(xp: Any, first: Any) -> Any:
    """A copy in which NaN is infinity, above which nothing is."""
    if first.dtype.kind != "f":
        return first.copy()
    return xp.fmin(first, xp.full(first.shape, np.inf, first.dtype))


def kept(values: Any, mask: Any) -> Any:
    """`values` where the mask holds, else 0: the bits are multiplied, so that NaN and infinity do
    not spread, at no branch an element."""
    bits = f"uint{8 * values.dtype.itemsize}"
    return (values.view(bits) * mask).view(values.dtype)


def lowest(dtype: Any) -> Any:
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


def _larger(xp: Any, x: Any) -> Any:
    return xp.fmax if x.dtype.kind == "f" else xp.maximum


def _blocks(xp: Any, x: Any) -> Iterator[slice]:
    return blocks(xp, x, prod(x.shape[1:]))


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
