"""Why the selected tensor's value, and its gradient, are NaN, infinite or zero: said unasked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from PySide6.QtWidgets import QVBoxLayout, QWidget

from gradstep.core.graph.model import Operation, TensorRef
from gradstep.core.protocol.messages import Explanation
from gradstep.gui import commands
from gradstep.gui.look.theme import GRID, Tone
from gradstep.gui.model.explanations import Notable, find_differentiated, state_of
from gradstep.gui.model.live_output import live_output
from gradstep.gui.model.value_cache import TensorValue
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.card import Card, LinkSpec

_TONES: Mapping[Notable, Tone] = {"nan": "problem", "inf": "problem", "zero": "muted"}


class Reasons(QWidget):
    """A card for the value, and one for the gradient; hidden where there is nothing to ask."""

    def __init__(self, workspace: Workspace) -> None:
        super().__init__()
        self.setObjectName("inspector.reasons")
        self._workspace = workspace
        theme = lambda: workspace.theme  # noqa: E731
        self.value = Card(theme, "inspector.why_value")
        self.gradient = Card(theme, "inspector.why_gradient")
        column = QVBoxLayout(self)
        column.setContentsMargins(0, GRID, 0, 0)
        column.setSpacing(GRID)
        for card in (self.gradient, self.value):
            column.addWidget(card)

    def show_node(self, op: Operation) -> None:
        """Of a node of the document: the output that its value is shown of."""
        space = self._workspace
        ref = live_output(space, op)
        of = find_differentiated(space, ref) if space.program is not None else None
        there = of is not None and of.op != op.name
        gradient = space.gradient(str(ref)) if there else None
        # Zero that is drawn, fed or begun with says by itself where it comes from.
        drawn = not op.inputs and state_of(space.value(str(ref))) == "zero"
        self._show(self.value, ref, "", None if drawn else space.value(str(ref)))
        wrt = "" if of is None else ref.short
        self._show(self.gradient, of or ref, wrt, gradient)
        self.setVisible(not (self.value.isHidden() and self.gradient.isHidden()))

    def show_tensor(self, name: str, value: TensorValue | None) -> None:
        """Of a tensor on the way back, or of an update."""
        self.gradient.hide()
        self._show(self.value, TensorRef.parse(name), "", value)
        self.setVisible(not self.value.isHidden())

    def _show(self, card: Card, of: TensorRef, wrt: str, value: TensorValue | None) -> None:
        state = state_of(value)
        if state == "" or state == "none":
            card.hide()
            return
        found = self._workspace.whys.want(of.short, wrt)
        name = f"dL/d{wrt}" if wrt else of.short
        titles: Mapping[Notable, str] = {
            "nan": self.tr("Why {} is NaN"),
            "inf": self.tr("Why {} is infinite"),
            "zero": self.tr("Why {} is zero"),
        }
        text = self.tr("Looking for it…") if found is None else found.text
        links = [] if found is None else self._links(card.objectName(), found)
        if found is not None and found.remedies:
            act = partial(
                commands.try_repairs, self._workspace, found.text, found.remedies, of.short, wrt
            )
            links.append((self.tr("Try what mends it…"), f"{card.objectName()}.try", act))
        card.say(titles[state].format(name), text, links, tone=_TONES[state])

    def _links(self, name: str, found: Explanation) -> list[LinkSpec]:
        space, links = self._workspace, list[LinkSpec]()
        if commands.is_elsewhere(space, found):
            go = lambda: commands.go_to_first(space, found)  # noqa: E731
            links.append((self.tr("Take me to the first one"), f"{name}.first", go))
        if len(found.path) > 1:
            show = lambda: commands.show_path(space, found)  # noqa: E731
            links.append((self.tr("Show the path"), f"{name}.path", show))
        return links
