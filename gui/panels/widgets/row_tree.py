"""The tree of named rows behind the outline and the palette: one label, one detail, children."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from PySide6.QtCore import QAbstractItemModel, QMimeData, QModelIndex, QPersistentModelIndex, Qt

from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import Tone

Index = QModelIndex | QPersistentModelIndex

RowRole = Qt.ItemDataRole.UserRole

# Qt asks for the flags of every row that is not folded away, of leaves twice; or-ing them is slow.
_NO_FLAGS = Qt.ItemFlag.NoItemFlags
_GROUP = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_LEAF = _GROUP | Qt.ItemFlag.ItemNeverHasChildren
_DRAGGED = {flags: flags | Qt.ItemFlag.ItemIsDragEnabled for flags in (_GROUP, _LEAF)}


class Row(NamedTuple):
    """key:     stable identity, by which expansion and selection survive a rebuild.
    detail:  right-aligned remark, drawn in the theme colour named `tone`.
    name:    what the row stands for (an operation's name, an op type); "" for groups and scopes.
    heading: a group of the top level, drawn bold.
    open:    whether its children show at first.
    problem: text of the problem at this row, or "".
    yields:  the detail leaves the label all the room that it needs.
    tip:     tool tip; where there is none, what the model's `describe` says of the name.
    """

    key: str
    label: str
    detail: str = ""
    tone: Tone = "muted"
    name: str = ""
    heading: bool = False
    open: bool = True
    problem: str = ""
    yields: bool = False
    tip: str = ""
    children: tuple[Row, ...] = ()


def walk(rows: Sequence[Row]) -> Iterator[Row]:
    """Every row, parents before their children."""
    for row in rows:
        yield row
        yield from walk(row.children)


class RowTreeModel(QAbstractItemModel):
    """Rows as a Qt tree: `shown`. Internal ids number them in depth-first order. describe: the tool
    tip of rows that have none of their own."""

    def __init__(self, mime_type: str = "") -> None:
        super().__init__()
        self._mime_type = mime_type
        self.describe: Callable[[str], str] = lambda name: ""
        self.shown: list[Row] = []
        self._rows: list[Row] = []
        self._parents: list[int] = []
        self._children: dict[int, Sequence[int]] = {-1: ()}
        self._place: list[int] = []

    def set_rows(self, rows: Sequence[Row]) -> bool:
        """Replace the whole tree. Returns whether it is another one."""
        if list(rows) == self.shown:
            return False
        self.beginResetModel()
        self.shown = list(rows)
        self._rows, self._parents, self._place = [], [], []
        self._children = {-1: ()}
        self._add(rows, -1)
        self.endResetModel()
        return True

    def _add(self, rows: Sequence[Row], parent: int) -> None:
        if not any(row.children for row in rows):  # there may be thousands
            first = len(self._rows)
            self._children[parent] = range(first, first + len(rows))
            self._rows += rows
            self._parents += [parent] * len(rows)
            self._place += range(len(rows))
            return
        siblings: list[int] = []
        self._children[parent] = siblings
        for place, row in enumerate(rows):
            number = len(self._rows)
            siblings.append(number)
            self._rows.append(row)
            self._parents.append(parent)
            self._place.append(place)
            if row.children:
                self._add(row.children, number)

    def row_at(self, index: Index) -> Row | None:
        return self._rows[index.internalId()] if index.isValid() else None

    def groups(self) -> Iterator[tuple[Row, QModelIndex]]:
        """Every row that has children, with its index."""
        for number in self._children:
            if number >= 0:
                yield self._rows[number], self._index(number)

    def ranges(self, names: Collection[str]) -> Iterator[tuple[QModelIndex, QModelIndex]]:
        """The rows of these names as runs of neighbours: first and last of each."""
        for siblings in self._children.values():
            runs = groupby(siblings, key=lambda number: self._rows[number].name in names)
            for wanted, run in runs:
                if wanted:
                    first, *more = run
                    yield self._index(first), self._index(more[-1] if more else first)

    def _index(self, number: int) -> QModelIndex:
        if number < 0:
            return QModelIndex()
        return self.createIndex(self._place[number], 0, number)

    # -- what Qt asks ------------------------------------------------------------------------

    def _number(self, index: Index) -> int:
        return int(index.internalId()) if index.isValid() else -1

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        children = self._children.get(parent.internalId() if parent.isValid() else -1, ())
        if column == 0 and 0 <= row < len(children):
            return self.createIndex(row, 0, children[row])
        return QModelIndex()

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        return self._index(self._parents[self._number(index)]) if index.isValid() else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(self._children.get(self._number(parent), ()))

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        row = self.row_at(index)
        if row is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return row.label
        if role == RowRole:
            return row
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(row.problem or row.tip or self.describe(row.name)) or None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{row.label} {row.detail} {row.problem}".strip()
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return _NO_FLAGS
        row = self._rows[index.internalId()]
        flags = _GROUP if row.children else _LEAF
        return _DRAGGED[flags] if self._mime_type and row.name else flags

    def mimeTypes(self) -> list[str]:
        return [self._mime_type] if self._mime_type else []

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        row = self.row_at(indexes[0]) if indexes else None
        if row is not None:
            data.setData(self._mime_type, row.name.encode())
        return data
