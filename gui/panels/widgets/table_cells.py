"""Table cells as values: a model says what each cell is, and one place answers Qt's roles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QPersistentModelIndex, Qt

from gradstep.core.graph.problems import Severity
from gradstep.core.visible_text import visible
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import Tone

Index = QModelIndex | QPersistentModelIndex
Fill = Tone | Literal["", "hatched"]
_R = TypeVar("_R")
CellRole = Qt.ItemDataRole.UserRole + 1


@dataclass(frozen=True, slots=True)
class Cell:
    """tone: theme colour of the text; fill: theme colour of the background, or "hatched";
    sign: severity of a problem sign drawn in place of the text; checked: a box before it;
    code: monospace; name: of something, whose end tells it from others, so that the middle is left
    out where there is no room; ending: of such a text, what is left out last; numbers: drawn as a
    line in place of the text; tip: tool tip, the text itself when elided."""

    text: str = ""
    tone: Tone = "text"
    code: bool = False
    name: bool = False
    ending: str = ""
    strong: bool = False
    fill: Fill = ""
    sign: Severity | Literal[""] = ""
    tip: str = ""
    numbers: tuple[float | None, ...] = ()
    right: bool = False
    checked: bool | None = None


ROLES: dict[int, Callable[[Cell], Any]] = {  # what a cell answers to Qt
    Qt.ItemDataRole.DisplayRole: lambda cell: visible(cell.text),
    Qt.ItemDataRole.EditRole: lambda cell: cell.text,
    Qt.ItemDataRole.ToolTipRole: lambda cell: plain(cell.tip or cell.text) or None,
    Qt.ItemDataRole.AccessibleTextRole: lambda cell: cell.text or cell.tip,
    CellRole: lambda cell: cell,
}


class CellModel(QAbstractTableModel):
    """A table of cells; a subclass gives `headers`, `count` and `cell`."""

    headers: Sequence[str] = ()

    def count(self) -> int:
        """Number of rows."""
        raise NotImplementedError

    def cell(self, row: int, column: int) -> Cell:
        raise NotImplementedError

    def changed(self) -> None:
        """The cells say something else now; their number is the same."""
        if self.rowCount():
            last = self.index(self.rowCount() - 1, self.columnCount() - 1)
            self.dataChanged.emit(self.index(0, 0), last)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else self.count()

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.headers)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        answer = ROLES.get(role)
        if answer is None or not index.isValid():
            return None
        return answer(self.cell(index.row(), index.column()))

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        across = orientation is Qt.Orientation.Horizontal
        if across and role == Qt.ItemDataRole.DisplayRole and section < len(self.headers):
            return self.headers[section]
        return None


class RowModel(CellModel, Generic[_R]):
    """A table with a row for each of some things; a subclass gives `headers` and `cell`."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: Sequence[_R] = ()

    def show(self, rows: Sequence[_R]) -> None:
        """Others; the selection goes."""
        self.beginResetModel()
        self.rows = rows
        self.endResetModel()

    def count(self) -> int:
        return len(self.rows)
