"""Copying variables from a session, or from another window's graph, by name or by scope."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QFormLayout, QLineEdit, QWidget

from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.dialogs.request_dialog import names_in
from gradstep.gui.look.theme import mono
from gradstep.gui.model import shown_workspaces
from gradstep.gui.model.workspace import Workspace


class CopyValuesDialog(Dialog):
    """Deep, as `tf.assign` is: what the one does afterwards does not change the other."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "copy_values_dialog", "Copy values", parent)
        names = workspace.sessions.names
        self._windows = {
            f"{other.name} (its window)": other for other in shown_workspaces.others(workspace)
        }
        others = [name for name in names if name != workspace.sessions.current]
        first = next(iter([*others, *self._windows, *names]))
        self.source = self._choice("source", "From", [*names, *self._windows], first)
        self.target = self._choice("target", "To session", names, workspace.sessions.current)
        self.wanted = QLineEdit()
        self.wanted.setObjectName("copy_values_dialog.wanted")
        self.wanted.setAccessibleName("Variables")
        self.wanted.setPlaceholderText("all of the same name")
        self.wanted.setFont(mono())
        form = QFormLayout()
        form.addRow("From", self.source)
        form.addRow("to", self.target)
        form.addRow("Variables", self.wanted)
        self.column.addLayout(form)
        self.add_text(
            "w, or w=v to copy w into v; net/ for a scope, or online/=target/ to copy one into "
            "another. What one session does later leaves the copies as they are.",
            "muted",
        )
        self._from_window = self.add_text(
            "From another window, the values become those that the variables start with, in "
            "every session.",
            "muted",
        )
        self.source.currentTextChanged.connect(self._show_target)
        self._show_target()
        self.add_buttons("Copy")
        self.resize(440, 220)

    def apply(self) -> str:
        source, wanted = self.source.currentText(), names_in(self.wanted.text())
        other = self._windows.get(source)
        if other is None:
            commands.copy_variables(self.workspace, source, self.target.currentText(), wanted)
        else:
            commands.copy_from_window(self.workspace, other, wanted)
        return ""

    def _show_target(self) -> None:
        from_window = self.source.currentText() in self._windows
        self.target.setEnabled(not from_window)
        self._from_window.setVisible(from_window)

    def _choice(self, name: str, title: str, items: list[str], chosen: str) -> QComboBox:
        box = QComboBox()
        box.setObjectName(f"copy_values_dialog.{name}")
        box.setAccessibleName(title)
        box.addItems(items)
        box.setCurrentText(chosen)
        return box
