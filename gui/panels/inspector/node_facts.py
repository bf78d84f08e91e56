"""The first rows of the inspector: name, type, inputs, gradient, stops, formula."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtWidgets import QMenu, QWidget

from gradstep.core.graph.loop import way_to
from gradstep.core.graph.model import Edge, Operation
from gradstep.core.ops.declare.table import OpDef, find
from gradstep.core.ops.typing.flatten_loops import original_edge
from gradstep.core.ops.typing.tensor_type_dict import outputs_of
from gradstep.gui import commands
from gradstep.gui.look.plain_text import plain
from gradstep.gui.look.theme import mono
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.fact_rows import FactRow, FactRows, column_of, flow_of, line_of
from gradstep.gui.panels.inspector.gradient_menu import fill_gradient_menu, gradient_in_force
from gradstep.gui.panels.widgets.check_box import Check
from gradstep.gui.panels.widgets.name_field import NameField
from gradstep.gui.panels.widgets.small_labels import Link, Text, Wrapped


class NodeFacts(FactRows):
    """One node of the document."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(lambda: workspace.theme)
        self._workspace = workspace

    def show_node(self, op: Operation) -> None:
        """Have the rows say what is so of this node."""
        self.show_rows([*self._rows(op)])

    def _rows(self, op: Operation) -> Iterator[FactRow]:
        definition, name, wires = find(op.type), op.name, (op.name, op.inputs)
        around = way_to(self._workspace.document.graph, name)
        type_, doc = self._type(op), definition.doc if definition else ""
        yield FactRow(self.tr("Name"), name, lambda: self._name(op))
        if around:
            loop = around[-1].name
            yield FactRow(self.tr("In loop"), loop, lambda: self._loop(loop))
        yield FactRow(self.tr("Type"), (type_, doc), lambda: self._code(type_), doc)
        if op.inputs:
            yield FactRow(self.tr("Inputs"), op.inputs, lambda: self._inputs(op))
        if op.control_inputs:
            says = name, op.control_inputs
            yield FactRow(self.tr("After"), says, lambda: self._controls(op))
        if op.inputs:
            force = name, op.type, gradient_in_force(self._workspace.document, op)
            yield FactRow(self.tr("Gradient"), force, lambda: self._gradient(op))
        if any(ref is not None for ref in op.inputs):
            stops = wires, [*self._stopped(op)]
            yield FactRow(self.tr("Stop ∂"), stops, lambda: self._stops(op))
        if definition is not None and definition.formula:
            yield FactRow(self.tr("Formula"), definition.formula, lambda: self._formula(definition))

    def _name(self, op: Operation) -> QWidget:
        field = NameField(self._workspace, op.name, "inspector.name")
        reason = Wrapped(self._theme, "inspector.name.reason", "problem")
        reason.hide()
        field.refused.connect(reason.setText)
        field.refused.connect(lambda text: reason.setVisible(bool(text)))
        return column_of(field, reason)

    def _loop(self, name: str) -> QWidget:
        link = Link(self._theme, name, "inspector.loop", "text", code=True)
        link.clicked.connect(lambda: commands.reveal(self._workspace, name))
        return line_of(link)

    def _type(self, op: Operation) -> str:
        types = self._workspace.inference.types
        known = outputs_of(self._workspace.shown, types, op.name)
        outputs = [str(types[ref]) for ref in known]
        return f"{op.type} → {', '.join(outputs)}" if outputs else op.type

    def _code(self, text: str) -> Text:
        label = Text(self._theme, "text", mono(12))
        label.set_text(text)
        return label

    def _inputs(self, op: Operation) -> QWidget:
        links: list[QWidget] = []
        for index, ref in enumerate(op.inputs):
            if ref is None:
                missing = self._code(self.tr("not wired"))
                missing.set_text(missing.text(), "muted")
                links.append(missing)
                continue
            link = Link(self._theme, str(ref), f"inspector.input.{index}", "text", code=True)
            link.clicked.connect(
                lambda _=False, name=ref.op: commands.reveal(self._workspace, name)
            )
            links.append(link)
        return flow_of(*links)

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

    def _gradient(self, op: Operation) -> QWidget:
        name, own = gradient_in_force(self._workspace.document, op)
        text = f"{name} (override) ▾" if own else self.tr("native ▾")
        link = Link(
            self._theme, text, "inspector.gradient", "override" if own else "text", code=True
        )
        link.setAccessibleName(self.tr("Gradient: {}").format(text.removesuffix(" ▾")))
        menu = QMenu(link)
        menu.setObjectName("inspector.gradient.menu")

        def choose() -> None:
            fill_gradient_menu(menu, self._workspace, self._workspace.shown[op.name])
            menu.popup(link.mapToGlobal(link.rect().bottomLeft()))

        link.clicked.connect(choose)
        return line_of(link)

    def _stops(self, op: Operation) -> QWidget:
        boxes, stopped = [], {*self._stopped(op)}
        for index, ref in enumerate(op.inputs):
            if ref is None:
                continue
            edge = Edge(op.name, index)
            box = Check(self._theme, ref.short, f"inspector.stop.{index}", mono(12))
            box.setAccessibleName(self.tr("stop_gradient on the wire from {}").format(ref.short))
            box.setToolTip(self.tr("Let no gradient flow back over this wire"))
            box.setChecked(edge.index in stopped)
            box.toggled.connect(lambda _, edge=edge: commands.toggle_stop(self._workspace, edge))
            boxes.append(box)
        return flow_of(*boxes)

    def _stopped(self, op: Operation) -> Iterator[int]:
        """The inputs over whose wires no gradient flows back."""
        document = self._workspace.document
        for index in range(len(op.inputs)):
            if (
                original_edge(document.graph, Edge(op.name, index))
                in document.request.stopped_edges
            ):
                yield index

    def _formula(self, definition: OpDef) -> QWidget:
        text = Wrapped(self._theme, "inspector.formula", code=True)
        text.setText(definition.formula)
        text.setToolTip(plain(definition.doc))
        return text
