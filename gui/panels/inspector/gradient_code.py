"""The user's own gradient function at a node: whether it may run, and what is to be written."""

from __future__ import annotations

from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QPlainTextEdit, QVBoxLayout, QWidget

from gradstep.core.document.document import CodeItem
from gradstep.core.document.required_python import missing_code
from gradstep.core.graph.model import Operation
from gradstep.core.program.trust.permission_levels import Permission
from gradstep.gui.actions.dialog_table import TRUST, open_dialog
from gradstep.gui.dialogs.code_view import CodeView
from gradstep.gui.look.theme import GRID, Theme, mono
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.fact_rows import drop_all, line_of
from gradstep.gui.panels.inspector.gradient_menu import gradient_in_force
from gradstep.gui.panels.widgets.small_labels import Link, SectionHeader

_MOST_LINES = 16


class CodePreview(CodeView):
    """Read-only, long lines wrapped, as high as its text."""

    def __init__(self, theme: Theme, source: str) -> None:
        super().__init__(theme, source.strip("\n"), "inspector.code.text")
        self.setReadOnly(True)
        self.setFont(mono(12))
        self.setLineWrapMode(CodeView.LineWrapMode.WidgetWidth)
        self.setTabChangesFocus(True)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        QPlainTextEdit.keyPressEvent(self, event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        lines = min(int(self.document().size().height()), _MOST_LINES)
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + 3 * GRID)


class GradientCode(QWidget):
    """A preview; "Edit" opens the editor, "Review and trust" decides whether it runs. Of a function
    that is only named, "Write" opens the editor."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("inspector.code")
        self._workspace = workspace
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID // 2)
        self.header = SectionHeader(lambda: workspace.theme, "")
        self._body = QVBoxLayout()
        self._body.setSpacing(GRID // 2)
        column.addWidget(self.header)
        column.addLayout(self._body)

    def show_node(self, op: Operation) -> None:
        """Show the code that this node's gradient runs, if it is the user's."""
        drop_all(self._body)
        document = self._workspace.document
        name, _ = gradient_in_force(document, op)
        item = document.code.get(name)
        missing = name in [asked.name for asked in missing_code(document, [op.name])]
        self.setVisible(missing or item is not None)
        if missing:
            self.header.set_texts(name, self.tr("not written yet"), "problem")
            self._body.addWidget(line_of(self._write(name)))
        elif item is not None:
            self._show(item)

    def _show(self, item: CodeItem) -> None:
        trusted = self._workspace.trusted
        words = {
            Permission.REFUSED: self.tr("restricted: does not run"),
            Permission.CONFINED: self.tr("runs without network and files"),
            Permission.FULL: self.tr("trusted ✓"),
        }
        remark = words[self._workspace.permission]
        title = self.tr("Gradient function")
        self.header.set_texts(title, remark, "muted" if trusted else "problem")
        self._body.addWidget(CodePreview(self._workspace.theme, item.source))
        self._body.addWidget(self._links(item, trusted))

    def _write(self, name: str) -> Link:
        link = Link(
            lambda: self._workspace.theme,
            self.tr("Write {}…").format(name),
            "inspector.code.write",
        )
        link.clicked.connect(lambda: self._workspace.ask_window("code", name))
        return link

    def _links(self, item: CodeItem, trusted: bool) -> QWidget:
        theme = lambda: self._workspace.theme  # noqa: E731
        edit = Link(theme, self.tr("Edit {}").format(item.name), "inspector.code.edit")
        edit.clicked.connect(lambda: self._workspace.ask_window("code", item.name))
        if trusted:
            return line_of(edit)
        trust = Link(theme, self.tr("Review and trust…"), "inspector.code.trust")
        trust.clicked.connect(lambda: open_dialog(self._workspace, TRUST))
        return line_of(edit, trust)
