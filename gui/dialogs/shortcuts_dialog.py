"""Every key there is, by menu, from the window's actions; and a field to look for one."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLineEdit, QScrollArea, QWidget

from gradstep.gui.actions.action_record import Action, shown_key
from gradstep.gui.actions.action_set import ActionSet
from gradstep.gui.actions.menu_titles import MENUS
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.plain_text import Label, plain
from gradstep.gui.look.theme import GRID, mono, sans
from gradstep.gui.model.workspace import Workspace

COLUMNS = 2
LINE = 18  # pixels, height of each
NOTHING = "No key does “{}”."
PALETTE = "{} finds every action, those without a key as well."


class ShortcutsDialog(Dialog):
    """It is no question: one works on meanwhile."""

    def __init__(self, workspace: Workspace, window: QWidget) -> None:
        super().__init__(workspace, "shortcuts_dialog", "Keyboard shortcuts", window)
        (actions,) = window.findChildren(ActionSet)
        self._actions = [row for row, _ in actions if row.keys]
        self.search = QLineEdit()
        self.search.setObjectName("shortcuts_dialog.search")
        self.search.setAccessibleName("Search the shortcuts")
        self.search.setPlaceholderText("Search by what it does, or by its key")
        self.search.setClearButtonEnabled(True)
        self.search.textChanged.connect(self._list)
        workspace.theme_changed.connect(self._restyle)
        self._area = QScrollArea()
        self._area.setWidgetResizable(True)
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.column.addWidget(self.search)
        self.column.addWidget(self._area, 1)
        palette = actions.row("view.palette").shortcut
        self._more = self.add_text(PALETTE.format(palette), "muted")
        self._list("")
        self.resize(760, 580)

    def open(self) -> None:
        self.show_beside(ShortcutsDialog)

    def _restyle(self) -> None:
        """The theme changed while it is open."""
        self._color(self._more, "muted")
        self._list(self.search.text())

    def _list(self, typed: str) -> None:
        """Those whose title or keys have every word that was typed; or else whose tip has."""
        words, every = typed.lower().split(), self._actions
        found = [action for action in every if _has(words, _shown(action))]
        found = found or [action for action in every if _has(words, action.tip)]
        page = QWidget()
        across = QHBoxLayout(page)
        across.setSpacing(3 * GRID)
        columns = [self._column(across) for _ in range(COLUMNS)]
        for menu in MENUS:
            here = [action for action in found if action.menu == menu]
            self._section(menu, here, min(columns, key=QGridLayout.rowCount))
        if not found:
            nothing = Label(NOTHING.format(typed.strip()))
            self._color(nothing, "muted")
            columns[0].addWidget(nothing, columns[0].rowCount(), 0, 1, 2)
        for column in columns:
            column.setRowStretch(column.rowCount(), 1)
        self._area.setWidget(page)

    def _column(self, across: QHBoxLayout) -> QGridLayout:
        column = QGridLayout()
        column.setHorizontalSpacing(2 * GRID)
        column.setVerticalSpacing(GRID // 2)
        across.addLayout(column, 1)
        return column

    def _section(self, menu: str, actions: Sequence[Action], column: QGridLayout) -> None:
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


def _shown(action: Action) -> str:
    return " ".join((action.menu, action.title, *map(shown_key, action.keys)))


def _has(words: Sequence[str], text: str) -> bool:
    text = text.lower()
    return all(word in text for word in words)
