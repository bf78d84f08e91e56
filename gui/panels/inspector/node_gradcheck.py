"""Whether a node's gradient is right: asked for here, and answered input by input."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.protocol.messages import CheckedTensor, NodeCheck
from gradstep.core.protocol.vocabulary import CheckVerdict
from gradstep.gui import commands
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.fact_rows import FactRows
from gradstep.gui.panels.widgets.small_labels import Link, SectionHeader, Wrapped

# Verdict -> the mark before it and its colour, in words a theme knows.
MARKS: Mapping[CheckVerdict, tuple[str, Tone]] = {
    "ok": ("✓", "update"),
    "kink": ("∧", "backward"),
    "float32 limit": ("≈", "muted"),
    "TensorFlow's": ("≠", "backward"),
    "wrong": ("×", "problem"),
}


class NodeVerdict(QWidget):
    """A link that checks the node alone, and what the last check said of it."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("inspector.verdict")
        self._workspace, self._name = workspace, ""
        theme = lambda: workspace.theme  # noqa: E731
        self.header = SectionHeader(theme, self.tr("Gradient check"))
        self.rows = FactRows(theme)
        self.link = Link(theme, self.tr("Check this gradient"), "inspector.verdict.check")
        self.link.setToolTip(self.tr("Compare it with finite differences of this node alone"))
        self.link.clicked.connect(lambda: commands.check_node(workspace, self._name))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID // 2)
        for part in (self.header, self.rows, self.link):
            column.addWidget(part)

    def show_node(self, op: Operation) -> None:
        """Show what the last check found; hidden for a node that computes nothing."""
        self._name = op.name
        self.setVisible(self._workspace.program is not None and can_be_checked(self._workspace, op))
        check = self._last(op.name)
        self.rows.clear()
        self.rows.setVisible(check is not None)
        self.header.set_texts(self.tr("Gradient check"), "" if check is None else check.gradient)
        for tensor in check.tensors if check is not None else ():
            tip = f"{tensor.text}: {tensor.why}" if tensor.why else tensor.text
            self.rows.add(_caption(tensor), self._answer(tensor), tip)
        if check is not None and not check.tensors:
            self.rows.add("", self._line(check.text, "problem"))

    def _last(self, name: str) -> NodeCheck | None:
        table = self._workspace.table
        nodes = table.nodes if table is not None else []
        return next((node for node in nodes if node.node == name), None)

    def _answer(self, tensor: CheckedTensor) -> Wrapped:
        mark, tone = MARKS[tensor.verdict]
        return self._line(f"{mark} {answer(tensor)}", tone)

    def _line(self, text: str, tone: Tone) -> Wrapped:
        line = Wrapped(lambda: self._workspace.theme, "inspector.verdict.line", tone)
        line.setText(text)
        return line


def answer(tensor: CheckedTensor) -> str:
    """`ok, off by 1.3e-09 at [1] (complex step)`; of a kink, its two slopes; of a defect of
    TensorFlow's own, that it is one."""
    if tensor.verdict == "kink" or tensor.verdict == "TensorFlow's":
        return tensor.text
    place = f" at {tensor.index}" if tensor.index else ""
    part = f", {tensor.looked_at} of {tensor.size} elements" if _is_part(tensor) else ""
    return f"{tensor.verdict}, off by {tensor.difference:.2g}{place} ({tensor.method}{part})"


def _is_part(tensor: CheckedTensor) -> bool:
    return tensor.looked_at < tensor.size


def _caption(tensor: CheckedTensor) -> str:
    return f"by {tensor.name}" + (" twice" if tensor.order == 2 else "")


def can_be_checked(workspace: Workspace, op: Operation) -> bool:
    """Whether it takes and gives floating-point tensors."""
    types = workspace.inference.types
    kinds = [types.get(ref) for ref in op.inputs if ref is not None]
    made = types.get(TensorRef(op.name))
    floating = [kind for kind in kinds if kind is not None and kind.dtype.is_floating]
    return bool(floating) and made is not None and made.dtype.is_floating
