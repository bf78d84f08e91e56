"""Doing without a mouse: walking along wires, moving nodes, and wiring by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint

from gradstep.core.graph.model import Edge, TensorRef
from gradstep.core.layout.box_diagram import GRID
from gradstep.gui.canvas.interact import arrow_navigation, search_entries

if TYPE_CHECKING:
    from gradstep.gui.canvas.view import GraphView


def walk(view: GraphView, dx: int, dy: int) -> None:
    """Select the next node that way; without a selection the first node."""
    chosen = sorted(view.stage.facts.selected)
    arrays = view.arrays
    there = (
        arrow_navigation.step(arrays, chosen[-1], dx, dy)
        if chosen
        else arrow_navigation.first(arrays)
    )
    if there is not None:
        view.workspace.select(arrays.visible.boxes[there].members)
        view.camera.reveal(view.box_rect(there))


def nudge(view: GraphView, dx: int, dy: int) -> None:
    """Move the selected nodes by one place of the grid."""
    chosen = sorted(view.stage.facts.selected)
    if chosen:
        view.stage.move(chosen, dx * GRID, dy * GRID)


def wire_by_name(view: GraphView) -> None:
    """Choose an input for the selected node's first output by typing."""
    if len(view.workspace.selection) == 1:
        op = view.workspace.shown[view.workspace.selection[0]]
        wire_tensor(view, op.output())


def wire_tensor(view: GraphView, tensor: TensorRef) -> None:
    """Choose an input for a tensor by typing."""
    entries = search_entries.ends(view.workspace, tensor)
    view.open_menu(entries, beside(view, tensor.op), f"Connect {tensor.short} to…")


def run_after(view: GraphView) -> None:
    """Choose by typing what the selected node is to wait for."""
    if len(view.workspace.selection) == 1:
        op = view.workspace.shown[view.workspace.selection[0]]
        entries = search_entries.forerunners(view.workspace, op)
        view.open_menu(entries, beside(view, op.name), f"Run {op.name} after…")


def next_wire(view: GraphView) -> None:
    """Select the wires into the selected node, or beside the selected wire, one after another."""
    edge, graph = view.workspace.selected_edge, view.workspace.shown
    name = edge.op if edge is not None else next(iter(view.workspace.selection), None)
    if name is None:
        return
    wires = [Edge(name, i) for i, ref in enumerate(graph[name].inputs) if ref is not None]
    if wires:
        following = wires.index(edge) + 1 if edge in wires else 0
        view.workspace.select([], wires[following % len(wires)])
    else:
        view.workspace.message.emit("info", f"No wire leads to {name}")


def beside(view: GraphView, name: str) -> QPoint:
    """A point of the screen, at the upper right corner of a node."""
    number = view.arrays.visible.box_of.get(name)
    corner = view.camera.visible.center() if number is None else view.box_rect(number).topRight()
    return view.viewport().mapToGlobal(view.mapFromScene(corner))
