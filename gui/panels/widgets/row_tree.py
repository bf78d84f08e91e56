"""The tree of named rows behind the outline and the palette: one label, one detail, children."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QMimeData, QModelIndex, QPersistentModelIndex, Qt

from gradstep.core.persistent.sequence_places import common_ends
from gradstep.gui.look.plain_text import plain
from gradstep.gui.panels.widgets.row_list import Row, RowList, listed

Index = QModelIndex | QPersistentModelIndex

RowRole = Qt.ItemDataRole.UserRole

# Qt asks for the flags of every row that is not folded away, twice; or-ing them is slow.
_NO_FLAGS = Qt.ItemFlag.NoItemFlags
_GROUP = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
_LEAF = _GROUP | Qt.ItemFlag.ItemNeverHasChildren
_DRAGGED = {flags: flags | Qt.ItemFlag.ItemIsDragEnabled for flags in (_GROUP, _LEAF)}


MANY = 400  # rows of a level that a view was told; if there are more, all of it is told again


class _Spliced(RowList):
    """`rows`, with `came` of `others` from `start` on in the place of `gone` of its own."""

    def __init__(
        self, rows: RowList, others: RowList, start: int, gone: int, came: int = 0
    ) -> None:
        self._rows, self._others = rows, others
        self._start, self._stop, self._by = start, start + came, gone - came

    def __len__(self) -> int:
        return len(self._rows) - self._by

    def make(self, place: int) -> Row:
        rows, own = self._at(place)
        return rows[own]

    def is_group(self, place: int) -> bool:
        rows, own = self._at(place)
        return rows.is_group(own)

    def _at(self, place: int) -> tuple[RowList, int]:
        if place < self._start:
            return self._rows, place
        if place < self._stop:
            return self._others, place
        return self._rows, place + self._by


class _Level:
    """The rows below the one at `place` of the level `above`. count: of them, for Qt asks at each;
    below: of those of its rows that were looked into; told: the rows that a view knows."""

    def __init__(self, id: int, above: _Level | None, place: int, rows: RowList) -> None:
        self.id, self.above, self.place = id, above, place
        self.have(rows)
        self.below: dict[int, _Level] = {}
        self.told: dict[int, Row] = {}

    def have(self, rows: RowList) -> None:
        """These rows, of which views are told what differs."""
        self.rows, self.count = rows, len(rows)

    def put(self, rows: RowList) -> None:
        """Other rows, of which views will ask."""
        self.have(rows)
        self.told.clear()

    def tell(self, place: int) -> Row:
        found = self.told.get(place)
        if found is None:
            found = self.told[place] = self.rows[place]
        return found

    def differing(self) -> Iterator[int]:
        """The places of rows that look otherwise than a view was told."""
        if len(self.told) > MANY:
            self.told.clear()
            yield from (0, len(self.rows) - 1)
        for place, told in [*self.told.items()]:
            now = self.told[place] = self.rows.make(place)
            # What a view shows of it: all but the rows below, of which only whether there are any.
            if now[:-1] != told[:-1] or bool(now.children) != bool(told.children):
                yield place


class RowTreeModel(QAbstractItemModel):
    """Rows as a Qt tree: `shown`. Internal ids are those of levels, which are made when a row is
    looked into. describe: the tool tip of rows that have none of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.describe: Callable[[str], str] = lambda name: ""
        self._clear(())

    @property
    def shown(self) -> Sequence[Row]:
        return self._root.rows

    def _clear(self, rows: Sequence[Row]) -> None:
        self._root = _Level(0, None, 0, listed(rows))
        self._levels = {0: self._root}
        self._count = 0
        self._came: list[tuple[_Level, int, int]] = []  # with the last rows: from where, how many

    def reset(self, rows: Sequence[Row]) -> None:
        """Show another tree."""
        self.beginResetModel()
        self._clear(rows)
        self.endResetModel()

    def set_rows(self, rows: Sequence[Row]) -> bool:
        """Let the tree become this one: rows with the same keys stay. Returns whether rows came or
        went."""
        self._came.clear()
        is_other = self._revise(self._root, listed(rows))
        for level in [*self._levels.values()]:
            self._say_what_differs(level)
        return is_other

    def row_at(self, index: Index) -> Row | None:
        return self._levels[index.internalId()].tell(index.row()) if index.isValid() else None

    def groups(self, parent: Index = QModelIndex()) -> Iterator[tuple[Row, QModelIndex]]:  # noqa: B008
        """The rows below one that have children themselves, with their indexes."""
        if (level := self._below(parent)) is not None:
            for place in level.rows.groups:
                yield level.rows[place], self.createIndex(place, 0, level.id)

    def groups_that_came(self) -> Iterator[tuple[Row, QModelIndex]]:
        """Those among the rows that `set_rows` put in between others."""
        for level, first, count in self._came:
            for place in range(first, first + count):
                if level.id in self._levels and level.rows.is_group(place):
                    yield level.rows[place], self.createIndex(place, 0, level.id)

    def ranges(self, names: Collection[str]) -> Iterator[tuple[QModelIndex, QModelIndex]]:
        """The rows of these names as runs of neighbours: first and last of each."""
        yield from self._ranges(self._root, names)

    def _ranges(
        self, level: _Level, names: Collection[str]
    ) -> Iterator[tuple[QModelIndex, QModelIndex]]:
        found = [*level.rows.holding(names)]
        own = [place for place, inside in found if not inside]
        ends = [i for i, place in enumerate(own) if own[i + 1 : i + 2] != [place + 1]]
        starts = [0, *(i + 1 for i in ends)]
        for first, last in zip(starts, ends, strict=False):
            a, b = (self.createIndex(own[i], 0, level.id) for i in (first, last))
            yield a, b
        for place, inside in found:
            if inside and (below := self._below_row(level, place)) is not None:
                yield from self._ranges(below, inside)

    # -- levels --------------------------------------------------------------------------------

    def _below(self, index: Index) -> _Level | None:
        place = index.row()
        if place < 0:
            return self._root
        level = self._levels[index.internalId()]
        return level.below.get(place) or self._below_row(level, place)

    def _below_row(self, level: _Level, place: int) -> _Level | None:
        """The level below a row; None where there is none."""
        found = level.below.get(place)
        if found is None and level.rows.is_group(place):
            self._count += 1
            rows = listed(level.rows[place].children)
            found = level.below[place] = _Level(self._count, level, place, rows)
            self._levels[found.id] = found
        return found

    def _index_of(self, level: _Level) -> QModelIndex:
        """Of the row that a level is below."""
        if level.above is None:
            return QModelIndex()
        return self.createIndex(level.place, 0, level.above.id)

    def _revise(self, level: _Level, rows: RowList) -> bool:
        if rows is level.rows:
            return False
        old, new = level.rows.keys, rows.keys
        is_other = old != new
        if is_other:
            self._put(level, rows, old, new)
        level.have(rows)
        for place, below in [*level.below.items()]:
            is_other |= self._revise(below, listed(rows[place].children))
        return is_other

    def _say_what_differs(self, level: _Level) -> None:
        if places := [*level.differing()]:
            first, last = (self.createIndex(f(places), 0, level.id) for f in (min, max))
            self.dataChanged.emit(first, last)

    def _put(
        self, level: _Level, rows: RowList, old: Sequence[Hashable], new: Sequence[Hashable]
    ) -> None:
        """Put other rows between those that both begin and end with."""
        first, last = common_ends(old, new)
        gone, came = len(old) - first - last, len(new) - first - last
        if gone == came == 1 and not (level.rows.is_group(first) or rows.is_group(first)):
            return  # another name, and nothing moves
        parent, before = self._index_of(level), level.rows
        if gone:
            self.beginRemoveRows(parent, first, first + gone - 1)
            level.put(_Spliced(before, rows, first, gone))
            self._move_below(level, first, first + gone, -gone)
            self.endRemoveRows()
        if came:
            self.beginInsertRows(parent, first, first + came - 1)
            level.put(_Spliced(before, rows, first, gone, came))
            self._move_below(level, first, first, came)
            self.endInsertRows()
            self._came.append((level, first, came))

    def _move_below(self, level: _Level, start: int, stop: int, by: int) -> None:
        """Rows from `stop` on have moved; those from `start` to there are gone."""
        found, level.below = level.below, {}
        for place, below in found.items():
            if start <= place < stop:
                self._drop(below)
            else:
                below.place = place + by if place >= stop else place
                level.below[below.place] = below

    def _drop(self, level: _Level) -> None:
        del self._levels[level.id]
        for below in level.below.values():
            self._drop(below)

    # -- what Qt asks ------------------------------------------------------------------------

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        level = self._below(parent)
        if level is not None and column == 0 and 0 <= row < level.count:
            return self.createIndex(row, 0, level.id)
        return QModelIndex()

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        level = self._levels.get(index.internalId()) if index.isValid() else None
        return QModelIndex() if level is None else self._index_of(level)

    def hasChildren(self, parent: Index = QModelIndex()) -> bool:  # noqa: B008
        place = parent.row()
        if place < 0:
            return self._root.count > 0
        return self._levels[parent.internalId()].rows.is_group(place)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        level = self._below(parent)
        return 0 if level is None else level.count

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


class DraggedRowTreeModel(RowTreeModel):
    """Rows that can be dragged, as data of the type `mime_type` that holds their name. Of others Qt
    has the flags without asking Python, row by row."""

    def __init__(self, mime_type: str) -> None:
        super().__init__()
        self._mime_type = mime_type

    def flags(self, index: Index) -> Qt.ItemFlag:
        place = index.row()
        if place < 0:
            return _NO_FLAGS
        rows = self._levels[index.internalId()].rows
        flags = _GROUP if rows.is_group(place) else _LEAF
        return _DRAGGED[flags] if rows[place].name else flags

    def mimeTypes(self) -> list[str]:
        return [self._mime_type]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        row = self.row_at(indexes[0]) if indexes else None
        if row is not None:
            data.setData(self._mime_type, row.name.encode())
        return data
