"""The inspector of a wire: what it carries forwards and back, and the switch that stops it."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from gradstep.core.graph.model import Edge, TensorRef
from gradstep.gui import commands
from gradstep.gui.canvas.scene.device_crossings import crossing_of
from gradstep.gui.look.theme import Tone, mono
from gradstep.gui.model import number_text
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.fact_rows import FactRows, line_of
from gradstep.gui.panels.inspector.stop_box import StopBox
from gradstep.gui.panels.widgets.small_labels import Link, Text, Wrapped


class WireFacts(FactRows):
    """From, to, type, the gradient that flows back, or why none does."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(lambda: workspace.theme)
        self._workspace = workspace

    def show_wire(self, edge: Edge) -> None:
        """Build the rows for this wire."""
        self.clear()
        source = self._workspace.shown.source(edge)
        if source is None:
            return
        known = self._workspace.inference.types.get(source)
        self.add(self.tr("From"), self._node(source.op, str(source)))
        self.add(
            self.tr("To"), self._node(edge.op, self.tr("{}, input {}").format(edge.op, edge.index))
        )
        self.add(self.tr("Carries"), self._code(str(known) if known is not None else "?"))
        crossing = crossing_of(self._workspace.shown, self._workspace.inference.types, edge)
        if crossing is not None:
            self.add(self.tr("Crosses"), self._code(crossing.words(self._workspace.device)))
        self.add(self.tr("Gradient"), self._gradient(edge, source))
        self.add(self.tr("Stop ∂"), self._stop(edge))

    def _node(self, name: str, text: str) -> QWidget:
        link = Link(self._theme, text, f"inspector.wire.{name}", "text", code=True)
        link.clicked.connect(lambda: commands.reveal(self._workspace, name))
        return line_of(link)

    def _code(self, text: str, tone: Tone = "text") -> Text:
        label = Text(self._theme, tone, mono(12))
        label.set_text(text)
        return label

    def _gradient(self, edge: Edge, source: TensorRef) -> QWidget:
        program = self._workspace.program
        place = (edge.op, edge.index)
        for end in program.blocked if program is not None else []:
            if (end.op, end.index) == place:
                reason = Wrapped(self._theme, "inspector.wire.why")
                reason.setText(self.tr("ends here: {}").format(end.why))
                return reason
        carried = self._workspace.carried.get(edge)
        if carried is not None:
            value = self._workspace.value(carried)
            known = value is not None and value.state == "known"
            text = number_text.brief(value, 32) if value is not None and known else "waiting"
            if value is not None and value.absence:
                text = value.absence
            return self._code(text, "backward" if known else "faint")
        waits = self._workspace.debugger.waits_at(edge)
        return self._code("waiting" if waits else "None", "faint")

    def _stop(self, edge: Edge) -> QWidget:
        box = StopBox(self._workspace, "inspector.wire.stop")
        box.show_edge(edge, self.tr("stop_gradient"))
        box.setAccessibleName(self.tr("stop_gradient on this wire"))
        return line_of(box)
