"""The rows of the watches: an expression, what it is here, and how it went over the runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt

from gradstep.core.protocol.messages import WatchRow
from gradstep.gui.model.number_text import short
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel, Index

EXPRESSION, VALUE, RUNS = range(3)


class WatchModel(CellModel):
    """A row for each expression of the document, with what the engine said of it last; `change`
    gets the place and the new text of one that was edited."""

    headers = ("watch", "here", "over the runs")

    def __init__(self, change: Callable[[int, str], None]) -> None:
        super().__init__()
        self._change = change
        self.texts: tuple[str, ...] = ()
        self.rows: dict[str, WatchRow] = {}

    def show_texts(self, texts: Sequence[str]) -> None:
        """Other expressions; what is known of them stays until more is said."""
        self.beginResetModel()
        self.texts = tuple(texts)
        self.rows = {text: row for text, row in self.rows.items() if text in self.texts}
        self.endResetModel()

    def show_rows(self, rows: Sequence[WatchRow]) -> None:
        """What the engine says of them now."""
        self.rows = {row.text: row for row in rows}
        self.changed()

    def count(self) -> int:
        return len(self.texts)

    def cell(self, row: int, column: int) -> Cell:
        text = self.texts[row]
        if column == EXPRESSION:
            return Cell(text, code=True)
        known = self.rows.get(text)
        if known is None:
            return Cell()
        return _value(known) if column == VALUE else _runs(known)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if role == Qt.ItemDataRole.EditRole and index.isValid():
            return self.texts[index.row()]
        return super().data(index, role)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        return flags | Qt.ItemFlag.ItemIsEditable if index.column() == EXPRESSION else flags

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        text = str(value).strip()
        if role != Qt.ItemDataRole.EditRole or text in ("", self.texts[index.row()]):
            return False
        self._change(index.row(), text)
        return True


def _value(known: WatchRow) -> Cell:
    if known.error:
        tip = f"{known.error}\n{known.hint}" if known.hint else known.error
        return Cell(known.error, "problem", tip=tip)
    if not known.said:
        return Cell("not computed yet", "muted")
    return Cell(known.said, "problem" if known.wrong else "text", code=True)


def _runs(known: WatchRow) -> Cell:
    finite = [n for n in known.numbers if n is not None and abs(n) < float("inf")]
    if known.error or len(known.numbers) < 2 or not finite:
        return Cell()
    what = "norm" if known.is_norm else "number"
    tip = (
        f"its {what} at the end of each of the last {len(known.numbers) - 1} runs, and now: "
        f"{short(min(finite))} … {short(max(finite))}"
    )
    return Cell(tip=tip, numbers=tuple(known.numbers))
