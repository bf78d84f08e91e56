"""The sessions panel: what each session's variables hold, side by side, and which one is shown."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton, QSizePolicy, QTabBar

from gradstep.core.protocol.messages import SessionInfo
from gradstep.gui import commands
from gradstep.gui.actions.dialog_table import COPY_VALUES, open_dialog
from gradstep.gui.dialogs import confirm_dialog
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.table_cells import Cell, CellModel

_NAME, _VALUE = 200, 184  # pixels, of the columns


class SessionTable(CellModel):
    """A row for each variable, a column for each session. What the shown session holds as well is
    muted elsewhere, so that differences stand out."""

    def __init__(self) -> None:
        super().__init__()
        self.sessions: tuple[SessionInfo, ...] = ()
        self.variables: list[str] = []
        self._shown: SessionInfo | None = None

    def show_sessions(self, sessions: tuple[SessionInfo, ...], current: str) -> None:
        """Other sessions, or others of their values."""
        self.beginResetModel()
        self.sessions = sessions
        self.headers = ("variable", *(_place(session) for session in sessions))
        self.variables = list(dict.fromkeys(n for s in sessions for n in s.held))
        self._shown = next((s for s in sessions if s.name == current), None)
        self.endResetModel()

    def count(self) -> int:
        return len(self.variables)

    def cell(self, row: int, column: int) -> Cell:
        name = self.variables[row]
        if column == 0:
            return Cell(name, code=True)
        session = self.sessions[column - 1]
        if name not in session.held:
            return Cell("uninitialized", tone="faint")
        value, shown = session.held[name], self._shown
        is_shown = session is shown
        same = shown is not None and not is_shown and shown.held.get(name) == value
        return Cell(value, code=True, tone="muted" if same else "text", strong=is_shown)


class SessionsPanel(Panel):
    """A tab for each session shows it; buttons make, end and fill sessions."""

    title = "Sessions"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "sessions")
        self.model = SessionTable()
        self.table = FlatTable(lambda: workspace.theme, self.model, "sessions.table", (_NAME,))
        self.table.setAccessibleName(self.tr("Variables of each session"))
        self.names = QTabBar()
        self.names.setObjectName("sessions.names")
        self.names.setAccessibleName(self.tr("Session that is shown"))
        self.names.setExpanding(False)
        self.names.setDrawBase(False)
        self.names.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.column.addLayout(self._head())
        self.column.addWidget(self.table, 1)
        self.names.currentChanged.connect(self._show_session)
        self.table.chosen.connect(self._select)
        workspace.sessions.changed.connect(self.refresh)
        workspace.stopped.connect(self._ask)  # as it does after each other program
        self.refresh()

    def refresh(self) -> None:
        """Show what is known of them."""
        known = self.workspace.sessions
        self.model.show_sessions(known.found, known.current)
        self.table.set_widths((_NAME,))
        self.table.share_rest(range(1, len(self.model.headers)), _VALUE)
        self._name_them([session.name for session in known.found], known.current)
        self.delete.setEnabled(len(known.found) > 1)
        if known.found and self.workspace.program is not None:
            self.show_content()
        else:
            self.show_empty(
                self.tr(
                    "Each session of a graph has variables and runs of its own. They appear here "
                    "side by side, and their values can be copied from one to another."
                )
            )

    def seen(self) -> None:
        super().seen()
        self.workspace.debugger.shows_sessions = True
        self._ask()

    def unseen(self) -> None:
        self.workspace.debugger.shows_sessions = False

    def _ask(self) -> None:
        if self.is_seen:
            self.workspace.sessions.refresh()

    def _head(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setContentsMargins(GRID // 2, GRID // 2, 12, GRID // 2)
        row.setSpacing(GRID)
        row.addWidget(self.names, 1)
        space = self.workspace
        add = self._button("add", self.tr("Add"), self.tr("Add a session"))
        menu = QMenu(add)
        menu.addAction(self.tr("New, with initial values"), lambda: commands.new_session(space))
        menu.addAction(
            self.tr("Duplicate, with the values of now"), lambda: commands.duplicate_session(space)
        )
        add.setMenu(menu)
        self.delete = self._button("delete", self.tr("Delete"), self.tr("Delete the shown session"))
        self.delete.clicked.connect(self._delete)
        copy = self._button("copy", self.tr("Copy values…"), self.tr("Copy values of variables"))
        copy.clicked.connect(lambda: open_dialog(space, COPY_VALUES))
        for button in (add, self.delete, copy):
            row.addWidget(button)
        return row

    def _delete(self) -> None:
        """End the shown session; asks where it took the user real time."""
        sessions = self.workspace.sessions
        if not sessions.took_long(sessions.current) or confirm_dialog.confirm(
            self,
            self.tr("Delete a session"),
            self.tr("Delete {}, with the values of its variables and its runs?").format(
                sessions.current
            ),
            self.tr("Nothing brings them back. Copy values… takes them to another session first."),
            self.tr("Delete"),
            self.tr("Keep"),
        ):
            commands.delete_session(self.workspace)

    def _button(self, name: str, title: str, words: str) -> QPushButton:
        button = QPushButton(title)
        button.setObjectName(f"sessions.{name}")
        button.setAccessibleName(words)
        return button

    def _name_them(self, names: list[str], current: str) -> None:
        """A tab for each session, that of the shown one in front."""
        tabs = self.names
        tabs.blockSignals(True)
        if [tabs.tabText(i) for i in range(tabs.count())] != names:
            while tabs.count():
                tabs.removeTab(0)
            for name in names:
                tabs.addTab(name)
        if current in names:
            tabs.setCurrentIndex(names.index(current))
        tabs.blockSignals(False)

    def _show_session(self, index: int) -> None:
        name = self.names.tabText(index)
        if name and name != self.workspace.sessions.current:
            commands.switch_session(self.workspace, name)

    def _select(self, row: int) -> None:
        name = self.model.variables[row]
        if name in self.workspace.document.graph:
            commands.reveal(self.workspace, name)


def _place(session: SessionInfo) -> str:
    return f"{session.name} · run {session.run + 1} · step {session.step}"
