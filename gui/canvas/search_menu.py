"""The menu that finds an operation by a few letters, wherever a node is to be added."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import (
    QFrame,
    QHeaderView,
    QLabel,
    QLineEdit,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gui.canvas.fuzzy import ranked

WIDTH, ROWS = 340, 10
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)


@dataclass(frozen=True, slots=True)
class Entry:
    """title: what is searched and shown; detail: shown beside it; help: shown below, and searched
    after the titles; choose: what to do."""

    title: str
    detail: str
    help: str
    choose: Callable[[], object]


class SearchMenu(QFrame):
    """A popup: type to narrow down, arrows to move, Enter to take, Escape to leave."""

    def __init__(self, entries: Sequence[Entry], prompt: str, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("search_menu")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._entries = entries
        self.field = self._make_field(prompt)
        self.list = self._make_list()
        self.help = QLabel(objectName="search_menu_help", wordWrap=True)
        self.help.setMinimumHeight(3 * self.fontMetrics().height())
        self.help.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        for widget in (self.field, self.list, self.help):
            layout.addWidget(widget)
        self.setFixedWidth(WIDTH)
        self._found: list[Entry] = []
        self.search("")

    def open_at(self, point: QPoint) -> None:
        """Show the menu with its corner near a point of the screen, inside the screen."""
        self.adjustSize()
        room = self.screen().availableGeometry()
        x = max(room.left(), min(point.x(), room.right() - self.width()))
        y = max(room.top(), min(point.y(), room.bottom() - self.height()))
        self.move(x, y)
        self.show()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def search(self, text: str) -> None:
        """List what matches, the best first."""
        self._found = ranked(text, self._entries, lambda e: (e.title, e.help))
        self.list.clear()
        self.list.addTopLevelItems([self._item(entry) for entry in self._found])
        if self._found:
            self._select(0)
        else:
            self.help.setText("Nothing fits. Try fewer letters.")

    def take(self) -> None:
        """Do what the current row says, and close."""
        entry = self._current()
        self.close()
        if entry is not None:
            entry.choose()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(event)
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab):
            self.take()
        elif event.key() == Qt.Key.Key_Escape:
            self.close()
        elif event.key() in _LIST_KEYS:
            self.list.keyPressEvent(event)
        else:
            return False
        return True

    def _make_field(self, prompt: str) -> QLineEdit:
        field = QLineEdit(objectName="search_menu_field", accessibleName=prompt)
        field.setPlaceholderText(prompt)
        field.textChanged.connect(self.search)
        field.installEventFilter(self)
        return field

    def _make_list(self) -> QTreeWidget:
        rows = QTreeWidget(objectName="search_menu_list", accessibleName="Matches")
        rows.setColumnCount(2)
        rows.setHeaderHidden(True)
        rows.setRootIsDecorated(False)
        rows.setUniformRowHeights(True)
        rows.setFrameShape(QFrame.Shape.NoFrame)
        rows.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        rows.header().setStretchLastSection(False)
        rows.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        rows.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        rows.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        rows.setFixedHeight(ROWS * (self.fontMetrics().height() + 6))
        rows.itemClicked.connect(lambda: self.take())
        rows.currentItemChanged.connect(self._show_help)
        return rows

    def _item(self, entry: Entry) -> QTreeWidgetItem:
        item = QTreeWidgetItem([entry.title, entry.detail])
        item.setForeground(1, self.palette().placeholderText())
        item.setData(0, Qt.ItemDataRole.AccessibleTextRole, f"{entry.title}. {entry.help}")
        return item

    def _select(self, row: int) -> None:
        self.list.setCurrentItem(self.list.topLevelItem(row))

    def _current(self) -> Entry | None:
        row = self.list.indexOfTopLevelItem(self.list.currentItem())
        return self._found[row] if 0 <= row < len(self._found) else None

    def _show_help(self) -> None:
        entry = self._current() if self.list.currentItem() is not None else None
        self.help.setText("" if entry is None else entry.help)
