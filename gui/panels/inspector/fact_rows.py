"""Rows of a caption and what it names: the inspector's grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import GRID, sans
from gradstep.gui.panels.widgets.flow_layout import FlowLayout
from gradstep.gui.panels.widgets.small_labels import Text, ThemeSource, Wrapped

_CAPTION = (80, 144)  # pixels; a longer caption is cut


class FactRow(NamedTuple):
    """make: its content, which says what `says` says, and is made anew when that is another."""

    caption: str
    says: object
    make: Callable[[], QWidget]
    tip: str = ""


class FactRows(QWidget):
    """Captions left and muted, content right; rows can be replaced."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self._captions: list[Text] = []
        self._contents: list[QWidget] = []
        self._shown: list[FactRow] = []
        self._aligned: tuple[FactRows, ...] = (self,)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(GRID // 4)
        self._grid.setColumnStretch(1, 1)

    def align_with(self, other: FactRows) -> None:
        """Have the content of both start at one line."""
        self._aligned = other._aligned = (self, other)

    def clear(self) -> None:
        """Remove all rows."""
        self._captions, self._contents, self._shown = [], [], []
        drop_all(self._grid)

    def show_rows(self, rows: Sequence[FactRow]) -> None:
        """These and no others. Of rows with the same captions those that say the same stay."""
        before = self._shown
        if [row.caption for row in before] != [row.caption for row in rows]:
            self.clear()
            for row in rows:
                self.add(row.caption, row.make(), row.tip)
        else:
            for place, (old, row) in enumerate(zip(before, rows, strict=True)):
                if old.says != row.says:
                    self._replace(place, row)
        self._shown = [*rows]

    def _replace(self, place: int, row: FactRow) -> None:
        label, content = self._captions[place], row.make()
        old = self._contents[place]
        number = self._grid.getItemPosition(self._grid.indexOf(old))[0]  # type: ignore[index]
        self._grid.removeWidget(old)
        drop(old)
        self._contents[place] = content
        self._put(number, label, content)
        label.setToolTip(plain(row.tip))

    def add(self, caption: str, content: QWidget, tip: str = "") -> None:
        """One more row."""
        label = Text(self._theme, "muted", sans())
        label.set_text(caption)
        label.setToolTip(plain(tip))
        self._captions.append(label)
        self._contents.append(content)
        row = self._grid.rowCount()
        self._grid.addWidget(label, row, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft)
        self._put(row, label, content)
        self._fit()

    def _put(self, row: int, label: Text, content: QWidget) -> None:
        """The content beside its caption."""
        if isinstance(content, Wrapped):
            content.setContentsMargins(0, 2, 0, 2)  # as the caption has it
        label.setFixedHeight(max(label.sizeHint().height(), _first_line(content)))
        self._grid.addWidget(content, row, 1, _side(content))

    def _fit(self) -> None:
        """Captions as wide as the widest of them, within limits."""
        labels = [label for rows in self._aligned for label in rows._captions]
        widest = max((label.sizeHint().width() for label in labels), default=0)
        for label in labels:
            label.setFixedWidth(max(_CAPTION[0], min(widest, _CAPTION[1])))


def _first_line(content: QWidget) -> int:
    """The height of what the caption stands beside; 0 for a text."""
    if isinstance(content, Wrapped):
        return 0
    layout = content.layout()
    item = layout.itemAt(0) if isinstance(layout, QVBoxLayout | FlowLayout) else None
    first = item.widget() if item is not None else None
    return (first or content).sizeHint().height()


def _side(content: QWidget) -> Qt.AlignmentFlag:
    """Left for what never grows: its column would not, and the captions' would."""
    stays = (QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Maximum)
    is_fixed = content.sizePolicy().horizontalPolicy() in stays
    return Qt.AlignmentFlag.AlignLeft if is_fixed else Qt.AlignmentFlag(0)


def flow_of(*widgets: QWidget) -> QWidget:
    """Widgets side by side, on as many lines as they need, as one."""
    flow = QWidget()
    places = FlowLayout(flow)
    for widget in widgets:
        places.addWidget(widget)
    return flow


def line_of(*widgets: QWidget, stretch: bool = True) -> QWidget:
    """Widgets side by side, as one."""
    line = QWidget()
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(GRID)
    for widget in widgets:
        row.addWidget(widget)
    if stretch:
        row.addStretch(1)
    return line


def column_of(*widgets: QWidget) -> QWidget:
    """Widgets below each other, as one."""
    column = QWidget()
    rows = QVBoxLayout(column)
    rows.setContentsMargins(0, 0, 0, 0)
    rows.setSpacing(0)
    for widget in widgets:
        rows.addWidget(widget)
    return column


def drop_all(layout: QLayout) -> None:
    """Remove every widget of a layout; they vanish at once and are deleted soon."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            drop(widget)


def drop(widget: QWidget) -> None:
    """It vanishes at once and is deleted soon."""
    widget.hide()
    widget.setParent(None)
    widget.deleteLater()
