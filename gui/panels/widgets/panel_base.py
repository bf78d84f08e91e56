"""What all panels share: a name for tests and screen readers, the theme, and an empty state."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import SignalInstance
from PySide6.QtGui import QHideEvent, QShowEvent
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
from gradstep.gui.model.once_told import OnceTold
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
        self.typed_into: QWidget | None = None  # gets the keyboard with a click on the panel's tab
        self._stack = QStackedLayout(self)
        content = QWidget()
        self.column = QVBoxLayout(content)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(0)
        self._empty = Wrapped(lambda: self.theme, f"{name}.empty", "muted")
        self._empty.setContentsMargins(12, 2 * GRID, 12, GRID)
        self._stack.addWidget(content)
        self._stack.addWidget(self._empty)
        self._followers: list[_Follower] = []
        self._is_covered = self._was_seen = False
        workspace.theme_changed.connect(self.restyle)

    def follow(
        self,
        show: Callable[[], object],
        *signals: SignalInstance,
        shown: Callable[[], object] | None = None,
    ) -> None:
        """Call `show` after each of the signals while the panel can be seen; once after all that
        one reply of the engine gave rise to. What came while it was hidden is made up for when it
        is shown again, before it is painted, by one call of `shown`, or of `show`; of several
        followers in the order in which they were given."""
        follower = _Follower(self, show, shown or show)
        self._followers.append(follower)
        for signal in signals:
            signal.connect(follower.hear)

    @property
    def is_seen(self) -> bool:
        """Whether it can be looked at, were the window in front."""
        return self.isVisible() and not self._is_covered

    @property
    def is_waiting(self) -> bool:
        """Whether there is something to show as soon as all is said."""
        return any(follower.is_waiting for follower in self._followers)

    def cover(self, covered: bool) -> None:
        """It lies behind another dock, or no longer. Qt calls what lies there visible."""
        self._is_covered = covered
        self._note_seen()

    def seen(self) -> None:
        """It can be looked at again."""
        for follower in self._followers:
            follower.catch_up()

    def unseen(self) -> None:
        """It cannot be looked at any more."""

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._note_seen()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._note_seen()

    def _note_seen(self) -> None:
        before, self._was_seen = self._was_seen, self.is_seen
        if self._was_seen != before:
            self.seen() if self._was_seen else self.unseen()

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


class _Follower(OnceTold):
    """Goes with its panel, and hears only while that can be seen."""

    def __init__(
        self, panel: Panel, show: Callable[[], object], shown: Callable[[], object]
    ) -> None:
        super().__init__(panel.workspace.debugger, show, panel)
        self._panel, self._shown = panel, shown
        self._is_stale = False

    def hear(self, *_: object) -> None:
        if not self._panel.is_seen and not self._panel.isWindow():
            self._is_stale = True
        else:
            super().hear()

    def catch_up(self) -> None:
        if self._is_stale:
            self._is_stale = False
            self._shown()


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
