"""The table of a tensor's elements, read from the engine in pages, where it is looked at."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from PySide6.QtCore import QModelIndex, Qt

from gradstep.core.protocol.framing import Buffer
from gradstep.core.protocol.messages import Message, Read, Values
from gradstep.core.protocol.tensor_bytes import unpack
from gradstep.gui.look import number_text
from gradstep.gui.look.theme import Tone
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel, Index
from gradstep.gui.panels.widgets.tensor_slices import Slice, first_slice

PAGE = 1024  # elements of one read
_KEPT = 64  # pages

Answer = Callable[[Message, tuple[Buffer, ...]], None]
Request = Callable[..., None]


class TensorModel(CellModel):
    """`request` is Workspace.request. What is not here yet shows as "…"."""

    def __init__(self, request: Request) -> None:
        super().__init__()
        self._request = request
        self._ref = ""
        self._tone: Tone = "text"
        self._asked: set[int] = set()
        self._pages: OrderedDict[int, np.ndarray[Any, Any]] = OrderedDict()
        self._life = 0  # replies to questions of an earlier life are dropped
        self.slice = Slice((0,))
        self.marked: Collection[tuple[int, ...]] = ()

    def show(
        self, value: TensorValue | None, tone: Tone, marked: Collection[tuple[int, ...]] = ()
    ) -> None:
        """Show a known tensor, or nothing."""
        self.beginResetModel()
        self._forget()
        self._tone, self.marked = tone, marked
        shape = (0,) if value is None or value.state != "known" else value.shape
        if value is None or value.ref != self._ref or shape != self.slice.shape:
            self.slice = first_slice(shape)
        self._ref = value.ref if value is not None else ""
        if value is not None and value.head.size == self.slice.elements:
            self._pages[0] = value.head
        self.endResetModel()

    def show_slice(self, part: Slice) -> None:
        """Another table of the same tensor."""
        self.beginResetModel()
        self.slice = part
        self.endResetModel()

    def count(self) -> int:
        return self.slice.rows if self.slice.elements else 0

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() or not self.slice.elements else self.slice.columns

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if role != Qt.ItemDataRole.DisplayRole:
            return None
        across = orientation is Qt.Orientation.Horizontal
        return "" if across and len(self.slice.shape) < 2 else str(section)

    def cell(self, row: int, column: int) -> Cell:
        value = self.element(self.slice.number(row, column))
        index = self.slice.index(row, column)
        where = f"[{', '.join(map(str, index))}]"
        if value is None:
            return Cell("…", "faint", code=True, right=True, tip=where)
        wrong = isinstance(value, float | np.floating) and bool(number_text.not_finite(value))
        marked = index in self.marked
        return Cell(
            number_text.scalar(value),
            "problem" if wrong or marked else self._tone,
            code=True,
            strong=marked,
            fill="problem_fill" if marked else "",
            tip=f"{where} = {value}",
            right=True,
        )

    def element(self, number: int) -> Any:
        """Element `number` (row-major); None while it is on its way."""
        if 0 in self._pages and self._pages[0].size == self.slice.elements:
            return self._pages[0][number]
        page, place = divmod(number, PAGE)
        if page in self._pages:
            self._pages.move_to_end(page)
            return self._pages[page][place]
        self._read(page)
        return None

    def _read(self, page: int) -> None:
        if page in self._asked:
            return
        self._asked.add(page)
        life = self._life

        def answered(reply: Message, buffers: tuple[Buffer, ...]) -> None:
            if life == self._life and isinstance(reply, Values) and reply.parts:
                self._keep(page, unpack(reply.parts[0], buffers))

        self._request(Read(refs=[self._ref], limit=PAGE, offset=page * PAGE), (), answered)

    def _keep(self, page: int, values: np.ndarray[Any, Any]) -> None:
        self._asked.discard(page)
        if values.size < min(PAGE, self.slice.elements - page * PAGE):
            return  # the tensor is not what it was; a new reading follows
        self._pages[page] = values
        while len(self._pages) > _KEPT:
            self._pages.popitem(last=False)
        self.changed()

    def _forget(self) -> None:
        self._life += 1
        self._asked.clear()
        self._pages.clear()
