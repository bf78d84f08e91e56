"""The first rows of the inspector: name, type, inputs, gradient, stops, formula."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtWidgets import QWidget

from gradstep.core.graph.loop import way_to
from gradstep.core.graph.model import Edge, Operation
from gradstep.core.graph.placed_devices import placed_on
from gradstep.core.ops.declare.placeable_ops import STAY, can_be_placed
from gradstep.core.ops.declare.table import OpDef, find
from gradstep.core.ops.typing.tensor_type_dict import outputs_of
from gradstep.gui import commands
from gradstep.gui.actions.dialog_table import PLACE, open_dialog
from gradstep.gui.look.device_text import device_words
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import Tone, mono
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.fact_rows import FactRow, FactRows, flow_of, line_of
from gradstep.gui.panels.inspector.gradient_menu import gradient_in_force
from gradstep.gui.panels.inspector.node_rows import GradientLink, InputLinks, NameRow, StopBoxes
from gradstep.gui.panels.inspector.stop_box import edited_branch, is_stopped
from gradstep.gui.panels.widgets.small_labels import NO_BREAK, Link, Text, Wrapped

_OUTPUTS = 8  # whose types are said


class NodeFacts(FactRows):
    """One node of the document."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(lambda: workspace.theme)
        self._workspace = workspace

    def show_node(self, op: Operation) -> None:
        """Have the rows say what is so of this node."""
        self.show_rows([*self._rows(op)])

    def _rows(self, op: Operation) -> Iterator[FactRow]:
        definition, name = find(op.type), op.name
        around = way_to(self._workspace.document.graph, name)
        yield self._name(op)
        if around:
            loop = around[-1].name
            yield FactRow(self.tr("In loop"), loop, lambda: self._loop(loop))
        doc = definition.doc if definition else ""
        yield self._type_row(op, doc)
        if op.inputs:
            yield self._inputs(op)
        if op.control_inputs:
            says = name, op.control_inputs
            yield FactRow(self.tr("After"), says, lambda: self._controls(op))
        if op.inputs:
            yield self._gradient(op)
        if any(ref is not None for ref in op.inputs):
            yield self._stops(op)
        if op.device:
            yield FactRow(self.tr("Device"), op.device, lambda: self._device(op))
        if definition is not None and definition.formula:
            yield self._formula(definition)

    def _name(self, op: Operation) -> FactRow:
        def fill(row: NameRow) -> None:
            row.show_name(op.name)

        make = partial(NameRow, self._workspace, self._theme)
        return FactRow(self.tr("Name"), op.name, make, fill=fill)

    def _loop(self, name: str) -> QWidget:
        link = Link(self._theme, name, "inspector.loop", "text", code=True)
        link.clicked.connect(lambda: commands.reveal(self._workspace, name))
        return line_of(link)

    def _type_row(self, op: Operation, doc: str) -> FactRow:
        text = self._type(op)

        def fill(label: Wrapped) -> None:
            label.setText(text)

        make = partial(Wrapped, self._theme, "inspector.type", code=True)
        return FactRow(self.tr("Type"), (text, doc), make, doc, fill)

    def _type(self, op: Operation) -> str:
        """What it is and gives. No line ends within a type; many outputs are not all named."""
        types = self._workspace.inference.types
        known = outputs_of(self._workspace.shown, types, op.name)
        outputs = [str(types[ref]).replace(" ", NO_BREAK) for ref in known[:_OUTPUTS]]
        if len(known) > _OUTPUTS:
            outputs.append(self.tr("{} more").format(len(known) - _OUTPUTS))
        return f"{op.type} →{NO_BREAK}{', '.join(outputs)}" if outputs else op.type

    def _code(self) -> Text:
        return Text(self._theme, "text", mono(12))

    def _inputs(self, op: Operation) -> FactRow:
        def fill(row: InputLinks) -> None:
            row.show_inputs(op)

        make = partial(InputLinks, self._workspace, self._theme, op)
        return FactRow(self.tr("Inputs"), op.inputs, make, fill=fill, kind=_wiring(op))

    def _controls(self, op: Operation) -> QWidget:
        links = []
        for name in op.control_inputs:
            link = Link(self._theme, f"^{name}", f"inspector.after.{name}", "text", code=True)
            link.clicked.connect(lambda _=False, name=name: commands.reveal(self._workspace, name))
            free = Link(self._theme, "✕", f"inspector.after.{name}.remove", "muted")
            words = self.tr("Do not wait for {}").format(name)
            free.setToolTip(plain(words))
            free.setAccessibleName(words)
            free.clicked.connect(
                lambda _=False, name=name: commands.remove_control(self._workspace, op.name, name)
            )
            links += [link, free]
        return flow_of(*links)

    def _gradient(self, op: Operation) -> FactRow:
        name, own = gradient_in_force(self._workspace.document, op)
        words = self.tr("{} (override)").format(name) if own else self.tr("native")

        def fill(row: GradientLink) -> None:
            row.show_gradient(op.name, words)

        make, kind = partial(GradientLink, self._workspace, self._theme, own), str(own)
        return FactRow(self.tr("Gradient"), (op.name, words), make, fill=fill, kind=kind)

    def _stops(self, op: Operation) -> FactRow:
        space = self._workspace
        stopped = [i for i in range(len(op.inputs)) if is_stopped(space, Edge(op.name, i))]
        says = op.name, op.inputs, stopped, edited_branch(space)

        def fill(row: StopBoxes) -> None:
            row.show_stops(op)

        make = partial(StopBoxes, space, op)
        return FactRow(self.tr("Stop ∂"), says, make, fill=fill, kind=_wiring(op))

    def _device(self, op: Operation) -> QWidget:
        """Where it is computed; of TensorFlow's own names, that it is a wish."""
        device = placed_on(op)
        if not device:
            wish = self._code()
            wish.set_text(self.tr("{}: a wish, not followed").format(op.device), "muted")
            return wish
        is_followed, words = can_be_placed(op), device_words(device)
        said = words if is_followed else self.tr("{}: not followed").format(words)
        tone: Tone = "text" if is_followed else "muted"
        link = Link(self._theme, said, "inspector.device", tone, code=True)
        link.setAccessibleName(self.tr("Device: {}").format(device))
        link.setToolTip(plain("" if is_followed else STAY))
        link.clicked.connect(lambda: open_dialog(self._workspace, PLACE))
        return line_of(link)

    def _formula(self, definition: OpDef) -> FactRow:
        def fill(text: Wrapped) -> None:
            text.setText(definition.formula)
            text.setToolTip(plain(definition.doc))

        make = partial(Wrapped, self._theme, "inspector.formula", code=True)
        return FactRow(self.tr("Formula"), definition, make, fill=fill)


def _wiring(op: Operation) -> str:
    """Which of its inputs are wired: "1" where one is."""
    return "".join("0" if ref is None else "1" for ref in op.inputs)
