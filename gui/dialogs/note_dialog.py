"""Writing the document's title and note, and a claim with the truth beside it."""

from __future__ import annotations

from PySide6.QtWidgets import QFormLayout, QLineEdit, QPlainTextEdit, QWidget

from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace

MARKS = "**strong**, `code`, - lists, | tables |. A `name` of a node becomes a link to it."


class NoteDialog(Dialog):
    """Light Markdown; the names of operations in backquotes become links."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "note_dialog", "Note", parent)
        document = workspace.document
        self.title = QLineEdit(document.title)
        self.title.setObjectName("note_dialog.title")
        self.title.setAccessibleName("Title")
        self.note = self._field("note", "Note", document.note)
        self.claim = self._field("claim", "What is often said", document.claim)
        self.truth = self._field("truth", "What is so", document.truth)
        self._lay_out()

    def apply(self) -> str:
        texts = (field.toPlainText() for field in (self.note, self.claim, self.truth))
        commands.set_note(self.workspace, self.title.text().strip(), *(t.strip() for t in texts))
        return ""

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.setVerticalSpacing(GRID)
        form.addRow("Title", self.title)
        form.addRow("Note", self.note)
        form.addRow("Often said", self.claim)
        form.addRow("In fact", self.truth)
        self.column.addLayout(form)
        self.add_text(MARKS, "muted")
        for field in (self.claim, self.truth):
            field.setFixedHeight(9 * GRID)
            field.setPlaceholderText("if a claim is to be held against the truth")
        self.add_buttons("Apply")
        self.resize(560, 520)

    def _field(self, name: str, title: str, text: str) -> QPlainTextEdit:
        field = QPlainTextEdit(text)
        field.setObjectName(f"note_dialog.{name}")
        field.setAccessibleName(title)
        field.setTabChangesFocus(True)
        return field
