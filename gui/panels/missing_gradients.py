"""The gradients that do not exist: which, why, and the path on which they end."""

from __future__ import annotations

from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from core.autodiff.walking import descendants
from core.graph.model import TensorRef
from core.io.requests import whole_request
from gui import commands
from gui.panels.labels import Link, SectionHeader, Text, Wrapped
from gui.theme import GRID, Theme, mono
from gui.workspace import Workspace

MOST = 12  # lines; a broken network can miss hundreds


def missing_gradients(workspace: Workspace) -> list[TensorRef]:
    """What the document asks the gradient of, and gets None for."""
    program = workspace.program
    if program is None or workspace.gradients_wait:
        return []
    wanted = whole_request(workspace.document).wrt
    return [ref for ref in wanted if str(ref) not in program.gradients]


class MissingGradients(QWidget):
    """One line a gradient with a link "Why?", which asks the engine and selects the path."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self._workspace = workspace
        self.setObjectName("gradients.missing")
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 0, 12, GRID)
        self._column.setSpacing(GRID // 2)

    def refresh(self) -> None:
        """Show the gradients that are None now."""
        while (item := self._column.takeAt(0)) is not None:
            if (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        missing = missing_gradients(self._workspace)
        self.setVisible(bool(missing))
        if missing:
            header = SectionHeader(self._theme, self.tr("No gradient"))
            header.set_texts(self.tr("No gradient"), self.tr("None is not zero"))
            self._column.addWidget(header)
        for ref in missing[:MOST]:
            self._add(ref)
        if len(missing) > MOST:
            rest = Text(self._theme, "muted")
            rest.set_text(self.tr("and {} more").format(len(missing) - MOST))
            self._column.addWidget(rest)

    def _theme(self) -> Theme:
        return self._workspace.theme

    def _add(self, ref: TensorRef) -> None:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(GRID)
        name = Text(self._theme, "text", mono())
        name.set_text(f"dL/d{ref.short} = None")
        reason = Wrapped(self._theme, f"gradients.reason.{ref.short}", "muted")
        reason.setText(self._blocked(ref))
        why = Link(self._theme, self.tr("Why?"), f"gradients.why.{ref.short}")
        why.clicked.connect(lambda: commands.ask_why(self._workspace, ref, reason.setText))
        row.addWidget(name, 1)
        row.addWidget(why)
        self._column.addWidget(line)
        self._column.addWidget(reason)

    def _blocked(self, ref: TensorRef) -> str:
        """Where gradients end on the way back to `ref`, if somewhere."""
        program, graph = self._workspace.program, self._workspace.document.graph
        below = descendants(graph, ref.op) if ref.op in graph else set()
        wires = {(edge.op, edge.index) for name in below for edge in graph.consumers[name]}
        found = program.blocked if program is not None else []  # of the document before an edit
        ends = [end for end in found if (end.op, end.index) in wires]
        return "; ".join(dict.fromkeys(f"at {end.op}: {end.why}" for end in ends[:2]))
