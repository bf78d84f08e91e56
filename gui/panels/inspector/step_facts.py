"""The inspector of an operation that differentiation or the optimizer added."""

from __future__ import annotations

from gradstep.core.protocol.messages import StepInfo
from gradstep.gui import commands
from gradstep.gui.look.theme import mono
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.fact_rows import FactRows, line_of
from gradstep.gui.panels.widgets.small_labels import Link, Text, Wrapped


class StepFacts(FactRows):
    """It cannot be edited: it follows from the document."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(lambda: workspace.theme)
        self._workspace = workspace

    def show_step(self, step: StepInfo) -> None:
        """Build the rows for this operation."""
        self.clear()
        for caption, text in (
            (self.tr("Name"), step.op),
            (self.tr("Type"), step.type),
            (self.tr("Phase"), step.phase),
        ):
            label = Text(self._theme, "text", mono(12))
            label.set_text(text)
            self.add(caption, label)
        if step.origin in self._workspace.shown:
            link = Link(self._theme, step.origin, "inspector.origin", code=True)
            link.clicked.connect(lambda: commands.reveal(self._workspace, step.origin))
            self.add(self.tr("Belongs to"), line_of(link))
        if text := self._workspace.step_text(step.op):
            notation = Wrapped(self._theme, "inspector.step.text", code=True)
            notation.setText(text)
            self.add(self.tr("Does"), notation)
