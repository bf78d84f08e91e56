"""The elements of a table that are in view, and a little around: what was read of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gradstep.core.graph.dtypes import DType
from gradstep.core.host.tensors.matrix_window import table_size
from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import ReadTable, Table, TensorSlice
from gradstep.core.protocol.tensor_bytes import elements
from gradstep.gui.model.engine_questions import Questions
from gradstep.gui.model.value_cache import Words

_KEPT = 8  # rectangles
_MARGIN = 16  # rows and columns that are read beyond the view


@dataclass(frozen=True, slots=True)
class Rectangle:
    """Rows and columns of a table."""

    row: int
    rows: int
    column: int
    columns: int

    def holds(self, row: int, column: int) -> bool:
        down, across = row - self.row, column - self.column
        return 0 <= down < self.rows and 0 <= across < self.columns

    def covers(self, other: Rectangle) -> bool:
        last = other.row + other.rows - 1, other.column + other.columns - 1
        return self.holds(other.row, other.column) and self.holds(*last)


@dataclass(frozen=True, slots=True)
class _Page:
    place: Rectangle
    values: np.ndarray[Any, Any]


class TablePages:
    """changed: called when there is more to show."""

    def __init__(self, questions: Questions, changed: Callable[[], None]) -> None:
        self._questions, self._changed = questions, changed
        self._pages: deque[_Page] = deque(maxlen=_KEPT)
        self.of = TensorSlice(ref="")
        self.is_opaque = self._is_stale = False
        self.rows = self.columns = 0

    def show(self, of: TensorSlice, sizes: tuple[int, ...], opaque: bool = False) -> None:
        """A slice, of the shape `sizes`; one that is here already is read again, and seen until
        then. opaque: what is said of it is one text."""
        size = table_size(sizes)
        if of != self.of or size != (self.rows, self.columns):
            self._pages.clear()
        self._is_stale = True
        self.of, self.is_opaque = of, opaque
        self.rows, self.columns = size
        if not self.rows or not self.columns:
            self.rows = self.columns = 0

    def value(self, row: int, column: int) -> Any:
        """An element; None while it is on its way."""
        for page in reversed(self._pages):
            if page.place.holds(row, column):
                found = page.values[row - page.place.row, column - page.place.column]
                return Words(found.decode()) if self.is_opaque else found
        return None

    def want(self, seen: Rectangle) -> None:
        """See that what is in view is read."""
        if seen.rows < 1 or seen.columns < 1:
            return
        if not self._is_stale and any(page.place.covers(seen) for page in self._pages):
            return
        row, column = max(0, seen.row - _MARGIN), max(0, seen.column - _MARGIN)
        message = ReadTable(
            of=self.of,
            row=row,
            rows=seen.row - row + seen.rows + _MARGIN,
            column=column,
            columns=seen.column - column + seen.columns + _MARGIN,
        )
        self._questions.ask("table", message, self._keep)

    def _keep(self, reply: Table, buffers: tuple[Buffer, ...]) -> None:
        if self._is_stale:
            self._pages.clear()
            self._is_stale = False
        place = Rectangle(reply.row, reply.rows, reply.column, reply.columns)
        values = elements(buffers[0], DType(reply.dtype).numpy)
        self._pages.append(_Page(place, values.reshape(reply.rows, reply.columns)))
        self._changed()
