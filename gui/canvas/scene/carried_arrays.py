"""The indexes of a visible graph after an edit, from those of the graph before it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import is_not
from typing import TYPE_CHECKING

from gradstep.core.graph.loop import LOOP
from gradstep.core.graph.model import Graph
from gradstep.gui.canvas.scene.scope_frames import surroundings

if TYPE_CHECKING:
    from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

_OF_JOINTS = ("_joints", "ends", "end_ports", "control", "hubs", "wire_counts")


def carry_over(visible: VisibleGraph, before: VisibleGraph, changed: Sequence[int]) -> None:
    """Take over what follows from boxes and links that are the same; both graphs have as many
    boxes, which may differ in `changed`."""
    _carry_boxes(visible, before, changed)
    _carry_links(visible, before)


def _carry_boxes(visible: VisibleGraph, before: VisibleGraph, changed: Sequence[int]) -> None:
    known, boxes = before.__dict__, visible.boxes
    rows = {
        "kinds": [boxes[i].kind for i in changed],
        "rows": [boxes[i].has_value + boxes[i].has_gradient for i in changed],
        "port_counts": [(boxes[i].outputs, boxes[i].inputs) for i in changed],
    }
    for name, values in rows.items():
        if name in known:
            array = visible.__dict__[name] = known[name].copy()
            if changed:
                array[[*changed]] = values
    graph = visible.source.graph if visible.source is not None else Graph()
    if "surroundings" in known and not any(LOOP in graph[boxes[i].id].attrs for i in changed):
        around = surroundings(graph, [(boxes[i].id, boxes[i].members[0]) for i in changed])
        if around == [before.surroundings[i] for i in changed]:
            visible.__dict__["surroundings"] = before.surroundings


def _carry_links(visible: VisibleGraph, before: VisibleGraph) -> None:
    """Where each joins the same ports."""
    new, old = visible.links, before.links
    if len(new) != len(old):
        return
    other = [*compress(range(len(new)), map(is_not, new, old))]
    if any(new[i][:4] != old[i][:4] or len(new[i].wires) != len(old[i].wires) for i in other):
        return
    for name in _OF_JOINTS:
        if name in before.__dict__:
            visible.__dict__[name] = before.__dict__[name]
    if "link_of" in before.__dict__:
        links = visible.__dict__["link_of"] = dict(before.link_of)
        for i in other:
            for wire in old[i].wires:
                del links[wire]
        links.update((wire, i) for i in other for wire in new[i].wires)
