"""The list in the search menu: entries in their groups, or the matches of a search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QBrush, QPalette
from PySide6.QtWidgets import QFrame, QHeaderView, QTreeWidget, QTreeWidgetItem

_ROWS, _ROW_HEIGHT = 11, 22
_NAMED = 8  # entries of a group that are named below
_ROW = QSize(0, _ROW_HEIGHT)
_EntryRole = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class Entry:
    """title: what is searched and shown; detail: shown beside it; help: shown below, and searched
    after the titles; choose: what to do; groups: headings it stands under while nothing is
    searched, the outer one first; aliases: other names that find it; late: there is something
    newer in its place."""

    title: str
    detail: str
    help: str
    choose: Callable[[], object]
    groups: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    late: bool = False


class EntryList(QTreeWidget):
    """Never has the focus: who types in the field above moves in it with the arrows."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("search_menu_list")
        self.setAccessibleName("Matches")
        self.setColumnCount(2)
        self.setHeaderHidden(True)
        self.setRootIsDecorated(False)
        self.setIndentation(12)
        self.setUniformRowHeights(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setExpandsOnDoubleClick(False)
        self.header().setStretchLastSection(False)
        self.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedHeight(_ROWS * _ROW_HEIGHT)

    def show_matches(self, entries: Sequence[Entry]) -> None:
        """One entry below the other, the first one current."""
        self.clear()
        self.addTopLevelItems([self._item(entry, entry.detail) for entry in entries])
        self._go_to_first()

    def show_groups(self, entries: Sequence[Entry]) -> None:
        """Entries under their headings, which are closed."""
        self.clear()
        found: dict[tuple[str, ...], QTreeWidgetItem] = {(): self.invisibleRootItem()}
        for entry in entries:
            self._group(found, entry.groups).addChild(self._item(entry, ""))
        for groups, item in found.items():
            if groups:
                self._finish(item, len(groups) == 1)
        self._go_to_first()

    def current_entry(self) -> Entry | None:
        """The entry at the current row; None at a heading."""
        item = self.currentItem()
        return None if item is None else _entry_of(item)

    def fold(self) -> None:
        """Open the current heading, or close it."""
        item = self.currentItem()
        if item is not None:
            item.setExpanded(not item.isExpanded())

    def inside(self) -> str:
        """What stands under the current heading, in words."""
        item = self.currentItem()
        titles = _titles(item) if item is not None else []
        return ", ".join(titles[:_NAMED]) + (", …" if len(titles) > _NAMED else "")

    def _go_to_first(self) -> None:
        first = self.topLevelItem(0)
        if first is not None:
            self.setCurrentItem(first)

    def _group(
        self, found: dict[tuple[str, ...], QTreeWidgetItem], groups: tuple[str, ...]
    ) -> QTreeWidgetItem:
        if groups not in found:
            item = found[groups] = QTreeWidgetItem([groups[-1]])
            item.setSizeHint(0, _ROW)
            self._group(found, groups[:-1]).addChild(item)
        return found[groups]

    def _finish(self, item: QTreeWidgetItem, outermost: bool) -> None:
        titles = list(_titles(item))
        item.setText(1, str(len(titles)))
        item.setForeground(1, self._faint)
        font = item.font(0)
        font.setBold(outermost)
        item.setFont(0, font)
        words = f"{item.text(0)}, {len(titles)} entries"
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, words)

    def _item(self, entry: Entry, detail: str) -> QTreeWidgetItem:
        item = QTreeWidgetItem([entry.title, detail])
        item.setSizeHint(0, _ROW)
        item.setForeground(1, self._faint)
        item.setData(0, _EntryRole, entry)
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{entry.title}. {entry.help}")
        return item

    @property
    def _faint(self) -> QBrush:
        return self.palette().brush(QPalette.ColorRole.PlaceholderText)


def _titles(item: QTreeWidgetItem) -> list[str]:
    """Titles of the entries at and under `item`."""
    entry = _entry_of(item)
    if entry is not None:
        return [entry.title]
    rows = (item.child(i) for i in range(item.childCount()))
    return [title for row in rows if row is not None for title in _titles(row)]


def _entry_of(item: QTreeWidgetItem) -> Entry | None:
    found = item.data(0, _EntryRole)
    return found if isinstance(found, Entry) else None
