"""The indexes of a visible graph after an edit, from those of the graph before it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from operator import is_not
from typing import TYPE_CHECKING

import numpy as np

from gradstep.core.graph.loop import LOOP
from gradstep.core.graph.model import Graph
from gradstep.gui.canvas.scene.scene_boxes import declared_outputs
from gradstep.gui.canvas.scene.scope_frames import surroundings
from gradstep.gui.canvas.scene.spliced_links import Spliced

if TYPE_CHECKING:
    from gradstep.gui.canvas.scene.visible_graph import VisibleGraph

_OF_JOINTS = ("_joints", "ends", "end_ports", "control", "hubs", "wire_counts")


def carry_over(
    visible: VisibleGraph,
    before: VisibleGraph,
    changed: Sequence[int],
    links: Spliced | None = None,
) -> None:
    """Take over what follows from boxes and links that are the same; boxes that both graphs have
    may differ in `changed`. links: where those came from; None where there are as many."""
    if len(visible.boxes) == len(before.boxes):
        _carry_boxes(visible, before, changed)
    if links is None:
        _carry_links(visible, before)
    else:
        _carry_spliced(visible, before, links)


def _carry_spliced(visible: VisibleGraph, before: VisibleGraph, links: Spliced) -> None:
    """Where each wire is a link."""
    known, there, numbers = before.__dict__, visible.__dict__, links.numbers
    if len(numbers) == len(before.links) and np.array_equal(numbers, np.arange(len(numbers))):
        there.update({name: known[name] for name in _OF_JOINTS if name in known})
        return
    if not len(before.links):
        return
    joints = before._joints[numbers]
    for i in np.flatnonzero(numbers < 0).tolist():
        joints[i] = visible.links[i][:4]
    control = np.arange(len(numbers)) >= links.wired
    there.update(_joints=joints, control=control, wire_counts=(~control).astype(np.int64))


def _carry_boxes(visible: VisibleGraph, before: VisibleGraph, changed: Sequence[int]) -> None:
    known, boxes = before.__dict__, visible.boxes
    rows = {
        "kinds": [boxes[i].kind for i in changed],
        "rows": [boxes[i].has_value + boxes[i].has_gradient for i in changed],
        "declared": [declared_outputs(boxes[i].type) for i in changed],
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
            kept = ("surroundings", "framing")
            visible.__dict__.update({name: known[name] for name in kept if name in known})


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
