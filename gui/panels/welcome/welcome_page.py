"""The start page: examples as pictures in groups, recent files, New and Open."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from gradstep.core.errors import GradstepError
from gradstep.core.program.trust import example_index
from gradstep.core.program.trust.example_index import EXAMPLES
from gradstep.gui.look import icons
from gradstep.gui.look.plain_text import Label, plain
from gradstep.gui.look.theme import BODY, GRID, sans
from gradstep.gui.model.settings import settings
from gradstep.gui.panels.welcome.example_card import RecentFile
from gradstep.gui.panels.welcome.example_gallery import COLUMNS, Gallery
from gradstep.gui.panels.welcome.example_groups import GroupList
from gradstep.gui.panels.widgets.small_labels import ThemeSource

if TYPE_CHECKING:
    from gradstep.gui.actions.action_set import ActionSet

RECENT = 8
SIDE = 216  # pixels

CLAIM = "See every value and every gradient, one step at a time, in both directions."
NO_FILES = "Files that you open or save appear here. Drop one on the window to open it."
BUTTONS = {  # as the table of actions has them
    "help.first_steps": "First steps",
    "help.bring_model": "Bring a model…",
    "file.new": "New",
    "file.open": "Open…",
}
ALL, DISPUTED = "All examples", "Often said, and wrong"


class WelcomePage(QWidget):
    """Shown in place of the canvas while no document is open; it is there before a workspace is.

    opened: a file that the user wants to see; asked: the action of BUTTONS whose button was
    clicked; failed: the examples cannot be listed, and why.
    """

    title = "Start page"
    opened = Signal(Path)
    asked = Signal(str)
    failed = Signal(GradstepError)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("welcome")
        self.setAccessibleName(self.title)
        self._theme = theme
        self._group, self._disputed = "", False
        self.gallery = Gallery(theme)
        self.groups = GroupList(theme)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(0)
        self._build()
        self.search.textChanged.connect(self._filter)
        self.gallery.chosen.connect(self.opened)

    def showEvent(self, event: QShowEvent) -> None:
        self._list_examples()
        self._list_recent()
        self._order_keys()
        self.search.setFocus()

    @property
    def is_drawn(self) -> bool:
        """Whether every example that can be seen has its picture."""
        return self.gallery.is_drawn

    def restyle(self) -> None:
        """The theme changed."""
        self.gallery.restyle()

    def explain_buttons(self, actions: ActionSet) -> None:
        """Have the buttons say what their actions do, and by which keys."""
        for id, button in self._buttons.items():
            button.setToolTip(plain(actions[id].toolTip()))

    # -- parts --------------------------------------------------------------------------------

    def _build(self) -> None:
        page = QWidget()
        page.setMaximumWidth(SIDE + 4 * GRID + self.gallery.width_of(COLUMNS) + 8 * GRID)
        column = QVBoxLayout(page)
        column.setContentsMargins(4 * GRID, 4 * GRID, 4 * GRID, 0)
        column.setSpacing(3 * GRID)
        column.addLayout(self._head())
        body = QHBoxLayout()
        body.setSpacing(4 * GRID)
        body.addWidget(self._side())
        body.addWidget(self.gallery, 1)
        column.addLayout(body, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(page, 1000)
        row.addStretch(1)

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        picture = Label()
        picture.setPixmap(icons.application_icon().pixmap(QSize(40, 40), self.devicePixelRatioF()))
        words = QVBoxLayout()
        words.setSpacing(2)
        name = Label("Gradstep")
        name.setFont(sans(BODY, strong=True))
        claim = Label(CLAIM)
        claim.setObjectName("muted")
        claim.setMinimumWidth(1)  # the window may be narrower than the sentence
        words.addWidget(name)
        words.addWidget(claim)
        row.addWidget(picture)
        row.addSpacing(GRID // 2)
        row.addLayout(words)
        row.addStretch(1)
        self._buttons = {id: self._button(id, title) for id, title in BUTTONS.items()}
        for button in self._buttons.values():
            row.addWidget(button)
        return row

    def _button(self, id: str, title: str) -> QPushButton:
        button = QPushButton(title)
        button.setObjectName(f"welcome.{id}")
        button.setAccessibleName(title)
        button.clicked.connect(lambda: self.asked.emit(id))
        return button

    def _side(self) -> QScrollArea:
        """What to look for, and the files of before."""
        self.search = QLineEdit()
        self.search.setObjectName("welcome.search")
        self.search.setAccessibleName("Search the examples")
        self.search.setPlaceholderText("Search the examples")
        self.search.setClearButtonEnabled(True)
        self.search.installEventFilter(self)
        side = QWidget()
        column = QVBoxLayout(side)
        column.setContentsMargins(0, 0, 0, GRID)
        column.setSpacing(GRID)
        column.addWidget(self.search)
        column.addWidget(self.groups)
        column.addSpacing(2 * GRID)
        recent = Label("Recent")
        recent.setFont(sans(strong=True))
        recent.setContentsMargins(GRID, 0, 0, 0)
        column.addWidget(recent)
        column.addLayout(self._recent)
        column.addStretch(1)
        area = QScrollArea()
        area.setWidgetResizable(True)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setFixedWidth(SIDE)
        area.setWidget(side)
        return area

    # -- what is listed -----------------------------------------------------------------------

    def _list_examples(self) -> None:
        if self.gallery.cards:
            return
        try:
            entries = example_index.load(EXAMPLES)
        except GradstepError as error:
            self.failed.emit(error)
            return
        self.gallery.fill(entries)
        self.groups.add(ALL, len(entries), self._chooser(""))
        disputed = sum(entry.disputed for entry in entries)
        if disputed:
            self.groups.add(DISPUTED, disputed, self._chooser("", disputed=True))
        for group in self.gallery.groups:
            self.groups.add(group.name, len(group.cards), self._chooser(group.name))

    def _list_recent(self) -> None:
        while (item := self._recent.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        files = [path for path in settings().recent if path.exists()][:RECENT]
        for path in files:
            file = RecentFile(self._theme, path)
            file.clicked.connect(lambda _=False, path=path: self.opened.emit(path))
            self._recent.addWidget(file)
        if not files:
            nothing = Label(NO_FILES)
            nothing.setObjectName("muted")
            nothing.setWordWrap(True)
            nothing.setContentsMargins(GRID, GRID // 2, 0, 0)
            self._recent.addWidget(nothing)

    def _order_keys(self) -> None:
        """Tab goes down the left side, and then to the examples."""
        items = [self._recent.itemAt(i) for i in range(self._recent.count())]
        recent = [w for item in items if item is not None and (w := item.widget()) is not None]
        order = [self.search, *self.groups.buttons, *recent, *self.gallery.cards]
        for before, after in pairwise(order):
            self.setTabOrder(before, after)

    # -- what is looked for -------------------------------------------------------------------

    def _chooser(self, group: str, disputed: bool = False) -> Callable[[], None]:
        def choose() -> None:
            self._group, self._disputed = group, disputed
            self._filter()

        return choose

    def _filter(self) -> None:
        self.gallery.show_only(self.search.text(), self._group, self._disputed)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """In the search field: Down goes to the first example, Enter opens it, Escape clears."""
        if watched is not self.search or not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        if event.type() is not QEvent.Type.KeyPress:
            return False
        shown = self.gallery.shown
        if event.key() == Qt.Key.Key_Escape and self.search.text():
            self.search.clear()
        elif event.key() == Qt.Key.Key_Down and shown:
            shown[0].setFocus(Qt.FocusReason.OtherFocusReason)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and shown and self.search.text():
            shown[0].click()
        else:
            return False
        return True
