"""What flows through a node now: its value, and the gradient that arrives at it, as tiles."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from core.graph.model import Operation, TensorRef
from core.host.messages import ProgramInfo
from core.io.requests import every_request
from gui import numbers
from gui.losses import losses_of, show_loss
from gui.panels.labels import Link, SectionHeader, Wrapped
from gui.panels.looked_at import marked_indexes
from gui.panels.substitution import with_numbers
from gui.panels.tiles import HeatTiles
from gui.theme import GRID
from gui.values import TensorValue
from gui.workspace import Workspace


class Flow(QWidget):
    """A header, tiles, and a line in mathematical notation."""

    def __init__(self, workspace: Workspace, name: str) -> None:
        super().__init__()
        self.setObjectName(name)
        theme = lambda: workspace.theme  # noqa: E731
        self.header = SectionHeader(theme, "")
        self.tiles = HeatTiles(theme, f"{name}.tiles")
        self.note = Wrapped(theme, f"{name}.note", "muted", code=True)
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, GRID, 0, 0)
        self.column.setSpacing(GRID // 2)
        for part in (self.header, self.tiles, self.note):
            self.column.addWidget(part)

    def show_tensor(
        self,
        title: str,
        remark: str,
        value: TensorValue | None,
        note: str,
        marked: tuple[tuple[int, ...], ...] = (),
    ) -> None:
        """Tiles for a known tensor; a word for one that is not."""
        known = value is not None and value.state == "known"
        self.header.set_texts(title, remark)
        self.tiles.setVisible(known)
        if value is not None and known:
            self.tiles.show_head(value.head, value.shape, marked)
            note = "  ".join(filter(None, (note, *numbers.wrong(value.stats))))
        self.tiles.setAccessibleName(title)
        self.note.setText(note if known or value is None else _absent(value, note))
        self.note.setVisible(bool(self.note.text()))
        self.show()


class ValueFlow(Flow):
    """The node's own result."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "inspector.value_flow")
        self._workspace = workspace

    def show_node(self, op: Operation) -> None:
        """Show output 0 as of the current step; hidden without a program."""
        typed = TensorRef(op.name) in self._workspace.inference.types
        if self._workspace.program is None or not typed:
            self.hide()
            return
        value = self._workspace.value(f"{op.name}:0")
        step = with_numbers(_step_text(self._workspace.program, op.name), self._workspace)
        known = value is not None and value.state == "known"
        shape = f"{value.dtype}[{', '.join(map(str, value.shape))}]" if value and known else ""
        marked = marked_indexes(self._workspace, op.name)
        self.show_tensor(self.tr("Value"), shape, value, step, marked)


class GradientFlow(Flow):
    """The gradient that arrives at the node, and from which nodes."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "inspector.gradient_flow")
        self._workspace = workspace
        self.other = Link(lambda: workspace.theme, "", "inspector.gradient_flow.other")
        self.other.setAccessibleName(self.tr("By another loss"))
        self.other.clicked.connect(self._show_other)
        self._others: Sequence[str] = ()
        self.column.addWidget(self.other)

    def show_node(self, op: Operation) -> None:
        """Show dL/d(op); hidden where nobody asked for gradients."""
        program = self._workspace.program
        if program is None or not every_request(self._workspace.document):
            self.hide()
            return
        ref, name = f"{op.name}:0", op.name.rpartition("/")[2]
        losses = losses_of(program, ref)
        arriving = self.tr("dL/d{} arriving").format(name)
        if losses:
            arriving = self.tr("Gradient of {} by {} arriving").format(losses[0], name)
        self._offer(losses[1:])
        sources = self._sources(op.name)
        remark = self.tr("from {}").format(sources) if sources else ""
        if ref in program.rows:
            remark = f"IndexedSlices {remark}"
        note = with_numbers(gradient_text(program, ref), self._workspace)
        self.show_tensor(arriving, remark, self._workspace.gradient(ref), note)

    def _offer(self, losses: Sequence[str]) -> None:
        """Other losses whose gradient could be shown instead."""
        self._others = losses
        self.other.setVisible(bool(losses))
        if losses:
            text = self.tr("Show that of {}").format(losses[-1])
            self.other.setText(text)
            self.other.setAccessibleName(text)
            self.other.updateGeometry()

    def _show_other(self) -> None:
        show_loss(self._workspace.debugger, self._others[-1])

    def _sources(self, name: str) -> str:
        """`a (Mul), d (AddV2)`: the nodes over whose wires a gradient comes."""
        graph, program = self._workspace.shown, self._workspace.program
        edges = program.edges if program is not None else []
        flowing = {(edge.op, edge.index) for edge in edges}
        ends = [edge for edge in graph.consumers.get(name, ()) if (edge.op, edge.index) in flowing]
        return ", ".join(dict.fromkeys(f"{edge.op} ({graph[edge.op].type})" for edge in ends))


def gradient_text(program: ProgramInfo, ref: str) -> str:
    """How the gradient of `ref` is made, in notation: the text of the step that makes it."""
    holder = program.gradients.get(ref)
    steps = (step.text for step in program.steps if holder is not None and holder in step.outputs)
    return next(steps, "")


def _step_text(program: ProgramInfo, name: str) -> str:
    return next((step.text for step in program.steps if step.op == name), "")


def _absent(value: TensorValue, note: str) -> str:
    if value.state == "none":
        return "None: no gradient reaches this node"
    if value.state == "dead":
        return f"dead: {value.why}"
    return f"waiting: {note}" if note else "waiting: not computed at this step"
