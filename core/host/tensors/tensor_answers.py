"""Answering the tensor panel: each question about a slice looks at its elements where they lie."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import numpy as np

from gradstep.core.debug.concurrency.session_registry import Sessions
from gradstep.core.errors import GradstepError
from gradstep.core.graph.dtypes import DType
from gradstep.core.graph.model import TensorRef
from gradstep.core.host.tensor_statistics import summarize
from gradstep.core.host.tensors import tensor_files
from gradstep.core.host.tensors.aggregate import aggregate
from gradstep.core.host.tensors.element_chunks import Array, is_numeric
from gradstep.core.host.tensors.element_numbers import (
    deviation,
    extent,
    histogram,
    percentiles,
)
from gradstep.core.host.tensors.element_search import find
from gradstep.core.host.tensors.matrix_window import MOST, rectangle, table_size
from gradstep.core.host.tensors.other_tensor import Place, other_view, view_of
from gradstep.core.host.tensors.tensor_difference import subtract
from gradstep.core.protocol import messages as m
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.tensor_bytes import pack

Answer = tuple[m.Message, tuple[Buffer, ...]]
Question = (
    m.ReadTable | m.DrawTensor | m.DrawLines | m.DescribeTensor | m.FindElement | m.SaveTensor
)


def answer(request: Question, here: Place, sessions: Sessions) -> Answer:
    """Look at the elements that a question is about. Raises GradstepError where there are none, or
    the slice does not fit."""
    array = here.array(request.of.ref)
    view, other = view_of(request.of, array), other_view(request.of, here, sessions, array)
    if other is None:
        return ANSWERS[type(request)](request, view)
    if isinstance(request, m.ReadTable):  # of however large a tensor
        corner = (request.row, request.rows, request.column, request.columns)
        return _table(request, subtract(rectangle(view, *corner), rectangle(other, *corner)))
    return ANSWERS[type(request)](request, subtract(view, other))


def read_table(request: m.ReadTable, view: Array) -> Answer:
    """The rectangle that is looked at."""
    return _table(
        request, rectangle(view, request.row, request.rows, request.column, request.columns)
    )


def _table(request: m.ReadTable, part: Array) -> Answer:
    rows, columns = part.shape
    kind = DType.of(part.dtype).value
    table = m.Table(dtype=kind, row=request.row, rows=rows, column=request.column, columns=columns)
    return table, (pack(part),)


def draw_tensor(request: m.DrawTensor, view: Array) -> Answer:
    """Pictures of some planes, in the colours' common range."""
    _require_numbers(view)
    view = view.reshape(1, -1) if view.ndim < 2 else view
    image = view if request.channels and view.ndim > 2 else view[..., np.newaxis]
    outer, channels = image.shape[:-3], image.shape[-1]
    total = prod(outer)
    first = min(max(request.first, 0), max(total - 1, 0))
    planes = min(max(request.planes, 0), total - first)
    cells = _cells(request, planes * channels)
    numbers, kinds, block = _planes(image, [*range(first, first + planes)], cells, request.mean)
    if image is not view:
        numbers, kinds = numbers[..., 0], kinds[..., 0]
    least, most = extent(view) or (None, None)
    said = m.TensorPicture(
        shape=[*numbers.shape], first=first, total=total, block=block, least=least, most=most
    )
    return said, (pack(numbers), pack(kinds))


def _cells(request: m.DrawTensor, pictures: int) -> tuple[int, int]:
    """Down and across, so that all pictures together stay within bounds."""
    height, width = max(request.height, 1), max(request.width, 1)
    over = (height * width * max(pictures, 1) / MOST) ** 0.5
    return (max(1, int(height / over)), max(1, int(width / over))) if over > 1 else (height, width)


def _planes(
    image: Array, numbers: list[int], cells: tuple[int, int], mean: bool
) -> tuple[Array, Array, tuple[int, int]]:
    outer, channels = image.shape[:-3], image.shape[-1]
    values, kinds, block = [], [], (1, 1)
    if not numbers or not image.size:
        empty = np.empty((0, 0, 0, channels))
        return empty, empty.astype(np.uint8), block
    for number in numbers:
        plane = image[np.unravel_index(number, outer)] if outer else image
        parts = [aggregate(plane[..., channel], *cells) for channel in range(channels)]
        values.append(np.stack([part.mean if mean else part.extreme for part in parts], -1))
        kinds.append(np.stack([part.kinds for part in parts], -1))
        block = parts[0].block
    return np.stack(values), np.stack(kinds), block


def draw_lines(request: m.DrawLines, view: Array) -> Answer:
    """The rows of the table, or a vector, as lines."""
    _require_numbers(view)
    table = view.reshape(1, -1) if view.ndim < 2 else view
    total, length = table_size(table.shape)
    first = min(max(request.first, 0), max(total - 1, 0))
    lines = min(max(request.lines, 0), total - first)
    block = max(1, -(-length // max(min(request.width, MOST // max(lines, 1)), 1)))
    numbers = np.unravel_index(np.arange(first, first + lines), table.shape[:-1])
    rows = [table[tuple(int(at[i]) for at in numbers)] for i in range(lines)]
    found = [aggregate(row[np.newaxis], 1, -(-length // block)) for row in rows if length]
    parts = (
        np.concatenate([getattr(each, name) for each in found]) if found else np.empty((0, 0))
        for name in ("least", "most", "kinds")
    )
    said = m.TensorLines(lines=len(found), total=total, length=length, block=block)
    return said, tuple(map(pack, parts))


def describe(request: m.DescribeTensor, view: Array) -> Answer:
    """Statistics, as far as numbers have them."""
    stats = summarize(view)
    if stats is None:
        return m.TensorStatistics(size=view.size, stats=m.Stats()), ()
    if stats.minimum is None or stats.maximum is None or stats.mean is None:
        return m.TensorStatistics(size=view.size, stats=stats), ()
    bins = min(max(request.bins, 0), MOST)
    said = m.TensorStatistics(
        size=view.size,
        stats=stats,
        deviation=deviation(view, stats.mean),
        percentiles=percentiles(view, request.percents) if request.percents else [],
        histogram=histogram(view, bins, stats.minimum, stats.maximum) if bins else [],
    )
    return said, ()


def find_element(request: m.FindElement, view: Array) -> Answer:
    """The next element of the kind that is looked for."""
    found = find(view, request.condition, request.start, request.forward)
    return m.FoundElement(position=found.position, number=found.number, count=found.count), ()


def save_tensor(request: m.SaveTensor, view: Array) -> Answer:
    """A file, or its contents."""
    name = TensorRef.parse(request.of.ref).short
    if request.path:
        size = tensor_files.save(view, name, request.path, request.format)
        return m.SavedTensor(size=size), ()
    data = tensor_files.contents(view, name, request.format)
    return m.SavedTensor(size=len(data)), (data,)


def _require_numbers(view: Array) -> None:
    if not is_numeric(view):
        raise GradstepError("its elements are no numbers; the table shows them", kind="TypeError")


ANSWERS: Mapping[type[m.Request], Callable[[Any, Array], Answer]] = {
    m.ReadTable: read_table,
    m.DrawTensor: draw_tensor,
    m.DrawLines: draw_lines,
    m.DescribeTensor: describe,
    m.FindElement: find_element,
    m.SaveTensor: save_tensor,
}
