"""Boxes for what bends the gradients: each override and each stopped wire, off and on again."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from gradstep.core.autodiff.reverse.gradient_request import Override
from gradstep.core.graph.model import Edge
from gradstep.gui import commands
from gradstep.gui.look.theme import GRID
from gradstep.gui.model.workspace import Workspace
from gradstep.gui.panels.widgets.check_box import Check
from gradstep.gui.panels.widgets.flow_layout import FlowLayout


class BendBoxes(QWidget):
    """A wire that is let through again keeps its box, so that it can be stopped once more, until
    another document is opened."""

    def __init__(self, workspace: Workspace, first: QWidget) -> None:
        """first: what stands before them."""
        super().__init__()
        self._workspace = workspace
        self._seen: dict[Edge, None] = {}
        self._shown: list[tuple[str, str]] = []
        self.boxes: list[Check] = []
        self.setObjectName("gradients.bends")
        self._row = FlowLayout(self, GRID)
        self._row.setContentsMargins(12, 0, 12, GRID)
        self._row.addWidget(first)
        workspace.document_opened.connect(self._seen.clear)

    def refresh(self) -> None:
        """Show those that there are, and which are in force."""
        overrides, wires = self._workspace.document.request.overrides, self._wires()
        shown = [("override", _override_words(one)) for one in overrides]
        shown += [("stop", self._wire_words(edge)) for edge in wires]
        if shown != self._shown:
            self._shown = shown
            self._rebuild(wires)
        stopped = self._workspace.document.request.stopped_edges
        states = [*(one.enabled for one in overrides), *(edge in stopped for edge in wires)]
        for box, state in zip(self.boxes, states, strict=True):
            box.setChecked(state)

    def _wires(self) -> list[Edge]:
        document = self._workspace.document
        stopped = document.request.stopped_edges
        self._seen.update(dict.fromkeys(sorted(stopped - self._seen.keys(), key=str)))
        return [e for e in self._seen if e in stopped or self._is_wired(e)]

    def _is_wired(self, edge: Edge) -> bool:
        graph = self._workspace.document.graph
        inputs = graph[edge.op].inputs if edge.op in graph else ()
        return edge.index < len(inputs) and inputs[edge.index] is not None

    def _wire_words(self, edge: Edge) -> str:
        graph = self._workspace.document.graph
        source = graph.source(edge) if edge.op in graph else None
        return f"stop {'' if source is None else source.short} → {edge.op}"

    def _rebuild(self, wires: list[Edge]) -> None:
        for box in self.boxes:
            self._row.removeWidget(box)
            box.hide()
            box.deleteLater()
        space = self._workspace
        acts = [
            lambda index=index: commands.toggle_override(space, index)
            for index in range(len(self._shown) - len(wires))
        ]
        acts += [lambda edge=edge: commands.toggle_stop(space, edge) for edge in wires]
        self.boxes = [
            self._box(number, words, act)
            for number, ((_, words), act) in enumerate(zip(self._shown, acts, strict=True))
        ]

    def _box(self, number: int, words: str, act: Callable[[], object]) -> Check:
        box = Check(lambda: self._workspace.theme, words, f"gradients.bend.{number}")
        box.clicked.connect(lambda _=False: act())
        self._row.addWidget(box)
        return box


def _override_words(one: Override) -> str:
    return f"override {one.target} → {one.gradient}"
