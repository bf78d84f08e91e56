"""The document's Python, to be read before it may run, and what it may do."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QDialogButtonBox, QPushButton, QWidget

from gradstep.core.host.engine_client import local_engine
from gradstep.core.program import sandbox
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.gui import commands
from gradstep.gui.dialogs.code_view import CodeView
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.plain_text import Label
from gradstep.gui.look.theme import sans
from gradstep.gui.model.workspace import Workspace

CONFINED = "Run it without network and files"
FULL = "Run it with your rights"
REFUSED = "Do not run it"
NOW = {
    Permission.REFUSED: "Until you decide, the document can be viewed and edited, but nodes that "
    "need this code do not run.",
    Permission.CONFINED: "Now it runs without network and files.",
    Permission.FULL: "Now it runs with your rights.",
}


class TrustDialog(Dialog):
    """Shows every function; the answer is remembered for exactly this program."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "trust_dialog", "What may this document's Python do?", parent)
        self._missing = _missing(workspace)
        heading = self.add_text("This document contains Python.")
        heading.setFont(sans(strong=True))
        self.add_text(
            "Without network and files it can compute and print: it reads and writes no file of "
            "yours, reaches no other machine and starts no program. With your rights it can do "
            f"whatever you can{_where(workspace)}: read it first. {NOW[workspace.permission]}",
            "muted",
        )
        for item in workspace.document.code.values():
            self.column.addWidget(Label(f"{item.name} · {item.kind.value}"))
            view = CodeView(workspace.theme, item.source, f"trust_dialog.{item.name}")
            view.setReadOnly(True)
            view.setMinimumHeight(96)
            self.column.addWidget(view, 1)
        if self._missing:
            self.add_text(f"Here it cannot run without network and files: {self._missing}.")
        self._add_answers()
        self.resize(720, 520)

    def apply(self) -> str:
        commands.trust(self.workspace, Permission.CONFINED)
        return ""

    def _add_answers(self) -> None:
        runs = self.workspace.permission.runs
        confined = self.add_buttons(
            CONFINED, "Cancel" if runs else "Keep restricted", careful=bool(self._missing)
        )
        confined.setEnabled(not self._missing)
        if not self._missing:
            confined.setFocus()
        box = confined.parent()
        assert isinstance(box, QDialogButtonBox)
        self._add_answer(box, FULL, "full", Permission.FULL)
        if runs:
            self._add_answer(box, REFUSED, "refuse", Permission.REFUSED)

    def _add_answer(
        self, box: QDialogButtonBox, text: str, name: str, permission: Permission
    ) -> None:
        button: QPushButton = box.addButton(text, QDialogButtonBox.ButtonRole.ActionRole)
        button.setObjectName(f"trust_dialog.{name}")
        button.setAccessibleName(text)
        button.setAutoDefault(False)
        button.clicked.connect(partial(self._answer, permission))

    def _answer(self, permission: Permission, *_: object) -> None:
        commands.trust(self.workspace, permission)
        self.accept()


def _where(workspace: Workspace) -> str:
    machine = workspace.bridge.machine
    return f" on {machine}, where the engine runs" if machine else ""


def _missing(workspace: Workspace) -> str:
    """What this machine lacks for a sandbox; an engine elsewhere says it itself."""
    is_local = list(workspace.bridge.command) == local_engine()
    return sandbox.why_not() if is_local else ""
