"""The note panel: what the document is about, what to look at, and what its runs give."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from gradstep.gui import commands
from gradstep.gui.actions.dialog_table import NOTE, open_dialog
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.expectations_panel import ExpectationList
from gradstep.gui.panels.widgets.markdown_text import MarkedText
from gradstep.gui.panels.widgets.misconception_card import Claim
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.scroll_area import scroll_area
from gradstep.gui.panels.widgets.small_labels import Link

NOTHING = "A note says what a document is about and what to look at in it. Edit > Note… writes one."


class NotePanel(Panel):
    """Title and note; claim and truth; expectations. Names of operations are links."""

    title = "Note"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "note")
        theme = lambda: workspace.theme  # noqa: E731
        self.heading = MarkedText(theme, "note.title", self._is_name, heading=True)
        self.edit = Link(theme, self.tr("Edit…"), "note.edit")
        self.edit.clicked.connect(lambda: open_dialog(workspace, NOTE))
        self.note = MarkedText(theme, "note.text", self._is_name)
        self.claim = Claim(theme, self._is_name)
        self.expectations = ExpectationList(workspace, self._is_name, self._select)
        self.column.addWidget(self._scrolled())
        for text in (self.heading, self.note, self.claim.claim.text, self.claim.truth.text):
            text.linkActivated.connect(self._select)
        workspace.document_changed.connect(self.refresh)
        self.refresh()

    def refresh(self, *_: object) -> None:
        """Show the document's words, and which of them are names now."""
        document = self.workspace.document
        if not document.has_note:
            self.show_empty(self.tr(NOTHING))
            return
        self.heading.say(document.title)
        self.heading.setVisible(bool(document.title))
        self.note.say(document.note)
        self.note.setVisible(bool(document.note))
        self.claim.say(document.claim, document.truth)
        self.expectations.list_them(document.expectations)
        self.show_content()

    def restyle(self) -> None:
        """The theme changed: the texts have its colours inside."""
        for part in (self.heading, self.note, self.claim, self.expectations):
            part.restyle()
        super().restyle()

    def _scrolled(self) -> QScrollArea:
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(12, GRID, 12, 2 * GRID)
        column.setSpacing(GRID)
        head = QHBoxLayout()
        head.addWidget(self.heading, 1)
        head.addWidget(self.edit, 0, Qt.AlignmentFlag.AlignTop)
        column.addLayout(head)
        for part in (self.claim, self.note, self.expectations):
            column.addWidget(part)
        column.addStretch(1)
        return scroll_area(body)

    def _is_name(self, name: str) -> bool:
        return name in self.workspace.shown

    def _select(self, name: str) -> None:
        if self._is_name(name):
            commands.reveal(self.workspace, name)
