"""The menu that finds an operation by a few letters, wherever a node is to be added."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QLineEdit, QVBoxLayout, QWidget

from gradstep.gui.canvas.interact.entry_list import Entry, EntryList
from gradstep.gui.canvas.interact.fuzzy_match import Searched, ranked
from gradstep.gui.canvas.interact.overlay import Overlay
from gradstep.gui.look.plain_text import Label, plain

WIDTH, MARGIN = 400, 8  # pixels
_LIST_KEYS = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_PageUp, Qt.Key.Key_PageDown)
_FOLD_KEYS = (Qt.Key.Key_Left, Qt.Key.Key_Right)  # the list's while there is no text to move in
_LINES = 5  # of a description; of few ops it is longer


class Description(Label):
    """As many lines of a text as there is room for; all of it is the tool tip then."""

    def __init__(self) -> None:
        super().__init__(objectName="search_menu_help", wordWrap=True)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setAlignment(Qt.AlignmentFlag.AlignTop)
        self.setFixedHeight(_LINES * self.fontMetrics().lineSpacing() + 2)

    def show_text(self, text: str) -> None:
        shown = text
        while self._height(shown) > self.height() and " " in shown:
            shown = shown.removesuffix("…").rpartition(" ")[0] + "…"
        self.setText(shown)
        self.setToolTip(plain(text if shown != text else ""))

    def _height(self, text: str) -> int:
        room = QRect(0, 0, WIDTH - 2 * MARGIN - 2, 10_000)
        return self.fontMetrics().boundingRect(room, Qt.TextFlag.TextWordWrap, text).height()


class SearchMenu(QFrame):
    """A popup: type to narrow down, arrows to move and fold, Enter to take, Escape to leave."""

    def __init__(self, entries: Sequence[Entry], prompt: str, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("search_menu")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.entries = entries
        self.field = self._make_field(prompt)
        self.list = self._make_list()
        self.help = Description()
        self.setFrameShape(QFrame.Shape.StyledPanel)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(MARGIN, MARGIN, MARGIN, MARGIN)
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
        if not text.strip() and any(entry.groups for entry in self.entries):
            self.list.show_groups(self.entries)
            return
        found = ranked(text, self.entries, lambda e: Searched(e.title, e.help, e.aliases, e.late))
        self.list.show_matches(found)
        if not found:
            fewer = "Nothing fits. Try fewer letters."
            self.help.show_text(fewer if self.entries else "There is nothing here that fits.")

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
        field = QLineEdit()
        field.setObjectName("search_menu_field")
        field.setAccessibleName(prompt)
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
        self.help.show_text(self.list.inside() if entry is None else entry.help)


class Search:
    """Opens the menu over a canvas, at a pixel of it."""

    def __init__(self, overlay: Overlay) -> None:
        self._overlay = overlay

    def open(
        self,
        entries: Sequence[Entry],
        pixel: QPoint,
        prompt: str = "Add an operation…",
        text: str = "",
    ) -> None:
        """text: what is searched at first."""
        menu = SearchMenu(entries, prompt, self._overlay.window)
        menu.field.setText(text)
        menu.open_at(self._overlay.to_screen(pixel))


__all__ = ["Entry", "Search", "SearchMenu"]
