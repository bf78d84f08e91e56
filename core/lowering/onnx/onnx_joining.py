"""ONNX's operators that cut tensors up, join and pad them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.lowering.lowering_table import Site, UnloweredError
from gradstep.core.lowering.onnx.onnx_known import known
from gradstep.core.lowering.onnx.onnx_operands import (
    add_axis,
    cast,
    concat,
    fixed_size,
    indices_up_to,
    number,
    positive,
    rank,
    scalar,
    size,
    static_ints,
)
from gradstep.core.lowering.onnx.onnx_table import lower, wanted
from gradstep.core.ops.build.builder import Tensor, call, call_many

_ENDLESS = (1 << 31) - 1


@lower("Concat")
def joined(site: Site, *xs: Tensor, axis: int = 1) -> Tensor:
    return concat(xs, positive(axis, rank(xs[0])))


@lower("Split")
def split(
    site: Site,
    x: Tensor,
    lengths: Tensor | None = None,
    *,
    axis: int = 0,
    split: Sequence[int] | None = None,
    num_outputs: int | None = None,
) -> Sequence[Tensor]:
    """Unless it is told how, in equal parts, of which the last may be smaller."""
    place = positive(axis, rank(x))
    told = split if lengths is None else static_ints(lengths, "the sizes of its parts")
    if told is None:
        whole, count = size(x, place), num_outputs or wanted(site)
        if not isinstance(whole, int):
            return call_many("Split", np.int32(place), x, num_split=count)
        each = -(-whole // count)
        told = [max(0, min(each, whole - i * each)) for i in range(count)]
    sized = np.array(told, np.int64)
    return call_many("SplitV", x, sized, np.int32(place), num_split=len(told))


# -- slices ----------------------------------------------------------------------------------------


@lower("Slice")
def cut(
    site: Site,
    x: Tensor,
    first: Tensor | None = None,
    last: Tensor | None = None,
    which: Tensor | None = None,
    by: Tensor | None = None,
    *,
    starts: Sequence[int] | None = None,
    ends: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
) -> Tensor:
    """All of it was attributes before version 10."""
    if first is None or last is None:
        return _sliced(x, starts or (), ends or (), axes, None)
    places = None if which is None else static_ints(which, "the axes")
    steps = None if by is None else static_ints(by, "the steps")
    begin, end = known(first), known(last)
    if begin is None or end is None:
        return _computed(x, first, last, places, steps)
    return _sliced(x, begin.reshape(-1), end.reshape(-1), places, steps)


def _sliced(
    x: Tensor,
    starts: Sequence[int] | np.ndarray,
    ends: Sequence[int] | np.ndarray,
    axes: Sequence[int] | None,
    steps: Sequence[int] | None,
) -> Tensor:
    index = [slice(None)] * rank(x)
    for i, axis in enumerate(axes if axes is not None else range(len(starts))):
        step = steps[i] if steps else 1
        if step == 0:
            raise UnloweredError("a step of 0")
        begin, end = int(starts[i]), int(ends[i])
        place = positive(axis, rank(x))
        index[place] = _slice(begin, end, step, tuple(x.shape)[place])
    return x[tuple(index)]


def _slice(begin: int, end: int, step: int, length: int | None) -> slice:
    """What goes beyond the ends stops there."""
    if length is not None:
        low = -1 if step < 0 else 0
        high = length - 1 if step < 0 else length
        begin = begin + length if begin < 0 else begin
        end = end + length if end < 0 else end
        begin = min(max(begin, 0 if step > 0 else low), high)
        end = min(max(end, low), length)
        if step > 0:
            return slice(begin, max(begin, end), step)
        return slice(begin, None if end < 0 else end, step) if begin >= 0 else slice(0, 0)
    stop = None if (end > _ENDLESS and step > 0) or (end < -_ENDLESS and step < 0) else end
    return slice(max(-_ENDLESS, min(begin, _ENDLESS)), stop, step)


def _computed(
    x: Tensor,
    first: Tensor,
    last: Tensor,
    axes: Sequence[int] | None,
    steps: Sequence[int] | None,
) -> Tensor:
    """From places that are computed, which beyond the ends stop there, too."""
    count = next(iter(first.shape), None)
    if count is None:
        raise UnloweredError("slices of as many axes as may be any")
    chosen = axes if axes is not None else range(count)
    begin, end = _within(cast(first, DType.INT64)), _within(cast(last, DType.INT64))
    index = [slice(None)] * rank(x)
    for i, axis in enumerate(chosen):
        step = steps[i] if steps else 1
        index[positive(axis, rank(x))] = slice(begin[i], end[i], step)
    return x[tuple(index)]


def _within(places: Tensor) -> Tensor:
    """As int32: numbers beyond that mean the ends."""
    low, high = np.int64(-_ENDLESS), np.int64(_ENDLESS)
    return cast(call("Minimum", call("Maximum", places, low), high), DType.INT32)


# -- padding ---------------------------------------------------------------------------------------


@lower("Pad")
def pad(
    site: Site,
    x: Tensor,
    amounts: Tensor | None = None,
    value_given: Tensor | None = None,
    which: Tensor | None = None,
    *,
    mode: str = "constant",
    pads: Sequence[int] | None = None,
    value: float = 0.0,
) -> Tensor:
    """Less than 0 cuts off. The amounts were an attribute before version 11."""
    told = list(pads or ()) if amounts is None else static_ints(amounts, "the padding")
    count = rank(x)
    axes = [*range(count)] if which is None else static_ints(which, "the axes")
    if len(told) != 2 * len(axes):
        raise UnloweredError(f"{len(told)} amounts of padding for {len(axes)} axes")
    around = np.zeros((count, 2), np.int64)
    for i, axis in enumerate(axes):
        around[positive(axis, count)] = told[i], told[len(axes) + i]
    y = _cut_off(x, around)
    more = np.maximum(around, 0).astype(np.int32)
    if not more.any():
        return y
    if mode == "constant":
        filled = value_given if value_given is not None else scalar(x, value)
        if isinstance(filled, Tensor) and rank(filled):
            filled = call("Reshape", filled, np.zeros(0, np.int32))
        return call("PadV2", y, more, filled)
    return _from_itself(y, more, mode)


def _cut_off(x: Tensor, around: np.ndarray) -> Tensor:
    if not (around < 0).any():
        return x
    index = [slice(max(0, -int(before)), -max(0, -int(after)) or None) for before, after in around]
    return x[tuple(index)]


def _from_itself(x: Tensor, around: np.ndarray, mode: str) -> Tensor:
    for axis, (before, after) in enumerate(around):
        if before or after:
            length = fixed_size(x, axis)
            places = _inside(np.arange(-before, length + after), length, mode)
            x = call("GatherV2", x, places.astype(np.int32), np.int32(axis))
    return x


def _inside(places: np.ndarray, length: int, mode: str) -> np.ndarray:
    """The first and the last again and again; or all of it as if it were a ring; or there and back
    again, as often as it takes, when what is at an end is there once."""
    found: np.ndarray
    if mode == "edge":
        found = np.clip(places, 0, length - 1)
    elif mode == "wrap":
        found = places % length
    else:
        around = places % max(1, 2 * length - 2)
        found = np.where(around >= length, 2 * length - 2 - around, around)
    return found


@lower("CenterCropPad")
def center_crop_pad(
    site: Site, x: Tensor, shape: Tensor, *, axes: Sequence[int] | None = None
) -> Tensor:
    told = static_ints(shape, "the shape")
    chosen = [positive(a, rank(x)) for a in (axes if axes is not None else range(rank(x)))]
    around = np.zeros((rank(x), 2), np.int64)
    for axis, want in zip(chosen, told, strict=True):
        missing = want - fixed_size(x, axis)
        if missing >= 0:
            around[axis] = missing // 2, missing - missing // 2
        else:
            before = -missing // 2
            around[axis] = -before, missing + before
    y = _cut_off(x, around)
    more = np.maximum(around, 0).astype(np.int32)
    return call("PadV2", y, more, scalar(x, 0)) if more.any() else y


# -- others ----------------------------------------------------------------------------------------


@lower("ReverseSequence")
def reverse_sequence(
    site: Site, x: Tensor, lengths: Tensor, *, batch_axis: int = 1, time_axis: int = 0
) -> Tensor:
    return call("ReverseSequence", x, lengths, seq_dim=time_axis, batch_dim=batch_axis)


@lower("Trilu")
def trilu(site: Site, x: Tensor, k: Tensor | None = None, *, upper: int = 1) -> Tensor:
    """Of the last two axes, what is above or below a diagonal, and on it; the rest is 0."""
    rows, columns = (size(x, rank(x) - 2), size(x, rank(x) - 1))
    diagonal = 0 if k is None else int(number(k, "which diagonal"))
    row, column = indices_up_to(site, rows), indices_up_to(site, columns)
    away = call("Sub", add_axis(column, 0), add_axis(row, 1))
    kept = call("GreaterEqual" if upper else "LessEqual", away, np.int32(diagonal))
    return call("SelectV2", kept, x, call("ZerosLike", x))
