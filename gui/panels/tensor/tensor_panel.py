"""The tensor panel: all elements of the selected node's value or gradient."""

from __future__ import annotations

from PySide6.QtWidgets import QButtonGroup, QComboBox, QHBoxLayout, QWidget

from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.typing.tensor_type_dict import outputs_of
from gradstep.gui.look import number_text
from gradstep.gui.look.theme import GRID, Tone, mono
from gradstep.gui.model import variable_change
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.inspected_node import inspected_name, marked_indexes
from gradstep.gui.panels.tensor.panel_buttons import gap, switch
from gradstep.gui.panels.tensor.tensor_explorer import TensorExplorer
from gradstep.gui.panels.widgets.flow_layout import FlowLayout
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.small_labels import Text


class TensorPanel(Panel):
    """Which tensor is looked at, and what is known of all of it; the rest is the explorer's."""

    title = "Tensor"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "tensor")
        self.explorer = TensorExplorer(workspace, lambda: self.theme)
        self.facts = Text(lambda: self.theme, "muted", mono(12))
        self.column.addWidget(self._line())
        self.column.addWidget(self._controls())
        self.column.addWidget(self.explorer, 1)
        self._shown: tuple[TensorValue, object] | None = None
        self.follow(
            self.refresh,
            workspace.selection_changed,
            workspace.program_changed,
            workspace.stopped,
            workspace.values_changed,
            workspace.document_changed,
        )
        self.refresh()

    def _line(self) -> QWidget:
        """What it is, and what was found in it."""
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(12, GRID // 2, 12, 0)
        row.setSpacing(GRID)
        row.addWidget(self.facts, 3)
        row.addWidget(self.explorer.said, 2)
        row.addWidget(self.explorer.copy)
        row.addWidget(self.explorer.save)
        return line

    def _controls(self) -> QWidget:
        controls = QWidget()
        row = FlowLayout(controls, GRID // 2)
        row.setContentsMargins(12, GRID // 2, 12, GRID // 2)
        self.value = switch(self.tr("Value"), "tensor.value")
        self.gradient = switch(self.tr("Gradient"), "tensor.gradient")
        self.value.setChecked(True)
        self._group = QButtonGroup(self)
        self._group.addButton(self.value)
        self._group.addButton(self.gradient)
        self._group.buttonClicked.connect(self.refresh)
        self.output = QComboBox()
        self.output.setObjectName("tensor.output")
        self.output.setAccessibleName(self.tr("Output"))
        self.output.setFont(mono(12))
        self.output.currentIndexChanged.connect(self.refresh)
        for widget in (self.value, self.gradient, self.output, gap(), *self.explorer.controls):
            row.addWidget(widget)
        return controls

    @property
    def ref(self) -> TensorRef | None:
        """The tensor looked at, as the graph names it."""
        name = inspected_name(self.workspace)
        return None if name is None else TensorRef(name, max(self.output.currentIndex(), 0))

    def refresh(self, *_: object) -> None:
        """Show the tensor as of the current step."""
        name = inspected_name(self.workspace)
        outputs = _outputs(self.workspace, name)
        if name is None or not outputs:
            self._say_empty(name)
            return
        self._offer(outputs)
        ref = str(self.ref)
        gradient = self.gradient.isChecked()
        read = self.workspace.gradient if gradient else self.workspace.value
        self._show(read(ref), "backward" if gradient else "forward", name)

    def _offer(self, outputs: list[str]) -> None:
        """The outputs to choose from; the box shows only where there is a choice."""
        if [self.output.itemText(i) for i in range(self.output.count())] != outputs:
            self.output.blockSignals(True)
            self.output.clear()
            self.output.addItems(outputs)
            self.output.blockSignals(False)
        self.output.setVisible(len(outputs) > 1)

    def _show(self, value: TensorValue | None, tone: Tone, name: str) -> None:
        self.show_content()
        self.facts.set_text(f"{name}  {facts(value)}", "text")
        if value is not None and (value, self._place(value)) == self._shown:
            return
        self._shown = None if value is None else (value, self._place(value))
        self.explorer.show_tensor(value, tone, marked_indexes(self.workspace, name))

    def _place(self, value: TensorValue) -> object:
        """Where the debugger stands, if what is here of a value does not say all of it."""
        stop = self.workspace.stop
        return None if value.array is not None or stop is None else (stop.run, stop.step)

    def _say_empty(self, name: str | None) -> None:
        if name is None:
            text = self.tr("All elements of a tensor appear here. Select a node to see its value.")
        else:
            text = self.tr("{} has no output.").format(name)
        self.show_empty(text)

    def restyle(self) -> None:
        super().restyle()
        self.explorer.restyle()


def facts(value: TensorValue | None) -> str:
    """`float32[64, 32]  min -1.2  max 3.4  mean 0.1  norm 7`, or why there is nothing to show."""
    if value is None:
        return "…"
    if value.state == "none":
        return "there is no gradient: None, which is not zero"
    if value.state != "known":
        return value.absence or "not computed at this step"
    parts = [f"{value.dtype}[{', '.join(map(str, value.shape))}]"]
    stats = value.stats
    if stats is not None:
        named = (
            ("min", stats.minimum),
            ("max", stats.maximum),
            ("mean", stats.mean),
            ("norm", stats.norm),
        )
        parts += [f"{name} {number_text.scalar(float(x))}" for name, x in named if x is not None]
        parts += number_text.wrong(stats)
        parts += [f"{stats.zeros} zero{'s' if stats.zeros > 1 else ''}"] if stats.zeros else []
    changed = variable_change.of(value)
    parts += [f"changed in this run: {changed.size}"] if changed is not None else []
    return "  ".join(parts)


def _outputs(workspace: Workspace, name: str | None) -> list[str]:
    """Names of the node's tensors."""
    if name is None:
        return []
    known = outputs_of(workspace.shown, workspace.inference.types, name)
    if known:
        return [str(ref) for ref in known]
    step = workspace.debugger.index.steps.get(name)
    return [] if step is None else [*step.outputs]
