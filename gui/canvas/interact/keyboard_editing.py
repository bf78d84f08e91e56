"""Doing without a mouse: walking along wires, moving nodes, and wiring by name."""

from __future__ import annotations

from PySide6.QtCore import QPoint

from gradstep.core.graph.model import Edge, Operation, TensorRef
from gradstep.core.layout.box_diagram import GRID
from gradstep.gui.canvas.interact import arrow_navigation, search_entries
from gradstep.gui.canvas.interact.search_menu import Search
from gradstep.gui.canvas.scene.camera import Camera
from gradstep.gui.canvas.scene.scene_model import SceneModel
from gradstep.gui.model.workspace import Workspace


class KeyboardEditing:
    """Does to what is selected what the mouse would do to what it points at."""

    def __init__(
        self, workspace: Workspace, stage: SceneModel, camera: Camera, search: Search
    ) -> None:
        self._workspace = workspace
        self._stage = stage
        self._camera = camera
        self._search = search

    def walk(self, dx: int, dy: int) -> None:
        """Select the next node that way; without a selection the first node."""
        chosen, arrays = sorted(self._stage.facts.selected), self._stage.arrays
        there = (
            arrow_navigation.step(arrays, chosen[-1], dx, dy)
            if chosen
            else arrow_navigation.first(arrays)
        )
        if there is not None:
            self._workspace.select(arrays.visible.boxes[there].members)
            self._camera.reveal(self._stage.box_rect(there))

    def nudge(self, dx: int, dy: int) -> None:
        """Move the selected nodes by one place of the grid."""
        chosen = sorted(self._stage.facts.selected)
        if chosen:
            self._stage.move(chosen, dx * GRID, dy * GRID)

    def wire_by_name(self) -> None:
        """Choose by typing what the selected node reads where an input of it is open, or an input
        for its first output."""
        op = self._only_selected()
        if op is None:
            return
        space, beside = self._workspace, self._beside(op.name)
        entries = search_entries.starts(space, op) + search_entries.ends(space, op.output())
        self._search.open(entries, beside, f"Connect {op.name} with…")

    def wire_tensor(self, tensor: TensorRef) -> None:
        """Choose an input for a tensor by typing."""
        entries = search_entries.ends(self._workspace, tensor)
        self._search.open(entries, self._beside(tensor.op), f"Connect {tensor.short} to…")

    def run_after(self) -> None:
        """Choose by typing what the selected node is to wait for."""
        op = self._only_selected()
        if op is not None:
            entries = search_entries.forerunners(self._workspace, op)
            self._search.open(entries, self._beside(op.name), f"Run {op.name} after…")

    def change_type(self) -> None:
        """Choose by typing what op type the selected node is to be of."""
        op = self._only_selected()
        if op is not None:
            entries = search_entries.others(self._workspace, op)
            self._search.open(entries, self._beside(op.name), f"Replace {op.name} by…")

    def next_wire(self) -> None:
        """Select the wires into the selected node, or beside the selected wire, one after
        another."""
        edge, graph = self._workspace.selected_edge, self._workspace.shown
        name = edge.op if edge is not None else next(iter(self._workspace.selection), None)
        if name is None:
            return
        wires = [Edge(name, i) for i, ref in enumerate(graph[name].inputs) if ref is not None]
        if wires:
            following = wires.index(edge) + 1 if edge in wires else 0
            self._workspace.select([], wires[following % len(wires)])
        else:
            self._workspace.message.emit("info", f"No wire leads to {name}")

    def _only_selected(self) -> Operation | None:
        chosen = self._workspace.selection
        return self._workspace.shown[chosen[0]] if len(chosen) == 1 else None

    def _beside(self, name: str) -> QPoint:
        """The pixel at the upper right corner of a node."""
        box = self._stage.arrays.visible.box_of.get(name)
        shown = self._camera.visible
        corner = shown.center() if box is None else self._stage.box_rect(box).topRight()
        return self._camera.to_pixel(corner)
