"""The menu that finds an operation by a few letters, wherever a node is to be added."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QVBoxLayout, QWidget

from gui.canvas.entry_list import Entry, EntryList
from gui.canvas.fuzzy import ranked

WIDTH = 340
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_FOLD_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right)  # the list's while there is no text to move in


class SearchMenu(QFrame):
    """A popup: type to narrow down, arrows to move and fold, Enter to take, Escape to leave."""

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
        """List what matches, the best first; without text, everything in its groups."""
        if not text.strip() and any(entry.groups for entry in self._entries):
            self.list.show_groups(self._entries)
            return
        found = ranked(text, self._entries, lambda e: (e.title, e.help))
        self.list.show_matches(found)
        if not found:
            self.help.setText("Nothing fits. Try fewer letters.")

    def take(self) -> None:
        """Do what the current row says, and close; at a heading, fold it."""
        entry = self.list.current_entry()
        if entry is None and self.list.currentItem() is not None:
            self.list.fold()
            return
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
        elif event.key() in _LIST_KEYS or (event.key() in _FOLD_KEYS and not self.field.text()):
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

    def _make_list(self) -> EntryList:
        rows = EntryList()
        rows.itemClicked.connect(lambda: self.take())
        rows.currentItemChanged.connect(self._show_help)
        return rows

    def _show_help(self) -> None:
        entry = self.list.current_entry()
        self.help.setText(self.list.inside() if entry is None else entry.help)


__all__ = ["Entry", "SearchMenu"]
