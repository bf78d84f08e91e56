"""Rows of a caption and what it names: the inspector's grid."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLayout, QWidget

from gui.panels.labels import Text, ThemeSource, Wrapped
from gui.theme import GRID, sans

_CAPTION = 80


class FactRows(QWidget):
    """Captions left and muted, content right; rows can be replaced."""

    def __init__(self, theme: ThemeSource) -> None:
        super().__init__()
        self._theme = theme
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(GRID)
        self._grid.setVerticalSpacing(GRID // 4)
        self._grid.setColumnMinimumWidth(0, _CAPTION)
        self._grid.setColumnStretch(1, 1)

    def clear(self) -> None:
        """Remove all rows."""
        drop_all(self._grid)

    def add(self, caption: str, content: QWidget, tip: str = "") -> None:
        """One more row."""
        wraps = isinstance(content, Wrapped)
        label = Text(self._theme, "muted", sans())
        label.set_text(caption)
        label.setFixedWidth(_CAPTION)
        label.setToolTip(tip)
        row = self._grid.rowCount()
        flag = Qt.AlignmentFlag
        self._grid.addWidget(label, row, 0, flag.AlignTop if wraps else flag.AlignVCenter)
        self._grid.addWidget(content, row, 1)


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


def drop_all(layout: QLayout) -> None:
    """Remove every widget of a layout; they vanish at once and are deleted soon."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.setParent(None)
            widget.deleteLater()
