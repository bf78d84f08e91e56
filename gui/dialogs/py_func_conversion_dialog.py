"""Turning a node into a Python function, with further inputs if the user wants them."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QWidget

from gradstep.core.document import document_edits
from gradstep.core.errors import GradstepError
from gradstep.core.graph.loop import graph_around
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.dialogs.override_dialog import upstream_candidates
from gradstep.gui.model.workspace import Workspace


class PyFuncDialog(Dialog):
    """Lists the nodes that could be fed to the function as well."""

    def __init__(self, workspace: Workspace, op: Operation, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "pyfunc_dialog", f"Make {op.name} a Python function", parent)
        self._op = op
        self.add_text(
            f"{op.name} computes the same as before, as a function that you can edit, and whose "
            "gradient you can write. It can be given further inputs:",
            "muted",
        )
        self.inputs = QListWidget()
        self.inputs.setObjectName("pyfunc_dialog.inputs")
        self.inputs.setAccessibleName("Further inputs")
        for name in upstream_candidates(graph_around(workspace.document.graph, op.name), op):
            item = QListWidgetItem(name, self.inputs)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Unchecked)
        self.column.addWidget(self.inputs, 1)
        self.add_buttons("Make Python function")
        self.resize(400, 320)

    def apply(self) -> str:
        rows = (self.inputs.item(row) for row in range(self.inputs.count()))
        extra = [TensorRef(i.text()) for i in rows if i.checkState() is Qt.CheckState.Checked]
        try:
            document_edits.to_pyfunc(self.workspace.document, self._op.name, extra)
        except GradstepError as error:
            return error.message
        commands.to_pyfunc(self.workspace, self._op.name, extra)
        return ""
