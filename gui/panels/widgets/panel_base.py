"""What all panels share: a name for tests and screen readers, the theme, and an empty state."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QPushButton,
    QStackedLayout,
    QVBoxLayout,
    QWidget,
)

from gradstep.gui.look.theme import GRID, Theme
from gradstep.gui.panels.widgets.small_labels import Wrapped

if TYPE_CHECKING:
    from gradstep.gui.model.workspace import Workspace


class Panel(QWidget):
    """A dock's content. Subclasses fill `column` and call `show_empty` or `show_content`."""

    title = ""

    def __init__(self, workspace: Workspace, name: str) -> None:
        super().__init__()
        self.workspace = workspace
        self.setObjectName(name)
        self.setAccessibleName(self.title)
        self._stack = QStackedLayout(self)
        content = QWidget()
        self.column = QVBoxLayout(content)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        self._empty = Wrapped(lambda: self.theme, f"{name}.empty", "muted")
        self._empty.setContentsMargins(12, 2 * GRID, 12, GRID)
        self._stack.addWidget(content)
        self._stack.addWidget(self._empty)
        workspace.theme_changed.connect(self.restyle)

    @property
    def theme(self) -> Theme:
        return self.workspace.theme

    @property
    def empty_text(self) -> str:
        """What the empty state says now; "" while there is content."""
        return self._empty.text() if self._stack.currentIndex() == 1 else ""

    def show_empty(self, text: str) -> None:
        """Say what will appear here, and how."""
        self._empty.setText(text)
        self._stack.setCurrentIndex(1)

    def show_content(self) -> None:
        self._stack.setCurrentIndex(0)

    def restyle(self) -> None:
        """The theme changed: repaint everything, with its colours."""
        self.update()
        for child in self.findChildren(QWidget):
            if isinstance(child, Wrapped):
                child.restyle()
            child.update()


def search_row(field: QLineEdit) -> QHBoxLayout:
    """A search field over a list, in from the edges."""
    row = QHBoxLayout()
    row.setContentsMargins(GRID, 0, GRID, 0)
    row.addWidget(field)
    return row


def add_and_delete(
    panel: Panel, adding: str, deleting: str
) -> tuple[QHBoxLayout, QPushButton, QPushButton]:
    """A row over a list, with Add, which opens a menu, and Delete; `adding` and `deleting` say to
    screen readers what they do."""
    row = QHBoxLayout()
    row.setContentsMargins(12, GRID // 2, 12, GRID // 2)
    row.setSpacing(GRID)
    add, delete = QPushButton(panel.tr("Add")), QPushButton(panel.tr("Delete"))
    for button, name, words in ((add, "add", adding), (delete, "delete", deleting)):
        button.setObjectName(f"{panel.objectName()}.{name}")
        button.setAccessibleName(words)
        row.addWidget(button)
    add.setMenu(QMenu(add))
    row.addStretch(1)
    return row, add, delete
