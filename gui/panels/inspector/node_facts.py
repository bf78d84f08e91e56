"""The first rows of the inspector: name, type, inputs, gradient, stops, formula."""

from __future__ import annotations

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
from gradstep.gui.panels.inspector.fact_rows import FactRows, column_of, flow_of, line_of
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
        """Build the rows for this node."""
        self.clear()
        definition = find(op.type)
        around = way_to(self._workspace.document.graph, op.name)
        self.add(self.tr("Name"), self._name(op))
        if around:
            self.add(self.tr("In loop"), self._loop(around[-1].name))
        self.add(self.tr("Type"), self._code(self._type(op)), definition.doc if definition else "")
        if op.inputs:
            self.add(self.tr("Inputs"), self._inputs(op))
        if op.control_inputs:
            self.add(self.tr("After"), self._controls(op))
        if op.inputs:
            self.add(self.tr("Gradient"), self._gradient(op))
        if any(ref is not None for ref in op.inputs):
            self.add(self.tr("Stop ∂"), self._stops(op))
        if definition is not None and definition.formula:
            self.add(self.tr("Formula"), self._formula(definition))

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
            fill_gradient_menu(menu, self._workspace, op)
            menu.popup(link.mapToGlobal(link.rect().bottomLeft()))

        link.clicked.connect(choose)
        return line_of(link)

    def _stops(self, op: Operation) -> QWidget:
        boxes = []
        for index, ref in enumerate(op.inputs):
            if ref is None:
                continue
            edge = Edge(op.name, index)
            box = Check(self._theme, ref.short, f"inspector.stop.{index}", mono(12))
            box.setAccessibleName(self.tr("stop_gradient on the wire from {}").format(ref.short))
            box.setToolTip(self.tr("Let no gradient flow back over this wire"))
            document = self._workspace.document
            box.setChecked(original_edge(document.graph, edge) in document.request.stopped_edges)
            box.toggled.connect(lambda _, edge=edge: commands.toggle_stop(self._workspace, edge))
            boxes.append(box)
        return flow_of(*boxes)

    def _formula(self, definition: OpDef) -> QWidget:
        text = Wrapped(self._theme, "inspector.formula", code=True)
        text.setText(definition.formula)
        text.setToolTip(plain(definition.doc))
        return text
