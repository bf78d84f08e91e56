"""The gradient of a concatenation whose reader used some rows only: it stays IndexedSlices."""

from __future__ import annotations

from typing import Any

import numpy as np

from gradstep.core.errors import GradstepError
from gradstep.core.ops.build.builder import Tensor, call
from gradstep.core.ops.build.indexed_slices import IndexedSlices
from gradstep.core.ops.declare.host_arrays import integer
from gradstep.core.ops.typing.static_values import shape_of

_ZERO = np.array(0, np.int32)


def rows_of_each(values: list[Tensor], axis: Any, g: IndexedSlices) -> list[IndexedSlices]:
    """The rows of `g`, a gradient of `values` joined along `axis` (an array, None: not known),
    that belong to each of them. Raises GradstepError where TensorFlow cannot do it either."""
    if axis is None:
        raise _unknown("Can only compute IndexedSlices gradient with statically-known concat_dim")
    at, rank = integer(axis), values[0].shape.rank
    if at < 0 and rank is None:
        raise _unknown(
            "Can only compute IndexedSlices gradient with negative concat_dim when first value "
            "rank is statically-known."
        )
    at = at % rank if rank else at
    return _chosen_rows(values, g) if at == 0 else _parts_of_rows(values, at, g)


def _unknown(message: str) -> GradstepError:
    return GradstepError(message, kind="ValueError", hint="give the axis as a Const")


def _chosen_rows(values: list[Tensor], g: IndexedSlices) -> list[IndexedSlices]:
    """One after the other: each gets the rows whose numbers are its own."""
    kind = g.indices.dtype
    start: Any = np.array(0, kind.numpy)
    found = []
    for value in values:
        sizes = shape_of(value)
        end = start + _count(sizes, kind)
        own = call(
            "LogicalAnd", call("GreaterEqual", g.indices, start), call("Less", g.indices, end)
        )
        places = call("Squeeze", call("Where", own), squeeze_dims=(1,))
        rows = call("GatherV2", g.indices, places, _ZERO) - start
        found.append(IndexedSlices(call("GatherV2", g.values, places, _ZERO), rows, sizes))
        start = end
    return found


def _count(sizes: Tensor | np.ndarray, kind: Any) -> Any:
    """The first size as an index of element type `kind`."""
    if isinstance(sizes, np.ndarray):
        return np.array(sizes[0], kind.numpy)
    first = call("GatherV2", sizes, _ZERO, _ZERO)
    return first if first.dtype == kind else call("Cast", first, DstT=kind)


def _parts_of_rows(values: list[Tensor], axis: int, g: IndexedSlices) -> list[IndexedSlices]:
    """Side by side: each gets its part of every row."""
    found = []
    begin: Any = None
    for value in values:
        sizes = shape_of(value)
        begin = _nowhere(sizes) if begin is None else begin
        part = call("Slice", g.values, begin, _all_rows(sizes))
        found.append(IndexedSlices(part, g.indices, sizes))
        begin = _after(begin, sizes, axis)
    return found


def _nowhere(sizes: Tensor | np.ndarray) -> Any:
    return np.zeros_like(sizes) if isinstance(sizes, np.ndarray) else call("ZerosLike", sizes)


def _all_rows(sizes: Tensor | np.ndarray) -> Any:
    """`sizes` with -1, all there are, in the first place."""
    if isinstance(sizes, np.ndarray):
        return np.array([-1, *sizes[1:]], np.int32)
    row = call("Slice", sizes, np.array([1], np.int32), np.array([-1], np.int32))
    return call("ConcatV2", np.array([-1], np.int32), row, _ZERO)


def _after(begin: Any, sizes: Tensor | np.ndarray, axis: int) -> Any:
    """`begin` moved on along `axis` by the size there."""
    if isinstance(sizes, np.ndarray) and isinstance(begin, np.ndarray):
        unit = np.arange(len(sizes)) == axis
        return (begin + sizes * unit).astype(np.int32)
    places = call("Range", _ZERO, call("Size", sizes), np.array(1, np.int32))
    unit_op = call("Cast", call("Equal", places, np.array(axis, np.int32)), DstT="int32")
    return call("AddV2", begin, call("Mul", sizes, unit_op))
