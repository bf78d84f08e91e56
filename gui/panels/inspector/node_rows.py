"""What stands in the inspector's first rows: made once, and filled with one node after another."""

from __future__ import annotations

from PySide6.QtWidgets import QMenu, QWidget

from gradstep.core.graph.model import Edge, Operation
from gradstep.gui import commands
from gradstep.gui.look.theme import mono
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.inspector.gradient_menu import fill_gradient_menu
from gradstep.gui.panels.inspector.reasoned_field import ReasonedField
from gradstep.gui.panels.inspector.stop_box import StopBox
from gradstep.gui.panels.widgets.flow_layout import FlowLayout
from gradstep.gui.panels.widgets.name_field import NameField
from gradstep.gui.panels.widgets.small_labels import Link, Text, ThemeSource


class NameRow(ReasonedField):
    """The field, and below it why what was typed is no name."""

    def __init__(self, workspace: Workspace, theme: ThemeSource) -> None:
        field = NameField(workspace, "", "inspector.name", stays=True)
        super().__init__(theme, field, field.refused)
        self.field = field

    def show_name(self, name: str) -> None:
        self.field.show_name(name)


class InputLinks(QWidget):
    """A link to each tensor that comes in; words where none is wired."""

    def __init__(self, workspace: Workspace, theme: ThemeSource, op: Operation) -> None:
        super().__init__()
        self._workspace = workspace
        self._sources = [""] * len(op.inputs)
        self._parts: list[Link | Text] = []
        places = FlowLayout(self)
        for index, ref in enumerate(op.inputs):
            part: Link | Text
            if ref is None:
                part = Text(theme, "muted", mono(12))
                part.set_text(self.tr("not wired"))
            else:
                part = Link(theme, "", f"inspector.input.{index}", "text", code=True)
                part.clicked.connect(lambda _=False, index=index: self._go(index))
            self._parts.append(part)
            places.addWidget(part)

    def show_inputs(self, op: Operation) -> None:
        """Of an operation with as many inputs, and the same ones wired."""
        for index, (part, ref) in enumerate(zip(self._parts, op.inputs, strict=True)):
            if ref is not None and isinstance(part, Link):
                self._sources[index] = ref.op
                part.say(str(ref))

    def _go(self, index: int) -> None:
        commands.reveal(self._workspace, self._sources[index])


class GradientLink(QWidget):
    """What its gradient is, and the menu that chooses another."""

    def __init__(self, workspace: Workspace, theme: ThemeSource, own: bool) -> None:
        super().__init__()
        self._workspace, self._name = workspace, ""
        self._link = Link(theme, "", "inspector.gradient", "override" if own else "text", code=True)
        self._menu = QMenu(self._link)
        self._menu.setObjectName("inspector.gradient.menu")
        self._link.clicked.connect(self._choose)
        FlowLayout(self).addWidget(self._link)

    def show_gradient(self, node: str, words: str) -> None:
        self._name = node
        self._link.say(f"{words} ▾")
        self._link.setAccessibleName(self.tr("Gradient: {}").format(words))

    def _choose(self) -> None:
        fill_gradient_menu(self._menu, self._workspace, self._workspace.shown[self._name])
        self._menu.popup(self._link.mapToGlobal(self._link.rect().bottomLeft()))


class StopBoxes(QWidget):
    """A box for each wire that comes in: whether it lets no gradient back."""

    def __init__(self, workspace: Workspace, op: Operation) -> None:
        super().__init__()
        self._boxes: dict[int, StopBox] = {}
        places = FlowLayout(self)
        for index, ref in enumerate(op.inputs):
            if ref is not None:
                self._boxes[index] = StopBox(workspace, f"inspector.stop.{index}", mono(12))
                places.addWidget(self._boxes[index])

    def show_stops(self, op: Operation) -> None:
        """Of an operation with the same inputs wired."""
        for index, box in self._boxes.items():
            ref = op.inputs[index]
            assert ref is not None  # it is wired
            box.show_edge(Edge(op.name, index), ref.short)
            box.setAccessibleName(self.tr("stop_gradient on the wire from {}").format(ref.short))
