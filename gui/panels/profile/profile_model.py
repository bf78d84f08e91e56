"""The table of a profile as a Qt tree: costs by rows, sorted by any column at every level."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QModelIndex, Qt

from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import Tone, phase_tone
from gradstep.gui.model.cost_tree import NAMED, Cost
from gradstep.gui.model.number_text import byte_size, duration, time_unit
from gradstep.gui.panels.widgets.table_cells import ROLES, Cell, Index

NAME, TYPE, PHASE, SECONDS, SHARE, CALLS, MADE, KERNEL = range(8)
TITLES = ("operation", "type", "phase", "time", "%", "calls", "bytes made", "kernel")
NUMBERS = (SECONDS, SHARE, CALLS, MADE)
CostRole = Qt.ItemDataRole.UserRole + 2
_ASCENDING = Qt.SortOrder.AscendingOrder

_KEYS: Sequence[Callable[[Cost], Any]] = (
    lambda cost: cost.label.casefold(),
    lambda cost: cost.type.casefold(),
    lambda cost: cost.phase,
    lambda cost: cost.seconds,
    lambda cost: cost.seconds,  # or the bytes, where the shares are of these
    lambda cost: cost.calls,
    lambda cost: cost.made,
    lambda cost: cost.kernel.casefold(),
)


class CostModel(QAbstractItemModel):
    """Internal ids number the costs, parents before their children.

    by: "time" or "bytes", what shares are of; total: the whole of it. faded: it is out of date.
    """

    def __init__(self) -> None:
        super().__init__()
        self.by, self.faded = "time", False
        self.total = 0.0
        self._unit, self._scale = "ms", 1e3
        self._costs: list[Cost] = []
        self._parents: list[int] = []
        self._depths: list[int] = []
        self._children: dict[int, list[int]] = {-1: []}
        self._place: list[int] = []
        self._sorted = (SECONDS, Qt.SortOrder.DescendingOrder)

    def show(self, costs: Sequence[Cost], by: str) -> None:
        """Other costs; what is sorted stays so."""
        self.beginResetModel()
        self.by = by
        self.total = sum(cost.amount(by) for cost in costs)
        self._unit, self._scale = time_unit(max((c.seconds for c in costs), default=0.0))
        self._costs, self._parents, self._depths, self._place = [], [], [], []
        self._children = {-1: []}
        for cost in costs:
            self._add(cost, -1, 0)
        self._order(*self._sorted)
        self.endResetModel()

    def fade(self, faded: bool) -> None:
        """Say, or no longer, that it is out of date."""
        if faded != self.faded:
            self.faded = faded
            self.layoutChanged.emit()

    def _add(self, cost: Cost, parent: int, depth: int) -> None:
        number = len(self._costs)
        self._costs.append(cost)
        self._parents.append(parent)
        self._depths.append(depth)
        self._place.append(0)
        self._children[parent].append(number)
        self._children[number] = []
        for child in cost.children:
            self._add(child, number, depth + 1)

    # -- what is where -------------------------------------------------------------------------

    def cost_at(self, index: Index) -> Cost | None:
        return self._costs[index.internalId()] if index.isValid() else None

    def depth_of(self, index: Index) -> int:
        """How many groups a row is in."""
        return self._depths[index.internalId()]

    def indexes(self) -> Iterator[tuple[Cost, QModelIndex]]:
        """Every row, parents first."""
        for number, cost in enumerate(self._costs):
            yield cost, self._index(number)

    def find(self, name: str) -> QModelIndex:
        """The row of a forward operation: its group, or of its rows the one that costs most."""
        found = [i for i, cost in enumerate(self._costs) if cost.names == (name,)]
        return self._index(max(found, key=self._rank, default=-1))

    def _rank(self, number: int) -> tuple[int, float]:
        return -self._depths[number], self._costs[number].amount(self.by)

    def _index(self, number: int, column: int = 0) -> QModelIndex:
        if number < 0:
            return QModelIndex()
        return self.createIndex(self._place[number], column, number)

    # -- sorting -------------------------------------------------------------------------------

    def sort(self, column: int, order: Qt.SortOrder = _ASCENDING) -> None:
        self.layoutAboutToBeChanged.emit()
        before = self.persistentIndexList()
        self._order(column, order)
        after = [self._index(index.internalId(), index.column()) for index in before]
        self.changePersistentIndexList(before, after)
        self.layoutChanged.emit()

    def _order(self, column: int, order: Qt.SortOrder) -> None:
        self._sorted = (column, order)
        by_bytes = column == SHARE and self.by == "bytes"
        key = _KEYS[MADE if by_bytes else column]
        for siblings in self._children.values():
            siblings.sort(key=lambda i: key(self._costs[i]), reverse=order is not _ASCENDING)
            for place, number in enumerate(siblings):
                self._place[number] = place

    # -- what Qt asks ----------------------------------------------------------------------------

    def _number(self, index: Index) -> int:
        return int(index.internalId()) if index.isValid() else -1

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        children = self._children[self._number(parent)]
        if not (0 <= row < len(children) and 0 <= column < len(TITLES)):
            return QModelIndex()
        return self._index(children[row], column)

    def parent(self, index: Index) -> QModelIndex:  # type: ignore[override]
        return self._index(self._parents[self._number(index)]) if index.isValid() else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.column() > 0 else len(self._children[self._number(parent)])

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return len(TITLES)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        cost = self.cost_at(index)
        if cost is None:
            return None
        if role == CostRole:
            return cost
        answer = ROLES.get(role)
        return None if answer is None else answer(self.cell(cost, index.column()))

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        if orientation is not Qt.Orientation.Horizontal or section >= len(TITLES):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{TITLES[section]} {self._unit}" if section == SECONDS else TITLES[section]
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(self._header_tip(section)) or None
        return None

    def _header_tip(self, section: int) -> str:
        whole = self.tr("all time measured") if self.by == "time" else self.tr("all bytes made")
        return {
            SECONDS: self.tr("median of the runs, without what looking at the clock costs"),
            SHARE: self.tr("share of {}").format(whole),
            CALLS: self.tr("bound calls a run; 0 looks at another's memory"),
            MADE: self.tr("bytes of the results, a run"),
            KERNEL: self.tr("what computes it, if not NumPy"),
        }.get(section, "")

    # -- cells -----------------------------------------------------------------------------------

    def share(self, cost: Cost) -> float:
        """Of the whole, from 0 to 1."""
        return cost.amount(self.by) / self.total if self.total else 0.0

    def cell(self, cost: Cost, column: int) -> Cell:
        """What a row says in a column."""
        text, tone, code = self._said(cost, column)
        right = column in NUMBERS
        tip = self._tip(cost) if column == NAME else ""
        return Cell(text, "muted" if self.faded else tone, code=code, right=right, tip=tip)

    def _said(self, cost: Cost, column: int) -> tuple[str, Tone, bool]:
        """Text, tone, and whether it is a number or a name in code."""
        if column == NAME:
            return cost.label, "text", False
        if column == TYPE:
            return cost.type, "muted", False
        if column == PHASE:
            return cost.phase, phase_tone(cost.phase), False
        if column == KERNEL:
            return cost.kernel or "", "muted", False
        return self._number_text(cost, column), "text" if cost.calls else "faint", True

    def _number_text(self, cost: Cost, column: int) -> str:
        if column == SECONDS:
            return f"{cost.seconds * self._scale:.3f}"
        if column == SHARE:
            return f"{100 * self.share(cost):.1f}"
        if column == CALLS:
            return str(cost.calls)
        number, unit = byte_size(cost.made).split()
        return f"{number} {unit:<2}"  # so that numbers stand over each other

    def _tip(self, cost: Cost) -> str:
        lines = [cost.name, f"{duration(cost.seconds)} · {byte_size(cost.made)}"]
        if len(cost.also) > 1:
            lines += cost.also[:NAMED]
            lines += ["…"] if len(cost.also) > NAMED else []
        elif cost.also and cost.also[0] not in cost.name:
            lines.append(cost.also[0])
        return "\n".join(lines)
