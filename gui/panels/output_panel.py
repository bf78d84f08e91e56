"""The output panel: what Python printed and breakpoints wrote, the newest at the end."""

from __future__ import annotations

from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QPlainTextEdit

from gradstep.gui.look.theme import GRID, mono
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.panel_base import Panel

MOST = 5_000  # lines that are kept


class OutputPanel(Panel):
    """Follows the end unless the user scrolled away from it."""

    title = "Output"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "output")
        self.text = QPlainTextEdit()
        self.text.setObjectName("output.text")
        self.text.setAccessibleName(self.tr("What the document's Python printed"))
        self.text.setReadOnly(True)
        self.text.setMaximumBlockCount(MOST)
        self.text.setFont(mono(12))
        self.text.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.column.setContentsMargins(GRID, GRID // 2, 0, 0)
        self.column.addWidget(self.text)
        workspace.printed.added.connect(self._add)
        workspace.document_opened.connect(self._clear)
        self._clear()
        for text in workspace.printed.pieces:
            self._add(text)

    def _add(self, text: str) -> None:
        self.show_content()
        bar = self.text.verticalScrollBar()
        follows = bar.value() == bar.maximum()
        if text.count("\n") >= MOST:  # nothing of what is there will stay
            self.text.setPlainText(_end_of(text))
        else:
            cursor = QTextCursor(self.text.document())
            cursor.movePosition(QTextCursor.MoveOperation.End)
            cursor.insertText(text)
        if follows:
            bar.setValue(bar.maximum())

    def _clear(self) -> None:
        self.text.clear()
        self.show_empty(
            self.tr(
                "What the document's Python prints appears here: print(x) in a PyFunc or in a "
                "gradient function, once the document is trusted; and what breakpoints write that "
                "do not stop."
            )
        )


def _end_of(text: str) -> str:
    """The last lines, as many as are kept."""
    return "\n".join(text.rsplit("\n", MOST - 1)[1:])
