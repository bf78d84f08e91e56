"""The tensor panel: all elements of the selected node's value or gradient."""

from __future__ import annotations

from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QWidget,
)

from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.typing.tensor_type_dict import outputs_of
from gradstep.gui.look import number_text
from gradstep.gui.look.theme import GRID, Tone, mono
from gradstep.gui.model import variable_change
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.inspected_node import inspected_name, marked_indexes
from gradstep.gui.panels.tensor.tensor_model import TensorModel
from gradstep.gui.panels.widgets.flat_table import FlatTable
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.slice_chooser import Slicer
from gradstep.gui.panels.widgets.small_labels import Text

_COLUMN = 96


class TensorPanel(Panel):
    """Value or gradient, dtype, shape, statistics, and a table read page by page."""

    title = "Tensor"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "tensor")
        self.model = TensorModel(workspace.request)
        self.table = FlatTable(lambda: workspace.theme, self.model, "tensor.table", ())
        self.table.setAccessibleName(self.tr("Elements"))
        self._set_table()
        self.slicer = Slicer()
        self.column.addWidget(self._head())
        self.column.addWidget(self.slicer)
        self.column.addWidget(self.table, 1)
        self._shown: TensorValue | None = None
        self.slicer.changed.connect(self.model.show_slice)
        self.follow(
            self.refresh,
            workspace.selection_changed,
            workspace.program_changed,
            workspace.stopped,
            workspace.values_changed,
            workspace.document_changed,
        )
        self.refresh()

    def _set_table(self) -> None:
        rows, columns = self.table.verticalHeader(), self.table.column_header
        rows.show()
        rows.setFixedWidth(56)
        columns.numbers = True
        columns.setDefaultSectionSize(_COLUMN)
        columns.setSectionResizeMode(QHeaderView.ResizeMode.Interactive)
        self.table.setSelectionBehavior(FlatTable.SelectionBehavior.SelectItems)

    def _head(self) -> QWidget:
        head = QWidget()
        row = QHBoxLayout(head)
        row.setContentsMargins(12, GRID // 2, 12, GRID // 2)
        row.setSpacing(GRID)
        self.value = self._switch(self.tr("Value"), "tensor.value")
        self.gradient = self._switch(self.tr("Gradient"), "tensor.gradient")
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
        self.facts = Text(lambda: self.theme, "muted", mono(12))
        for widget, stretch in ((self.value, 0), (self.gradient, 0), (self.output, 0)):
            row.addWidget(widget, stretch)
        row.addWidget(self.facts, 1)
        return head

    def _switch(self, text: str, name: str) -> QPushButton:
        button = QPushButton(text)
        button.setObjectName(name)
        button.setAccessibleName(text)
        button.setCheckable(True)
        return button

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
        if value is self._shown and value is not None:
            return
        self._shown = value
        marked = marked_indexes(self.workspace, name)
        self.model.show(value, tone, marked)
        self.slicer.show_slice(self.model.slice)

    def _say_empty(self, name: str | None) -> None:
        if name is None:
            text = self.tr("All elements of a tensor appear here. Select a node to see its value.")
        else:
            text = self.tr("{} has no output.").format(name)
        self.show_empty(text)


def facts(value: TensorValue | None) -> str:
    """`float32[64, 32]  min -1.2  max 3.4  mean 0.1  norm 7`, or why there is nothing to show."""
    if value is None:
        return "…"
    if value.state == "none":
        return "there is no gradient: None, which is not zero"
    if value.state == "dead":
        return f"dead: {value.why}"
    if value.state != "known":
        return "not computed at this step"
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
