"""Editing one Python function of the document."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from PySide6.QtWidgets import QComboBox, QLineEdit, QWidget

from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.gui.dialogs.code_view import CodeView
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.model.workspace import Workspace

EXPLAINED = {
    CodeKind.GRADIENT: "The last function, or the one named as above, is called as f(op, grad) "
    "while the gradient graph is built. It returns one gradient for each input of op, made from "
    "op.inputs and grad by +, *, @ and the functions of tf; None for an input that gets no "
    "gradient.",
    CodeKind.NUMPY_GRADIENT: "The last function, or the one named as above, is called with the "
    "gradient of each output and then the inputs, all NumPy arrays, in the engine process. It "
    "returns one gradient for each input, shaped and typed like it; None for one that gets none.",
    CodeKind.PYFUNC: "The last function, or the one named as above, is called with the inputs as "
    "NumPy arrays, in the engine process, and returns the output.",
}


NO_CHOICE: Mapping[CodeKind, str] = MappingProxyType({})
TITLES = {
    CodeKind.GRADIENT: "Gradient function",
    CodeKind.NUMPY_GRADIENT: "Gradient function in NumPy",
    CodeKind.PYFUNC: "Python function",
}
WRITTEN_IN = {
    CodeKind.GRADIENT: "Builds the gradient's operations (tf)",
    CodeKind.NUMPY_GRADIENT: "Computes the gradient's arrays (NumPy)",
}


class CodeDialog(Dialog):
    """`then(item)` is called with the function once its syntax is right.

    new: the function is not there yet, and gets a name. templates: what a new one may be, and
    the source that each kind starts from.
    """

    def __init__(
        self,
        workspace: Workspace,
        item: CodeItem,
        then: Callable[[CodeItem], None],
        parent: QWidget | None = None,
        new: bool = False,
        templates: Mapping[CodeKind, str] = NO_CHOICE,
    ) -> None:
        super().__init__(workspace, "code_dialog", TITLES[item.kind], parent)
        self._item, self._then, self._new, self._templates = item, then, new, templates
        self.name = QLineEdit(item.name)
        self.name.setObjectName("code_dialog.name")
        self.name.setAccessibleName("Name of the function")
        self.name.setReadOnly(not new)
        self.column.addWidget(self.name)
        self.kind = QComboBox()
        self.kind.setObjectName("code_dialog.kind")
        self.kind.setAccessibleName("What the function does")
        for kind in templates:
            self.kind.addItem(WRITTEN_IN[kind], kind)
        self.kind.setVisible(bool(templates))
        self.column.addWidget(self.kind)
        self._explained = self.add_text(EXPLAINED[item.kind], "muted")
        self.code = CodeView(workspace.theme, item.source, "code_dialog.code")
        self.column.addWidget(self.code, 1)
        self.add_buttons("Apply")
        self.resize(640, 440)
        self.kind.currentIndexChanged.connect(self._change_kind)
        self.code.setFocus()

    def apply(self) -> str:
        """Check the syntax, never run anything: code runs in the engine process only."""
        name, source = self.name.text().strip(), self.code.toPlainText()
        if self._new and not name.isidentifier():
            return f"'{name}' cannot be the name of a function"
        if self._new and name in self.workspace.document.code:
            return f"there is a function named '{name}' already"
        text, line = syntax_problem(source)
        self.code.mark(line)
        if not text:
            self._then(replace(self._item, name=name, source=source.rstrip() + "\n"))
        return text

    def _change_kind(self) -> None:
        """Start from the other kind's template, unless something has been written already."""
        kind = CodeKind(self.kind.currentData())
        if self.code.toPlainText() == self._templates[self._item.kind]:
            self.code.setPlainText(self._templates[kind])
        self._item = replace(self._item, kind=kind)
        self.setWindowTitle(TITLES[kind])
        self._explained.setText(EXPLAINED[kind])


def syntax_problem(source: str) -> tuple[str, int]:
    """What keeps `source` from being a function, and in which line; ("", 0) for nothing."""
    try:
        tree = ast.parse(source)
    except SyntaxError as error:
        return f"line {error.lineno}: {error.msg}", error.lineno or 0
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error), 0
    if not any(isinstance(node, ast.FunctionDef) for node in tree.body):
        return "no function is defined: write def name(…):", 0
    return "", 0
