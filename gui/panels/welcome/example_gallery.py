"""The examples as cards in groups: in as many columns as there is room for, some or all of them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QSize, Qt, QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QGridLayout, QScrollArea, QVBoxLayout, QWidget

from gradstep.core.program.trust.example_index import ExampleEntry
from gradstep.gui.look.plain_text import Label
from gradstep.gui.look.theme import GRID, sans
from gradstep.gui.panels.welcome.example_card import PICTURE, Card
from gradstep.gui.panels.widgets.small_labels import ThemeSource

GAP = 2 * GRID
COLUMNS = 4  # at most
EDGE = 24  # pixels; room for the scroll bar

NOTHING = "No example has “{}” in it."


class Gallery(QScrollArea):
    """Cards take their pictures when they are first seen, one at a time.

    chosen: the file of the example whose card was clicked.
    """

    chosen = Signal(Path)

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self.setObjectName("welcome.gallery")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._theme = theme
        self.groups: list[Group] = []
        self._columns = 1
        self._waiting: deque[Card] = deque()
        self._pictures = QTimer(self, singleShot=True, interval=0)
        self._pictures.timeout.connect(self._draw_next)
        page = QWidget()
        page.setObjectName("welcome.page")
        self._column = QVBoxLayout(page)
        self._column.setContentsMargins(0, 0, GRID, 4 * GRID)
        self._column.setSpacing(3 * GRID)
        self._nothing = Label()
        self._nothing.setObjectName("muted")
        self._nothing.hide()
        self._column.addWidget(self._nothing)
        self._column.addStretch(1)
        self.setWidget(page)

    @property
    def cards(self) -> list[Card]:
        return [card for group in self.groups for card in group.cards]

    @property
    def shown(self) -> list[Card]:
        """The cards that the filter lets through, in their order."""
        return [card for group in self.groups for card in group.shown]

    @property
    def is_drawn(self) -> bool:
        """Whether every card that can be seen has its picture."""
        seen = [card for card in self.shown if not card.visibleRegion().isEmpty()]
        return bool(self.cards) and not self._waiting and all(card.is_drawn for card in seen)

    def fill(self, entries: Sequence[ExampleEntry]) -> None:
        """Make the cards, once."""
        names = dict.fromkeys(entry.group for entry in entries)
        for number, name in enumerate(names):
            cards = [self._card(entry) for entry in entries if entry.group == name]
            group = Group(name, cards)
            self.groups.append(group)
            self._column.insertWidget(number, group)
        self.show_only("")

    def _card(self, entry: ExampleEntry) -> Card:
        card = Card(self._theme, entry, self._want, self._go)
        card.clicked.connect(lambda: self.chosen.emit(card.path))
        return card

    def show_only(self, words: str, group: str = "", disputed: bool = False) -> None:
        """Those that have all the words in them, of one group ("": of all), or those alone that
        hold a claim against the truth."""
        parts = words.lower().split()
        for each in self.groups:
            found = [card for card in each.cards if _has(card.entry, parts)]
            each.shown = [
                card
                for card in found
                if group in ("", each.name) and (card.entry.disputed or not disputed)
            ]
            each.lay_out(self._columns)
        self._nothing.setText(NOTHING.format(words.strip()))
        self._nothing.setHidden(bool(self.shown))
        self.verticalScrollBar().setValue(0)

    def restyle(self) -> None:
        """The theme changed: the pictures have its colours inside."""
        for card in self.cards:
            card.forget()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._reflow()

    def width_of(self, columns: int) -> int:
        return columns * PICTURE.width() + (columns - 1) * GAP + EDGE

    def sizeHint(self) -> QSize:
        return QSize(self.width_of(COLUMNS), 600)

    def _reflow(self) -> None:
        room = self.viewport().width() - GRID + GAP
        columns = max(1, min(COLUMNS, room // (PICTURE.width() + GAP)))
        if columns != self._columns:
            self._columns = columns
            for group in self.groups:
                group.lay_out(columns)

    def _go(self, card: Card, dx: int, dy: int) -> None:
        """Give the focus to the next card that way, and bring it into view."""
        shown = self.shown
        target = card
        if dx:
            target = shown[max(0, min(len(shown) - 1, shown.index(card) + dx))]
        elif dy:
            target = _nearest(card, shown, dy)
        self.ensureWidgetVisible(target, 0, 5 * GRID)
        if target is not card:
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _want(self, card: Card) -> None:
        if card not in self._waiting:
            self._waiting.append(card)
        if not self._pictures.isActive():
            self._pictures.start()

    def _draw_next(self) -> None:
        """One picture at a time, so that the window answers in between."""
        if self._waiting:
            self._waiting.popleft().draw()
        if self._waiting:
            self._pictures.start()


class Group(QWidget):
    """A heading, and cards under it."""

    def __init__(self, name: str, cards: list[Card]) -> None:
        super().__init__()
        self.name, self.cards, self.shown = name, cards, cards
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(GRID + 4)
        heading = Label(name)
        heading.setFont(sans(strong=True))
        column.addWidget(heading)
        self._grid = QGridLayout()
        self._grid.setSpacing(GAP)
        self._grid.setAlignment(Qt.AlignmentFlag.AlignLeft)
        column.addLayout(self._grid)

    def lay_out(self, columns: int) -> None:
        """Those that are to be shown, in so many columns."""
        for card in self.cards:
            self._grid.removeWidget(card)
        for number, card in enumerate(self.shown):
            self._grid.addWidget(card, number // columns, number % columns)
        for card in self.cards:
            card.setVisible(card in self.shown)
        self.setVisible(bool(self.shown))


def _nearest(card: Card, cards: Sequence[Card], dy: int) -> Card:
    """The card of the row above or below that is nearest; itself where there is no such row."""
    page = card.window()
    here = card.mapTo(page, card.rect().center())
    best, least = card, None
    for other in cards:
        there = other.mapTo(page, other.rect().center())
        down = (there.y() - here.y()) * dy
        if down <= 0:
            continue
        distance = (down, abs(there.x() - here.x()))
        if least is None or distance < least:
            best, least = other, distance
    return best


def _has(entry: ExampleEntry, parts: Sequence[str]) -> bool:
    searched = f"{entry.title} {entry.sentence} {entry.group} {entry.words}".lower()
    return all(part in searched for part in parts)
