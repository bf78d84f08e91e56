"""A field and a list below it: type a few letters, choose with the arrows, Enter runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QPoint, QSize, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from gradstep.core.visible_text import visible
from gradstep.gui.canvas.interact.fuzzy_match import Searched, ranked
from gradstep.gui.look.plain_text import Label, plain
from gradstep.gui.look.theme import GRID, SMALL, Theme, mono, sans

ROW, ROWS = 28, 11  # pixels, and how many are seen at once
WIDTH = 560
STEPS = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_PageDown: 8,
    Qt.Key.Key_PageUp: -8,
}
SHOWN = 60  # entries; nobody reads more

Index = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True)
class Entry:
    """One line: what it is, more about it at the right (a key, an op type), what Enter does."""

    text: str
    run: Callable[[], None]
    detail: str = ""
    tip: str = ""
    enabled: bool = True


class Offer(Protocol):
    """What there is to be found."""

    def find(self, typed: str, most: int) -> Sequence[Entry]:
        """What fits some letters, the best first; all, in order, where there are none."""


class Listed:
    """Entries that are there, found by their texts and their tips."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self._searched = [Searched(entry.text, entry.tip) for entry in entries]

    def find(self, typed: str, most: int) -> Sequence[Entry]:
        places = range(len(self._entries))
        return [self._entries[i] for i in ranked(typed, places, self._searched.__getitem__, most)]


class Finder(QDialog):
    """A popup; it closes when something is chosen, on Escape, and when it loses the focus."""

    def __init__(
        self,
        theme: Theme,
        offer: Offer,
        hint: str,
        name: str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setObjectName(name)
        self.setAccessibleName(hint)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._offer = offer
        self.field = QLineEdit()
        self.field.setObjectName(f"{name}.field")
        self.field.setAccessibleName(hint)
        self.field.setPlaceholderText(hint)
        self.field.textChanged.connect(self._filter)
        self.field.installEventFilter(self)
        self.list = QListWidget()
        self.list.setObjectName(f"{name}.list")
        self.list.setAccessibleName("Results")
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setItemDelegate(_Row(theme, self))
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.itemClicked.connect(lambda item: self._choose(item))
        self.nothing = Label("Nothing fits. Try fewer letters.")
        self.nothing.setObjectName(f"{name}.nothing")
        self.nothing.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.nothing.setContentsMargins(GRID, GRID // 2, GRID, 0)
        self.nothing.setForegroundRole(QPalette.ColorRole.PlaceholderText)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(GRID, GRID, GRID, GRID)
        self.column.setSpacing(GRID // 2)
        for part in (self.field, self.list, self.nothing):
            self.column.addWidget(part)
        self._filter("")

    def show_over(self, window: QWidget) -> None:
        """Open under the middle of the window's upper edge."""
        left = (window.width() - self.width()) // 2
        self.move(window.mapToGlobal(QPoint(left, 72)))
        self.show()
        self.field.setFocus()

    def texts(self) -> list[str]:
        """What the list shows now."""
        return [self.list.item(row).text() for row in range(self.list.count())]

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._key(event)
        return False

    def _key(self, event: QKeyEvent) -> bool:
        if event.key() in STEPS and self.list.count():
            row = self.list.currentRow() + STEPS[Qt.Key(event.key())]
            self.list.setCurrentRow(min(max(row, 0), self.list.count() - 1))
            return True
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if self.list.currentItem() is not None:
                self._choose(self.list.currentItem())
            return True
        return False

    def _filter(self, typed: str) -> None:
        found = self._offer.find(typed, SHOWN)
        self.list.clear()
        for entry in found:
            item = QListWidgetItem(entry.text, self.list)
            item.setData(Qt.ItemDataRole.UserRole, entry)
            item.setToolTip(plain(entry.tip))
        self.list.setCurrentRow(0)
        self.list.setVisible(bool(found))
        self.nothing.setVisible(not found)
        self._fit(len(found))

    def _fit(self, rows: int) -> None:
        """As high as what is found, up to a screenful."""
        self.list.setFixedHeight(min(rows, ROWS) * ROW + 2 * self.list.frameWidth())
        self.column.activate()
        self.resize(WIDTH, self.column.sizeHint().height())

    def _choose(self, item: QListWidgetItem) -> None:
        entry: Entry = item.data(Qt.ItemDataRole.UserRole)
        if entry.enabled:
            self.close()
            entry.run()


class _Row(QStyledItemDelegate):
    """The text at the left, its detail at the right."""

    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(WIDTH // 2, ROW)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: Index,
    ) -> None:
        entry: Entry = index.data(Qt.ItemDataRole.UserRole)
        box = option.rect.adjusted(GRID, 0, -GRID, 0)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect, self._theme.selected_row)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.setFont(sans())
        painter.setPen(self._theme.text if entry.enabled else self._theme.disabled)
        painter.drawText(box, middle | Qt.AlignmentFlag.AlignLeft, visible(entry.text))
        painter.setFont(mono(SMALL + 1))
        painter.setPen(self._theme.muted if entry.enabled else self._theme.disabled)
        painter.drawText(box, middle | Qt.AlignmentFlag.AlignRight, visible(entry.detail))
