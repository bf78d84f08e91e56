"""Choosing what replaces a gradient: for one operation, its type or its scope."""

from __future__ import annotations

from PySide6.QtWidgets import QComboBox, QFormLayout, QWidget

from gradstep.core.autodiff.reverse.gradient_request import Override, OverrideKind
from gradstep.core.document.document import CodeItem, CodeKind
from gradstep.core.graph.model import Graph, Operation
from gradstep.gui import commands
from gradstep.gui.dialogs.code_dialog import CodeDialog
from gradstep.gui.dialogs.dialog_base import Dialog
from gradstep.gui.model.workspace import Workspace

NEW = "New function…"
BORROWED = ("Identity", "StopGradient", "Relu", "Tanh", "Sigmoid")


class OverrideDialog(Dialog):
    """A function of the document, a new one, or another op's own gradient."""

    def __init__(self, workspace: Workspace, op: Operation, parent: QWidget | None = None) -> None:
        title = f"Override the gradient of {op.name}"
        super().__init__(workspace, "override_dialog", title, parent)
        self._op = op
        self.gradient = self._choice("gradient", "Gradient to use", gradients(workspace, op))
        self.target = self._choice("target", "Instead of that of", [])
        for kind, name, words in targets(op):
            self.target.addItem(words, (kind, name))
        form = QFormLayout()
        form.addRow("Use", self.gradient)
        form.addRow("for", self.target)
        self.column.addLayout(form)
        self.add_buttons("Override")
        self.resize(400, 150)

    def apply(self) -> str:
        kind, target = self.target.currentData()
        name = self.gradient.currentText()
        if name != NEW:
            commands.set_override(self.workspace, Override(name, target, kind))
            return ""
        write_gradient(self.workspace, self._op, kind, target, self.parentWidget())
        return ""

    def _choice(self, name: str, words: str, items: list[str]) -> QComboBox:
        box = QComboBox()
        box.setObjectName(f"override_dialog.{name}")
        box.setAccessibleName(words)
        box.addItems(items)
        return box


def write_gradient(
    workspace: Workspace, op: Operation, kind: OverrideKind, target: str, parent: QWidget | None
) -> CodeDialog:
    """Open the editor on a new gradient function; it is in force once it is applied."""
    templates = {
        CodeKind.GRADIENT: template(op),
        CodeKind.NUMPY_GRADIENT: numpy_template(op),
    }
    item = CodeItem(unused_name(workspace, op), CodeKind.GRADIENT, template(op))

    def done(item: CodeItem) -> None:
        commands.override_by_code(workspace, item, Override(item.name, target, kind))

    dialog = CodeDialog(workspace, item, done, parent, new=True, templates=templates)
    dialog.open()
    return dialog


def gradients(workspace: Workspace, op: Operation) -> list[str]:
    """What the gradient of `op` can be replaced by, the document's own functions first."""
    items = workspace.document.code.values()
    own = [item.name for item in items if item.kind is not CodeKind.PYFUNC]
    return [*own, NEW, *(name for name in BORROWED if name != op.type)]


def targets(op: Operation) -> list[tuple[OverrideKind, str, str]]:
    """For what an override can be: kind, target, and how a person would say it."""
    found = [(OverrideKind.OP, op.name, f"{op.name} only")]
    if op.scope:
        found.append((OverrideKind.SCOPE, op.scope, f"all operations in {op.scope}/"))
    return [*found, (OverrideKind.TYPE, op.type, f"all {op.type} operations")]


def unused_name(workspace: Workspace, op: Operation) -> str:
    """ "CustomAddV2", numbered when it is taken."""
    base = f"Custom{op.type}"
    names = [base, *(f"{base}{n}" for n in range(2, len(workspace.document.code) + 3))]
    return next(name for name in names if name not in workspace.document.code)


def template(op: Operation) -> str:
    """A gradient function with the right number of inputs, to start from."""
    names = _variables(op)
    end = "," if len(names) == 1 else ""
    result = ", ".join(["grad"] * len(names))
    return (
        f"def backprop(op, grad):\n    {', '.join(names)}{end} = op.inputs\n"
        f"    return {result}{end}\n"
    )


def numpy_template(op: Operation) -> str:
    """The same for a function of NumPy arrays."""
    names = _variables(op)
    given = ", ".join(["grad", *names])
    result = ", ".join(["grad"] * len(names))
    return f"def backprop({given}):\n    return {result}\n"


def _variables(op: Operation) -> list[str]:
    """Python names for the inputs, after what comes in if that tells them apart."""
    names = [_variable(ref.op) if ref is not None else f"x{i}" for i, ref in enumerate(op.inputs)]
    if len({*names, "grad"}) <= len(names):
        names = [f"x{i}" for i in range(len(op.inputs))]
    return names


def _variable(name: str) -> str:
    last = name.rpartition("/")[2]
    return last if last.isidentifier() else "x"


def upstream_candidates(graph: Graph, op: Operation) -> list[str]:
    """Operations that may become further inputs of `op` without closing a cycle."""
    excluded = {ref.op for ref in op.inputs if ref is not None} | graph.descendants(op.name)
    return [name for name in graph.operations if name not in excluded]
