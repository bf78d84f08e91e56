"""The tensor panel: all elements of the selected node's value or gradient."""

from __future__ import annotations

from functools import partial

from PySide6.QtWidgets import QButtonGroup, QComboBox, QHBoxLayout, QWidget

from gradstep.core.graph.model import TensorRef
from gradstep.core.ops.typing.tensor_type_dict import outputs_of
from gradstep.gui.look.theme import GRID, Tone, mono
from gradstep.gui.model.live_output import live_output
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.inspected_node import inspected_name, marked_indexes
from gradstep.gui.panels.tensor.panel_buttons import button, gap, switch
from gradstep.gui.panels.tensor.side_panes import MOST, Beside, SidePanes
from gradstep.gui.panels.tensor.tensor_explorer import TensorExplorer
from gradstep.gui.panels.tensor.tensor_facts import facts
from gradstep.gui.panels.tensor.tensor_kin import kin_of
from gradstep.gui.panels.widgets.flow_layout import FlowLayout
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.small_labels import Text

_LEAST = 24  # pixels that the elements have at least: they get lower before the controls do


class TensorPanel(Panel):
    """Which tensor is looked at, and what is known of all of it; the rest is the explorer's."""

    title = "Tensor"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "tensor")
        self.explorer = TensorExplorer(workspace, lambda: self.theme)
        self.facts = Text(lambda: self.theme, "muted", mono(12))
        self.column.addWidget(self._line())
        self.column.addWidget(self._controls())
        self.panes = SidePanes(workspace, lambda: self.theme, self.explorer)
        self.panes.unpinned.connect(self._unpin)
        self.explorer.led.connect(self._show_beside)
        self.panes.setMinimumHeight(_LEAST)
        self.column.addWidget(self.panes, 1)
        self._pins: list[Beside] = []
        workspace.document_opened.connect(self._forget_pins)
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
        row = FlowLayout(controls, GRID // 2, GRID // 2)
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
        self.output.activated.connect(self._keep_output)
        self._is_chosen = False  # by hand, which output is looked at
        tip = self.tr("Show value, gradient, update and slots side by side")
        self.beside = switch(self.tr("Side by side"), "tensor.side_by_side", tip)
        self.beside.toggled.connect(self.refresh)
        self.pin = button(self.tr("Pin"), "tensor.pin", self.tr("Keep this tensor in view"))
        self.pin.clicked.connect(self._pin)
        which = self.value, self.gradient, self.output
        others = self.explorer.minus, self.beside, self.pin
        for widget in (*which, gap(), *self.explorer.controls, gap(), *others):
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
        self._offer(name, outputs)
        ref = str(self.ref)
        gradient = self.gradient.isChecked()
        read = self.workspace.gradient if gradient else self.workspace.value
        self._show(read(ref), "backward" if gradient else "forward", name)

    def _offer(self, name: str, outputs: list[str]) -> None:
        """The outputs to choose from; the box shows only where there is a choice. Until one was
        chosen, it is the one that is alive."""
        if [self.output.itemText(i) for i in range(self.output.count())] != outputs:
            self.output.blockSignals(True)
            self.output.clear()
            self.output.addItems(outputs)
            self.output.blockSignals(False)
            self._is_chosen = False
        self.output.setVisible(len(outputs) > 1)
        op = self.workspace.shown.operations.get(name)
        if op is not None and len(outputs) > 1 and not self._is_chosen:
            self.output.blockSignals(True)
            self.output.setCurrentIndex(live_output(self.workspace, op).index)
            self.output.blockSignals(False)

    def _keep_output(self) -> None:
        self._is_chosen = True

    def _show(self, value: TensorValue | None, tone: Tone, name: str) -> None:
        self.show_content()
        self.facts.set_text(f"{name}  {facts(value)}", "text")
        if value is not None and (value, self._place(value)) == self._shown:
            self._show_beside()
            return
        self._shown = None if value is None else (value, self._place(value))
        self.explorer.show_tensor(value, tone, marked_indexes(self.workspace, name))
        if self.explorer.view is None:  # else it has led
            self._show_beside()

    # -- beside it -----------------------------------------------------------------------------

    def _show_beside(self) -> None:
        """What is pinned, and what belongs to the tensor, if that is wanted."""
        ref = self.ref
        kin = kin_of(self.workspace, ref, self.gradient.isChecked()) if ref is not None else ()
        shown = [*self._pins, *(kin if self.beside.isChecked() else ())]
        gradient = self.gradient.isChecked()
        self.panes.head.say("∂ gradient" if gradient else "value", "", "muted")
        self.panes.show_beside(shown, self.explorer.view)
        self.explorer.minus.pinned = [pin.title for pin in self._pins if pin.tone == "forward"]

    def _pin(self) -> None:
        ref = self.ref
        if ref is None:
            return
        name, gradient = str(ref), self.gradient.isChecked()
        title = f"∂ {name}" if gradient else name
        if all(pin.title != title for pin in self._pins) and len(self._pins) < MOST:
            read = self.workspace.gradient if gradient else self.workspace.value
            tone: Tone = "backward" if gradient else "forward"
            self._pins.append(Beside(title, partial(read, name), tone, pinned=True))
        self.refresh()

    def _unpin(self, number: int) -> None:
        del self._pins[number]
        self.refresh()

    def _forget_pins(self) -> None:
        """Another document has other tensors."""
        self._pins.clear()

    def _place(self, value: TensorValue) -> object:
        """Where the debugger stands, if what is here of a value does not say all of it."""
        stop = self.workspace.stop
        told = value.array is not None and not self.explorer.depends_on_place
        return None if told or stop is None else (stop.run, stop.step)

    def _say_empty(self, name: str | None) -> None:
        if name is None:
            text = self.tr("All elements of a tensor appear here. Select a node to see its value.")
        else:
            text = self.tr("{} has no output.").format(name)
        self.show_empty(text)

    def restyle(self) -> None:
        super().restyle()
        self.explorer.restyle()
        self.panes.restyle()


def _outputs(workspace: Workspace, name: str | None) -> list[str]:
    """Names of the node's tensors."""
    if name is None:
        return []
    known = outputs_of(workspace.shown, workspace.inference.types, name)
    if known:
        return [str(ref) for ref in known]
    step = workspace.debugger.index.steps.get(name)
    return [] if step is None else [*step.outputs]
