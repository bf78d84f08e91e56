"""The start page: examples as pictures, recent files, New and Open."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import (
    QShowEvent,
)
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from core.host.trust import EXAMPLES
from gui import actions, icons
from gui.action import shown_key
from gui.panels.example_card import PICTURE, Card, RecentFile
from gui.settings import settings
from gui.theme import BODY, GRID, sans
from gui.workspace import Workspace

COLUMNS = 3
RECENT = 6
FIRST = ("tutorial", "override_add", "stop_gradient", "gather", "nan_gradient")  # the order to read

CLAIM = "See every value and every gradient, one step at a time, in both directions."
NO_FILES = "Files that you open or save appear here. Drop one on the window to open it."


class WelcomePage(QScrollArea):
    """Shown in place of the canvas while no document is open."""

    title = "Start page"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("welcome")
        self.setAccessibleName(self.title)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._workspace = workspace
        self._cards: list[Card] = []
        self._grid = QGridLayout()
        self._grid.setSpacing(2 * GRID)
        self._recent = QVBoxLayout()
        self._recent.setSpacing(0)
        self._build()
        self._pictures = QTimer(self, singleShot=True, interval=0)
        self._pictures.timeout.connect(self._draw_next)
        workspace.theme_changed.connect(self._restyle)

    def showEvent(self, event: QShowEvent) -> None:
        self._list_examples()
        self._list_recent()
        self._pictures.start(60)  # after the window itself is on the screen

    @property
    def is_drawn(self) -> bool:
        """Whether every example has its picture."""
        return bool(self._cards) and all(card.is_drawn for card in self._cards)

    def _build(self) -> None:
        page = QWidget()
        page.setObjectName("welcome.page")
        column = QVBoxLayout(page)
        column.setContentsMargins(4 * GRID, 5 * GRID, 4 * GRID, 4 * GRID)
        column.setSpacing(0)
        column.addLayout(self._head())
        column.addSpacing(4 * GRID)
        column.addWidget(_caption("Examples"))
        column.addSpacing(GRID)
        column.addLayout(self._grid)
        column.addSpacing(4 * GRID)
        column.addWidget(_caption("Recent"))
        column.addSpacing(GRID // 2)
        column.addLayout(self._recent)
        column.addStretch(1)
        width = COLUMNS * PICTURE.width() + (COLUMNS - 1) * 2 * GRID + 8 * GRID
        page.setMaximumWidth(width)
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.addStretch(1)
        row.addWidget(page, 1000)
        row.addStretch(1)
        self.setWidget(holder)

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(GRID)
        picture = QLabel()
        picture.setPixmap(icons.application_icon().pixmap(QSize(40, 40), self.devicePixelRatioF()))
        words = QVBoxLayout()
        words.setSpacing(2)
        name = QLabel("Gradstep")
        name.setFont(sans(BODY, strong=True))
        claim = QLabel(CLAIM)
        claim.setObjectName("muted")
        words.addWidget(name)
        words.addWidget(claim)
        row.addWidget(picture)
        row.addSpacing(GRID // 2)
        row.addLayout(words)
        row.addStretch(1)
        row.addWidget(self._button("file.new"))
        row.addWidget(self._button("file.open"))
        return row

    def _button(self, id: str) -> QPushButton:
        action = actions.BY_ID[id]
        button = QPushButton(action.title)
        button.setObjectName(f"welcome.{id}")
        button.setAccessibleName(action.title)
        button.setToolTip(f"{action.tip}  ({shown_key(action.keys[0])})")
        button.clicked.connect(lambda: actions.run(id, self._workspace))
        return button

    def _list_examples(self) -> None:
        if self._cards:
            return
        for number, path in enumerate(example_files()):
            card = Card(self._workspace, path)
            self._cards.append(card)
            self._grid.addWidget(card, number // COLUMNS, number % COLUMNS)

    def _list_recent(self) -> None:
        while (item := self._recent.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.deleteLater()
        files = [path for path in settings().recent[:RECENT] if path.exists()]
        for path in files:
            self._recent.addWidget(RecentFile(self._workspace, path))
        if not files:
            nothing = QLabel(NO_FILES)
            nothing.setObjectName("muted")
            nothing.setContentsMargins(0, GRID // 2, 0, 0)
            self._recent.addWidget(nothing)

    def _draw_next(self) -> None:
        """One picture at a time, so that the window answers in between."""
        waiting = next((card for card in self._cards if not card.is_drawn), None)
        if waiting is not None and self.isVisible():
            waiting.draw()
            self._pictures.start(0)

    def _restyle(self) -> None:
        for card in self._cards:
            card.forget()
        self._pictures.start(0)


def example_files() -> list[Path]:
    """The examples that came with the program, in the order in which to read them."""
    place = {name: number for number, name in enumerate(FIRST)}
    files = EXAMPLES.glob("*.gradstep")
    return sorted(files, key=lambda path: (place.get(path.stem, len(place)), path.stem))


def _caption(text: str) -> QLabel:
    label = QLabel(text)
    label.setFont(sans(strong=True))
    return label
