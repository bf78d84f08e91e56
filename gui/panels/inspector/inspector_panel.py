"""The inspector: everything about one node, one derived operation, one wire, or equal blocks."""

from __future__ import annotations

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLineEdit, QVBoxLayout, QWidget

from gradstep.core.graph.model import Edge, Operation
from gradstep.core.ops.declare.table import find
from gradstep.core.protocol.messages import StepInfo
from gradstep.gui.actions.action_record import can_branch
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.once_told import BeforePaint
from gradstep.gui.model.tried_document import tried
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.attribute_rows import Attributes
from gradstep.gui.panels.inspector.block_comparison import BlockComparison
from gradstep.gui.panels.inspector.gradient_code import GradientCode
from gradstep.gui.panels.inspector.gradient_picture import GradientPicture
from gradstep.gui.panels.inspector.inspected_node import inspected_name
from gradstep.gui.panels.inspector.node_facts import NodeFacts
from gradstep.gui.panels.inspector.node_flow import (
    ChangeFlow,
    GradientFlow,
    ValueFlow,
    is_flow_known,
)
from gradstep.gui.panels.inspector.node_gradcheck import NodeVerdict
from gradstep.gui.panels.inspector.node_jacobian import NodeJacobian
from gradstep.gui.panels.inspector.nonfinite_reasons import Reasons
from gradstep.gui.panels.inspector.recorded_flow import RecordedFlow
from gradstep.gui.panels.inspector.source_lines import SourceLines
from gradstep.gui.panels.inspector.step_facts import StepFacts
from gradstep.gui.panels.inspector.wire_facts import WireFacts
from gradstep.gui.panels.inspector.wrong_gradient_card import OverrideCheck
from gradstep.gui.panels.problems.error_card import ErrorCard
from gradstep.gui.panels.widgets.layout_rest import at_rest
from gradstep.gui.panels.widgets.panel_base import Panel
from gradstep.gui.panels.widgets.scroll_area import scroll_area
from gradstep.gui.panels.widgets.small_labels import Wrapped

PATIENCE = 100  # milliseconds for values that are asked for, until there is something to be seen
_VALUES = ("inspector.attr.value", "inspector.value")  # of a constant, and of what is fed or begins


class InspectorPanel(Panel):
    """Follows the selection; without one, the node that the debugger stands at."""

    title = "Inspector"

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace, "inspector")
        self._body = QWidget()
        self.column.addWidget(scroll_area(self._body))  # before it is filled: see `_fill`
        self.facts = NodeFacts(workspace)
        self.attributes = Attributes(workspace)
        self.attributes.align_with(self.facts)
        self.error = ErrorCard(workspace)
        self.code = GradientCode(workspace)
        self.check = OverrideCheck(workspace)
        self.gradient = GradientFlow(workspace)
        self.saliency = GradientPicture(workspace)
        self.verdict = NodeVerdict(workspace)
        self.jacobian = NodeJacobian(workspace)
        self.value = ValueFlow(workspace)
        self.recorded = RecordedFlow(workspace)
        self.change = ChangeFlow(workspace)
        self.reasons = Reasons(workspace)
        self.note = Wrapped(lambda: workspace.theme, "inspector.note", "muted")
        self.note.setContentsMargins(0, 2 * GRID, 0, 0)
        self.source = SourceLines(workspace)
        self.step = StepFacts(workspace)
        self.wire = WireFacts(workspace)
        self.blocks = BlockComparison(workspace)
        self._shown: tuple[object, ...] = ()
        self._shown_attributes: tuple[object, ...] = ()
        self._soon = BeforePaint(self._refresh_when_told, self)
        self._patient = QTimer(self, singleShot=True, interval=PATIENCE)
        self._patient.timeout.connect(self.refresh)
        self._fill()
        self._connect()
        self.refresh()

    def _fill(self) -> None:
        """Into a place that is there already: each that it is put into later would have all of it
        dressed once more."""
        column = QVBoxLayout(self._body)
        column.setContentsMargins(12, GRID, 12, 2 * GRID)
        column.setSpacing(GRID // 2)
        self._sections: tuple[QWidget, ...] = (
            self.blocks, self.facts, self.step, self.wire, self.source, self.attributes, self.error,
            self.code, self.check, self.reasons, self.gradient, self.saliency, self.verdict,
            self.jacobian, self.value, self.recorded, self.change, self.note,
        )  # fmt: skip
        for section in self._sections:
            column.addWidget(section)
        column.addStretch(1)

    def _connect(self) -> None:
        space = self.workspace
        self.follow(self._await_edit, space.document_changed, shown=self.refresh)
        self.follow(
            self._soon.start,
            space.table_changed,
            space.file_changed,
            space.whys.changed,
            space.whys.gave_way,
            shown=self.refresh,
        )
        others = space.program_changed, space.selection_changed, space.stopped
        self.follow(lambda: self._await(begin=True), *others, shown=self.refresh)
        self.follow(self._await, space.values_changed, shown=self.refresh)
        self.follow(self.refresh, space.document_opened)  # never a node of another document

    def restyle(self) -> None:
        self._shown = ()  # the code preview has its colours inside
        self.refresh()
        super().restyle()

    def _await(self, begin: bool = False) -> None:
        """Something else is to be shown; once, with what flows there, where that is here soon and
        nobody types meanwhile. begin: it is another node, or another step."""
        if self._soon.is_waiting:
            return  # it will be, whatever it is by then
        name, waits = inspected_name(self.workspace), self._patient
        op = None if name is None else self.workspace.shown.operations.get(name)
        may_wait = waits.isActive() or (begin and not _focused_name(self))
        if op is None or not may_wait or is_flow_known(self.workspace, op):
            self._soon.start()
        elif not waits.isActive() and not self._soon.is_waiting:
            waits.start()

    def _await_edit(self) -> None:
        """What was edited is shown now where the engine takes its time, else with what it says."""
        if self.workspace.debugger.awaits_program:
            self._soon.start()
        else:
            self._await(begin=True)

    def _refresh_when_told(self) -> None:
        """A selection may be part of an edit, of which all is shown together: that is heard of as
        soon as it is told."""
        if not self.workspace.debugger.is_telling:
            self.refresh()

    def refresh(self) -> None:
        """Show what is looked at now: rows that can be edited are rebuilt only when they change."""
        self._soon.stop()
        self._patient.stop()
        with at_rest(self._body, *self._sections):
            self._refresh()

    def _refresh(self) -> None:
        name = inspected_name(self.workspace)
        graph = self.workspace.shown
        edge = self.workspace.selected_edge
        step = self._step(name)
        if name is not None and name in graph:
            self._show_node(graph[name])
        elif step is not None:
            self._show_step(step)
        elif edge is not None and edge.op in graph:
            self._show_wire(edge)
        elif self.blocks.show_selection():
            self._show_blocks()
        else:
            self._say_empty()

    @property
    def is_current(self) -> bool:
        """Whether it shows what is looked at now."""
        return not (self._soon.is_waiting or self._patient.isActive() or self.is_waiting)

    def value_field(self) -> QLineEdit | None:
        """Where the value of the node that is selected now is edited; None if it has none, or a
        long one."""
        self.refresh()
        fields = (self.attributes.findChild(QLineEdit, n) for n in _VALUES)
        return next((field for field in fields if field is not None), None)

    def _step(self, name: str | None) -> StepInfo | None:
        return None if name is None else self.workspace.debugger.index.steps.get(name)

    def _show_node(self, op: Operation) -> None:
        space = self.workspace
        document, branch = space.document, tried(space)
        attributes = (
            op,
            branch.graph.operations.get(op.name),
            can_branch(space),
            document.code,
            document.feeds,
            document.data,
            document.initial,
        )
        key = (
            *attributes,
            document.request,
            branch.request,
            branch is document,
            space.inference,
        )
        if not _same(self._shown, key):
            before, self._shown = self._shown, key
            focused = _focused_name(self)
            if not before:
                self._only(self.facts, self.attributes, self.note)
            self.facts.show_node(op)
            if not before or not _same(self._shown_attributes, attributes):
                self._shown_attributes = attributes
                self.attributes.show_node(op)
            self.note.setText(_documentation(op))
            _focus(self, focused)
        self.source.show_node(op)
        self.code.show_node(op)
        self.error.show_node(op.name)
        self.check.show_node(op.name)
        self.gradient.show_node(op)
        self.saliency.show_node(op)
        self.verdict.show_node(op)
        self.jacobian.show_node(op)
        self.value.show_node(op)
        self.recorded.show_node(op)
        self.change.show_change(self.workspace.value(f"{op.name}:0"))
        self.reasons.show_node(op)
        self.show_content()

    def _show_step(self, step: StepInfo) -> None:
        self._shown = ()
        self._only(self.step, self.value)
        self.step.show_step(step)
        value = self.workspace.value(step.outputs[0]) if step.outputs else None
        self.value.show_tensor(self.tr("Value"), "", value, "")
        self.change.show_change(value)
        if step.outputs:
            self.reasons.show_tensor(step.outputs[0], value)
        self.error.show_node(step.op)
        self.show_content()

    def _show_wire(self, edge: Edge) -> None:
        self._shown = ()
        self._only(self.wire)
        self.wire.show_wire(edge)
        self.show_content()

    def _show_blocks(self) -> None:
        self._shown = ()
        self._only(self.blocks)
        self.show_content()

    def _only(self, *shown: QWidget) -> None:
        for section in self._sections:
            section.setVisible(section in shown)

    def _say_empty(self) -> None:
        self._shown = ()
        count = len(self.workspace.selection)
        if count > 1:
            self.show_empty(
                self.tr("{} nodes are selected. Select one to see it here.").format(count)
            )
            return
        self.show_empty(
            self.tr(
                "Select a node to see its type, attributes, formula, value and gradient here, "
                "or a wire to see what it carries."
            )
        )


def _documentation(op: Operation) -> str:
    """What the op table says of the type: what it does, its kinks, where it is not TensorFlow's."""
    definition = find(op.type)
    if definition is None:
        return ""
    sentences = (definition.doc, definition.kinks, definition.differs)
    return "\n".join(f"{s[0].upper()}{s[1:]}".removesuffix(".") + "." for s in sentences if s)


def _focused_name(panel: QWidget) -> str:
    """Object name of the control in `panel` that has the focus, or gets it when its window is used
    again after a dialog; "" when none has."""
    focused = panel.window().focusWidget()
    return focused.objectName() if focused is not None and panel.isAncestorOf(focused) else ""


def _focus(panel: QWidget, name: str) -> None:
    """Give the focus back to the control of this name, which was made anew; to the panel, where
    there is none any more: Qt gives it to a button somewhere."""
    if name:
        (panel.findChild(QWidget, name) or panel).setFocus()


def _same(old: tuple[object, ...], new: tuple[object, ...]) -> bool:
    return len(old) == len(new) and all(a is b for a, b in zip(old, new, strict=True))
