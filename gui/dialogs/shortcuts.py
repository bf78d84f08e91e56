"""Every key there is, by menu, from the table of actions."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QLabel, QScrollArea, QWidget

from gui.action import Action, shown_key
from gui.actions import ACTIONS, MENUS
from gui.dialogs.dialog import Dialog
from gui.theme import GRID, mono, sans
from gui.workspace import Workspace

COLUMNS = 2


class ShortcutsDialog(Dialog):
    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "shortcuts_dialog", "Keyboard shortcuts", parent)
        page = QWidget()
        self._grid = QGridLayout(page)
        self._grid.setHorizontalSpacing(3 * GRID)
        self._grid.setVerticalSpacing(GRID // 2)
        rows = [0] * COLUMNS
        for menu in MENUS:
            column = rows.index(min(rows))
            rows[column] = self._section(menu, rows[column], 2 * column)
        self._grid.setRowStretch(max(rows), 1)
        area = QScrollArea()
        area.setWidget(page)
        area.setWidgetResizable(True)
        self.column.addWidget(area, 1)
        self.resize(760, 560)

    def _section(self, menu: str, row: int, column: int) -> int:
        actions = [a for a in ACTIONS if a.menu == menu and a.keys]
        if not actions:
            return row
        heading = QLabel(menu)
        heading.setFont(sans(strong=True))
        heading.setContentsMargins(0, GRID, 0, 0)
        self._grid.addWidget(heading, row, column, 1, 2)
        for action in actions:
            row += 1
            self._line(action, row, column)
        return row + 1

    def _line(self, action: Action, row: int, column: int) -> None:
        title = QLabel(action.title.rstrip("…"))
        title.setToolTip(action.tip)
        keys = QLabel("   ".join(shown_key(key) for key in action.keys))
        keys.setFont(mono())
        keys.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._color(keys, "muted")
        self._grid.addWidget(title, row, column)
        self._grid.addWidget(keys, row, column + 1)
