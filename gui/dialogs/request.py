"""Of what, and with respect to what, gradients are derived."""

from __future__ import annotations

from PySide6.QtWidgets import QFormLayout, QLineEdit, QWidget

from core.errors import GradstepError
from core.graph.model import TensorRef
from core.io import edits
from gui import commands
from gui.dialogs.dialog import Dialog
from gui.workspace import Workspace


class RequestDialog(Dialog):
    """Names, separated by spaces or commas; the selected nodes are offered as `of`."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "request_dialog", "Differentiate", parent)
        request = workspace.document.request
        of = [ref.short for ref in request.of] or list(workspace.selection)
        wrt = [ref.short for ref in request.wrt] or _variables(workspace)
        self.of, self.wrt = self._field("of", of), self._field("wrt", wrt)
        form = QFormLayout()
        form.addRow("Gradient of", self.of)
        form.addRow("with respect to", self.wrt)
        self.column.addLayout(form)
        self.add_buttons("Differentiate")
        self.resize(420, 150)

    def apply(self) -> str:
        of, wrt = names_in(self.of.text()), names_in(self.wrt.text())
        try:
            for name in (*of, *wrt):
                TensorRef.parse(name)
            edits.set_request(self.workspace.document, of, wrt)
        except GradstepError as error:
            return f"{error.message}. {error.hint}" if error.hint else error.message
        commands.set_request(self.workspace, of, wrt)
        return ""

    def _field(self, name: str, names: list[str]) -> QLineEdit:
        field = QLineEdit(", ".join(names))
        field.setObjectName(f"request_dialog.{name}")
        field.setAccessibleName({"of": "Gradient of", "wrt": "With respect to"}[name])
        return field


def names_in(text: str) -> list[str]:
    return text.replace(",", " ").split()


def _variables(workspace: Workspace) -> list[str]:
    return [op.name for op in workspace.document.graph if op.type in ("VariableV2", "VarHandleOp")]
