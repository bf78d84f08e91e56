"""Of what, and with respect to what, gradients are derived."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QCheckBox, QFormLayout, QLineEdit, QPushButton, QWidget

from gradstep.core.autodiff.recognition.answered_request import ImportedGradients
from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.document import document_edits
from gradstep.core.errors import GradstepError
from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.ops.build.variable import is_trainable
from gradstep.gui import commands
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.look.plain_text import plain
from gradstep.gui.model.error_words import words
from gradstep.gui.model.workspace import Workspace

ONES = "-"  # in place of a name, as on the command line
EMPTY = "Name the tensor to take the gradient of: the loss, as a rule"


class RequestDialog(Dialog):
    """Names, separated by spaces or commas; the selected nodes are offered as `of`."""

    def __init__(self, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(workspace, "request_dialog", "Differentiate", parent)
        request = workspace.document.request
        of, wrt = (list(names) for names in suggest_request(workspace))
        self.of = self._field("of", "Gradient of", of)
        self.wrt = self._field("wrt", "With respect to", wrt)
        starts = [ONES if ref is None else ref.short for ref in request.grad_ys]
        self.grad_ys = self._field("grad_ys", "Start with", starts)
        self.grad_ys.setPlaceholderText("ones")
        self.grad_ys.setToolTip(
            plain(f"grad_ys: the gradient that comes to each tensor, in its shape; {ONES} for ones")
        )
        self.zero = self._box(
            "unconnected_zero", "Zeros where there is no gradient", request.unconnected_zero
        )
        self.zero.setToolTip("unconnected_gradients='zero': None becomes zeros")
        self.gate = self._box("gate", "Wait for all gradients of an operation", request.gate)
        self.gate.setToolTip("gate_gradients: none goes on before all of them are there")
        self._lay_out()

    def apply(self) -> str:
        of, wrt = names_in(self.of.text()), names_in(self.wrt.text())
        if not of:
            return EMPTY
        starts = [None if n == ONES else n for n in names_in(self.grad_ys.text())]
        flags = (self.zero.isChecked(), self.gate.isChecked())
        try:
            document_edits.set_request(self.workspace.document, of, wrt, starts, *flags)
        except GradstepError as error:
            return words(error)
        commands.set_request(self.workspace, of, wrt, starts, *flags)
        return ""

    def _lay_out(self) -> None:
        form = QFormLayout()
        form.addRow("Gradient of", self.of)
        form.addRow("with respect to", self.wrt)
        form.addRow("starting with", self.grad_ys)
        form.addRow("", self.zero)
        form.addRow("", self.gate)
        self.column.addLayout(form)
        self.none = QPushButton("No gradients")
        self.none.setObjectName("request_dialog.none")
        self.none.setAccessibleName(self.none.text())
        self.none.setAutoDefault(False)
        self.none.setToolTip("Differentiate nothing any more")
        self.none.clicked.connect(self._ask_for_none)
        self.add_buttons("Differentiate", beside=self.none)
        self.none.setVisible(bool(self.workspace.document.request.of))
        self.resize(440, 240)

    def _ask_for_none(self) -> None:
        commands.set_request(self.workspace, [], [], [], False, False)
        self.accept()

    def _field(self, name: str, title: str, names: list[str]) -> QLineEdit:
        field = QLineEdit(", ".join(names))
        field.setObjectName(f"request_dialog.{name}")
        field.setAccessibleName(title)
        return field

    def _box(self, name: str, title: str, on: bool) -> QCheckBox:
        box = QCheckBox(title)
        box.setObjectName(f"request_dialog.{name}")
        box.setChecked(on)
        return box


def names_in(text: str) -> list[str]:
    return text.replace(",", " ").split()


def suggest_request(workspace: Workspace) -> tuple[Sequence[str], Sequence[str]]:
    """What is differentiated, and by what, where nobody has said it: what the graph itself has the
    gradients of, or else the selection, or the one result of the graph, and the variables that are
    trained."""
    document = workspace.document
    asked: list[GradientRequest | ImportedGradients] = [document.request, *document.imported]
    of = next((one.of for one in asked if one.of), ())
    wrt = next((one.wrt for one in asked if one.of == of and one.wrt), ())
    trained = [op.name for op in document.graph if _is_trained(workspace, op)]
    asked_of = [x.short for x in of] or workspace.selection or _only_result(workspace)
    return asked_of, [x.short for x in wrt] or trained


def _only_result(workspace: Workspace) -> list[str]:
    """The one operation that nothing reads and that has a gradient; of several the one number."""
    graph, types = workspace.document.graph, workspace.inference.types
    ends = [op.name for op in graph if op.inputs and not graph.consumers[op.name]]
    kinds = {name: types.get(TensorRef(name)) for name in ends}
    found = [n for n, kind in kinds.items() if kind is not None and kind.dtype.is_differentiable]
    numbers = [name for name in found if kinds[name].shape.rank == 0]
    return found if len(found) == 1 else numbers if len(numbers) == 1 else []


def _is_trained(workspace: Workspace, op: Operation) -> bool:
    kind = workspace.inference.types.get(op.output())
    return is_trainable(op) and (kind is None or kind.dtype.is_differentiable)
