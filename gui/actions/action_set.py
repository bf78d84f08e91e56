"""Actions as QActions of a window: created once, their state brought up to date in one go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget
from shiboken6 import isValid

from gradstep.gui.actions.action_record import Action, Condition
from gradstep.gui.look import icons
from gradstep.gui.look.plain_text import plain, without_mnemonic
from gradstep.gui.model.once_told import BeforePaint, OnceTold
from gradstep.gui.model.workspace import Workspace


class ActionSet(QObject):
    """One QAction for each row, owned by the window."""

    refreshed = Signal()

    def __init__(self, workspace: Workspace, window: QWidget, rows: Sequence[Action]) -> None:
        super().__init__(window)
        self.workspace = workspace
        self._needs: dict[str, str] = {}  # what each action waits for, as it shows
        self._rows = rows
        self._actions = {row.id: self._made(row, window) for row in rows}
        self._undo = [row for row in rows if row.id in ("edit.undo", "edit.redo")]
        told = OnceTold(workspace.debugger, self.refresh, self)
        self._soon = BeforePaint(told.hear, self)
        for signal in (
            workspace.document_changed,
            workspace.selection_changed,
            workspace.stopped,
            workspace.program_changed,
            workspace.engine_changed,
            workspace.file_changed,
            workspace.profiler.changed,
            workspace.training.changed,
            workspace.soundness.changed,
            workspace.explained,
        ):
            signal.connect(self._soon.start)
        workspace.undo_stack.indexChanged.connect(self._show_undo)
        workspace.theme_changed.connect(self._tint)
        self._tint()
        self._show_undo()
        self.refresh()

    def __getitem__(self, id: str) -> QAction:
        return self._actions[id]

    def __iter__(self) -> Iterator[tuple[Action, QAction]]:
        return zip(self._rows, self._actions.values(), strict=True)

    def row(self, id: str) -> Action:
        """The row of an action."""
        return next(row for row in self._rows if row.id == id)

    def run(self, id: str) -> None:
        """Run an action by its id, if it is enabled now."""
        self.refresh()
        self._actions[id].trigger()

    def refresh(self) -> None:
        """Bring enabled, checked and the undo texts up to date with the workspace."""
        self._soon.stop()
        found: dict[Condition, str] = {}  # many wait for the same
        for row, action in self:
            need = found.get(row.enabled)
            if need is None:
                need = found[row.enabled] = row.enabled.obstacle(self.workspace)
            if self._needs.get(row.id) != need:
                self._show_need(row, action, need)
            if row.checked is not None:
                action.setChecked(row.checked(self.workspace))
        self.refreshed.emit()

    def _show_undo(self) -> None:
        """At once: who edits may take that back before the engine has said anything of it."""
        stack = self.workspace.undo_stack
        if not isValid(stack):  # it says that it is emptied when it goes, with its document
            return
        for row in self._undo:
            action = self._actions[row.id]
            need = row.enabled.obstacle(self.workspace)
            if self._needs.get(row.id) != need:
                self._show_need(row, action, need)
            text = stack.undoText() if row.id == "edit.undo" else stack.redoText()
            action.setText(without_mnemonic(f"{row.title} {text}".strip()))

    def _show_need(self, row: Action, action: QAction, need: str) -> None:
        self._needs[row.id] = need
        action.setEnabled(not need)
        action.setToolTip(plain(tool_tip(row, need)))

    def _made(self, row: Action, parent: QObject) -> QAction:
        action = QAction(row.title, parent)
        action.setObjectName(row.id)
        action.setCheckable(row.checked is not None)
        action.setShortcuts([QKeySequence(key) for key in row.keys])
        action.setStatusTip(plain(row.tip))
        if row.canvas:  # which minds its keys itself; here they are only shown
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        action.triggered.connect(lambda: self._triggered(row))
        return action

    def _triggered(self, row: Action) -> None:
        row.run(self.workspace)
        self._soon.start()

    def _tint(self) -> None:
        for row, action in self:
            if row.icon:
                action.setIcon(icons.icon(row.icon, self.workspace.theme))


def tool_tip(row: Action, need: str = "") -> str:
    """Title and key, what it does, and what it needs where it cannot be done."""
    key = f"  ({row.shortcut})" if row.keys else ""
    lines = [f"{row.title.rstrip('…')}{key}", row.tip]
    return "\n".join([*lines, *([f"Not now: {need}"] if need else [])])
