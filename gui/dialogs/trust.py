"""The document's Python, to be read before it may run."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gui import commands
from gui.dialogs.code_view import CodeView
from gui.dialogs.dialog import Dialog
from gui.plain import Label
from gui.theme import sans
from gui.workspace import Workspace


class TrustDialog(Dialog):
    """Shows every function; 'Trust' is remembered for exactly this code."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "trust_dialog", "Trust this document?", parent)
        heading = self.add_text("This document contains Python.")
        heading.setFont(sans(strong=True))
        self.add_text(
            "Once trusted, it runs in the engine process with your rights: it can read and write "
            "your files. Read it first. Until then the document can be viewed and edited, but "
            "nodes that need this code do not run.",
            "muted",
        )
        for item in workspace.document.code.values():
            self.column.addWidget(Label(f"{item.name} · {item.kind.value}"))
            view = CodeView(workspace.theme, item.source, f"trust_dialog.{item.name}")
            view.setReadOnly(True)
            view.setMinimumHeight(96)
            self.column.addWidget(view, 1)
        self.add_buttons("Trust", "Keep restricted", careful=True)
        self.resize(640, 520)

    def apply(self) -> str:
        commands.trust(self.workspace)
        return ""
