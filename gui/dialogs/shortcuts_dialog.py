"""Every key there is, by menu, from the window's actions."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QScrollArea, QWidget

from gradstep.gui.actions.action_record import Action, shown_key
from gradstep.gui.actions.action_set import ActionSet
from gradstep.gui.actions.menu_titles import MENUS
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.plain_text import Label, plain
from gradstep.gui.look.theme import GRID, mono, sans
from gradstep.gui.model.workspace import Workspace

COLUMNS = 2
LINE = 18  # pixels, height of each


class ShortcutsDialog(Dialog):
    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(workspace, "shortcuts_dialog", "Keyboard shortcuts", window)
        (actions,) = window.findChildren(ActionSet)
        self._actions = [row for row, _ in actions if row.keys]
        page = QWidget()
        across = QHBoxLayout(page)
        across.setSpacing(3 * GRID)
        columns = [self._column(across) for _ in range(COLUMNS)]
        for menu in MENUS:
            self._section(menu, min(columns, key=QGridLayout.rowCount))
        for column in columns:
            column.setRowStretch(column.rowCount(), 1)
        area = QScrollArea()
        area.setWidget(page)
        area.setWidgetResizable(True)
        self.column.addWidget(area, 1)
        self.resize(760, 560)

    def _column(self, across: QHBoxLayout) -> QGridLayout:
        column = QGridLayout()
        column.setHorizontalSpacing(2 * GRID)
        column.setVerticalSpacing(GRID // 2)
        across.addLayout(column, 1)
        return column

    def _section(self, menu: str, column: QGridLayout) -> None:
        actions = [row for row in self._actions if row.menu == menu]
        if not actions:
            return
        heading = Label(menu)
        heading.setFont(sans(strong=True))
        heading.setContentsMargins(0, GRID, 0, 0)
        column.addWidget(heading, column.rowCount(), 0, 1, 2)
        for action in actions:
            self._line(action, column)

    def _line(self, action: Action, column: QGridLayout) -> None:
        title = Label(action.title.rstrip("…"))
        title.setToolTip(plain(action.tip))
        keys = Label("   ".join(shown_key(key) for key in action.keys))
        keys.setFont(mono())
        keys.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._color(keys, "muted")
        row = column.rowCount()
        for place, label in enumerate((title, keys)):
            label.setFixedHeight(LINE)
            column.addWidget(label, row, place)
