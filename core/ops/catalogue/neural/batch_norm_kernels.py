"""Batch normalization as lists of calls, forward and backward: block by block, in the cache."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from gradstep.core.ops.catalogue.neural.channel_blocks import ChannelBlocks, scalar
from gradstep.core.ops.catalogue.neural.image_blocks import contiguous
from gradstep.core.ops.catalogue.neural.image_channels import channel_axis, check_size
from gradstep.core.ops.declare.float_attributes import single
from gradstep.core.ops.declare.kernel_forms import Kernels, kernels_of
from gradstep.core.ops.declare.ufunc import Calls
from gradstep.core.ops.numerics.fused_functions import fused, is_fusing


def normalize_kernels(results: int) -> Kernels:
    """Of an op with so many results: the images, four vectors, and what cuDNN would keep."""

    def places(xp: Any, x: Any, scale: Any, *_: Any, **attrs: Any) -> tuple[Any, ...]:
        vectors = [xp.empty(scale.shape, scale.dtype) for _ in range(4)]
        rest = [xp.empty((), scale.dtype) for _ in range(results - 5)]
        return (xp.empty(x.shape, x.dtype), *vectors, *rest)

    return kernels_of(_normalize, places)


def gradient_kernels() -> Kernels:
    """Of the gradients to x, scale and offset, and of two vectors of nothing."""

    def places(xp: Any, g: Any, x: Any, scale: Any, *_: Any, **attrs: Any) -> tuple[Any, ...]:
        shapes = (scale.shape, scale.shape, (0,), (0,))
        return (xp.empty(x.shape, x.dtype), *(xp.empty(shape, scale.dtype) for shape in shapes))

    return kernels_of(_gradients, places)


def when_needed(is_training: bool, exponential_avg_factor: float) -> str | None:
    """Why the mean and the variance are needed; None when they are not."""
    if not is_training:
        return "When is_training=false, "
    return "When exponential_avg_factor != 1, " if exponential_avg_factor != 1 else None


def _normalize(
    xp: Any,
    x: Any,
    scale: Any,
    offset: Any,
    mean: Any,
    variance: Any,
    *,
    epsilon: float,
    exponential_avg_factor: float,
    data_format: str,
    is_training: bool,
    out: Any,
    room: Any,
) -> Calls:
    when = when_needed(is_training, exponential_avg_factor)
    _check(x, scale, offset, mean, variance, data_format, when)
    y, *running, saved_mean, saved_variance = out[:5]
    saved = saved_mean, saved_variance
    x = yield from contiguous(xp, x, x.dtype, room)
    blocks = ChannelBlocks(xp, x.shape, data_format, room)
    if is_training:
        yield from _moments(xp, x, blocks, saved)
        part = single(exponential_avg_factor)
        yield from _running(xp, saved, (mean, variance), running, blocks.count, part, room)
    else:
        for place, value in zip((*running, *saved), (mean, variance) * 2, strict=True):
            yield xp.copyto, place, value
    for place in out[5:]:
        yield place.fill, 0
    factor = room(scale.shape, scale.dtype)
    yield xp.add, saved_variance, scalar(xp, single(epsilon), scale.dtype), factor
    yield xp.sqrt, factor, factor
    yield xp.divide, scale, factor, factor
    place = y if y.flags.c_contiguous else room(y.shape, y.dtype)
    yield from _scaled(xp, blocks, x, (saved_mean, factor, offset), place)
    if place is not y:
        yield xp.copyto, y, place


def _check(x: Any, scale: Any, offset: Any, mean: Any, variance: Any, form: str, when: Any) -> None:
    channels = x.shape[channel_axis(form, x.ndim)]
    check_size("scale", scale.size, channels)
    check_size("offset", offset.size, channels)
    if when is not None:
        check_size("mean", mean.size, channels, when)
        check_size("variance", variance.size, channels, when)


def _scaled(xp: Any, blocks: ChannelBlocks, x: Any, vectors: Sequence[Any], out: Any) -> Calls:
    """(x - mean) * factor + offset."""
    dtype = vectors[0].dtype
    mean, factor, offset = yield from blocks.beside(*vectors)
    memory = None if out.dtype == dtype else blocks.memory(dtype)
    for some, place in blocks.each(x, out):
        if memory is None and is_fusing(xp):
            yield partial(_normalized, xp, out=place), some, mean, factor, offset
            continue
        work = place if memory is None else memory[: some.shape[0]]
        yield xp.subtract, some, mean, work
        yield xp.multiply, work, factor, work
        yield xp.add, work, offset, place


@fused
def _normalized(xp: Any, x: Any, mean: Any, factor: Any, offset: Any) -> Any:
    return (x - mean) * factor + offset


def _moments(xp: Any, x: Any, blocks: ChannelBlocks, out: Sequence[Any]) -> Calls:
    """Mean and variance of each channel, over what there is: the variance is biased."""
    mean, variance = out
    if not blocks.count:
        yield mean.fill, np.nan
        yield variance.fill, np.nan
        return
    dtype, count = mean.dtype, scalar(xp, blocks.count, mean.dtype)
    sums, squares, memory = blocks.sums(dtype), blocks.sums(dtype), blocks.memory(dtype)
    for (some,) in blocks.each(x):
        yield from sums.add(some)
    yield from sums.into(mean)
    yield xp.divide, mean, count, mean
    (centre,) = yield from blocks.beside(mean)
    for (some,) in blocks.each(x):
        work = memory[: some.shape[0]]
        if is_fusing(xp):
            yield partial(_square_beside, xp, out=work), some, centre
        else:
            yield xp.subtract, some, centre, work
            yield xp.square, work, work
        yield from squares.add(work)
    yield from squares.into(variance)
    yield xp.divide, variance, count, variance


@fused
def _square_beside(xp: Any, x: Any, centre: Any) -> Any:
    return xp.square(x - centre)


def _running(
    xp: Any,
    batch: Sequence[Any],
    old: Sequence[Any],
    new: Sequence[Any],
    count: int,
    factor: float,
    room: Any,
) -> Calls:
    """What goes on to the running averages: the variance without its bias, both mixed with the
    old ones by the factor."""
    dtype = new[0].dtype
    yield xp.copyto, new[0], batch[0]
    yield xp.multiply, batch[1], scalar(xp, count / max(count - 1, 1), dtype), new[1]
    if factor != 1:
        kept = room(new[0].shape, dtype)
        for value, place in zip(old, new, strict=True):
            yield xp.multiply, value, scalar(xp, 1.0 - factor, dtype), kept
            yield xp.multiply, place, scalar(xp, factor, dtype), place
            yield xp.add, kept, place, place


def _gradients(
    xp: Any,
    y_backprop: Any,
    x: Any,
    scale: Any,
    reserve_space_1: Any,
    reserve_space_2: Any,
    *reserved: Any,
    epsilon: float,
    data_format: str,
    is_training: bool,
    out: Any,
    room: Any,
) -> Calls:
    to_x, to_scale, to_offset = out[:3]
    dtype = scale.dtype
    x = yield from contiguous(xp, x, x.dtype, room)
    g = yield from contiguous(xp, y_backprop, y_backprop.dtype, room)
    place = to_x if to_x.flags.c_contiguous else room(to_x.shape, to_x.dtype)
    blocks = ChannelBlocks(xp, x.shape, data_format, room)
    spread, root, factor = (room(scale.shape, dtype) for _ in range(3))
    yield xp.add, reserve_space_2, scalar(xp, single(epsilon), dtype), spread
    yield xp.sqrt, spread, root
    yield xp.divide, scalar(xp, 1, dtype), root, root
    yield xp.multiply, scale, root, factor
    memory = blocks.memory(dtype)
    yield from _sums(xp, blocks, (g, x), reserve_space_1, (to_offset, to_scale), memory)
    if is_training and blocks.count:
        shift, slope = (room(scale.shape, dtype) for _ in range(2))
        count = scalar(xp, blocks.count, dtype)
        yield xp.divide, to_offset, count, shift
        yield xp.divide, to_scale, count, slope
        yield xp.divide, slope, spread, slope
        vectors = reserve_space_1, shift, slope, factor
        yield from _trained(xp, blocks, (g, x), vectors, place, memory)
    else:
        (beside,) = yield from blocks.beside(factor)
        for grad, to in blocks.each(g, place):
            yield xp.multiply, grad, beside, to
    yield xp.multiply, to_scale, root, to_scale
    if place is not to_x:
        yield xp.copyto, to_x, place


def _sums(
    xp: Any, blocks: ChannelBlocks, images: Sequence[Any], mean: Any, out: Any, memory: Any
) -> Calls:
    """The sums of g, and of g * (x - mean), of each channel."""
    (centre,) = yield from blocks.beside(mean)
    plain, along = blocks.sums(mean.dtype), blocks.sums(mean.dtype)
    for grad, some in blocks.each(*images):
        work = memory[: some.shape[0]]
        yield from plain.add(grad)
        if is_fusing(xp):
            yield partial(_along, xp, out=work), some, centre, grad
        else:
            yield xp.subtract, some, centre, work
            yield xp.multiply, work, grad, work
        yield from along.add(work)
    yield from plain.into(out[0])
    yield from along.into(out[1])


@fused
def _along(xp: Any, x: Any, centre: Any, g: Any) -> Any:
    return (x - centre) * g


def _trained(
    xp: Any,
    blocks: ChannelBlocks,
    images: Sequence[Any],
    vectors: Sequence[Any],
    out: Any,
    memory: Any,
) -> Calls:
    """(g - shift - (x - mean) * slope) * factor."""
    dtype = vectors[0].dtype
    mean, shift, slope, factor = yield from blocks.beside(*vectors)
    more = None if out.dtype == dtype else blocks.memory(dtype)
    for grad, some, place in blocks.each(*images, out):
        if more is None and is_fusing(xp):
            yield partial(_to_input, xp, out=place), grad, some, mean, shift, slope, factor
            continue
        work = memory[: some.shape[0]]
        rest = place if more is None else more[: some.shape[0]]
        yield xp.subtract, some, mean, work
        yield xp.multiply, work, slope, work
        yield xp.subtract, grad, shift, rest
        yield xp.subtract, rest, work, rest
        yield xp.multiply, rest, factor, place


@fused
def _to_input(xp: Any, g: Any, x: Any, mean: Any, shift: Any, slope: Any, factor: Any) -> Any:
    return (g - shift - (x - mean) * slope) * factor
