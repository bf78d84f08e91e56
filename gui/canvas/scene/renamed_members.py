"""The visible graph, with scopes as boxes, after operations were renamed in their boxes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from operator import attrgetter

from gradstep.core.graph.loop import LOOP
from gradstep.core.graph.model import Edge, Operation
from gradstep.gui.canvas.scene.carried_arrays import carry_over
from gradstep.gui.canvas.scene.scene_boxes import Box, Boxes
from gradstep.gui.canvas.scene.visible_graph import Link, Source, VisibleGraph, box_id
from gradstep.gui.model.amended_collections import AmendedSet

_ATTRS = attrgetter("attrs")


def with_names(
    before: VisibleGraph,
    changed: Collection[tuple[str, Operation]],
    path: AmendedSet[Edge],
    now: Source,
) -> VisibleGraph | None:
    """As VisibleGraph.of what `now` says, where each operation is wired as it was. None where one
    went into another box, and where there are loops. changed: what operations were called, and what
    they are."""
    if now.graph.marked[LOOP]:
        return None
    if any(not _stays(before, was, op, now.collapsed) for was, op in changed):
        return None
    names = {was: op.name for was, op in changed if was != op.name}
    numbers = {before.box_of[was]: op for was, op in changed}
    boxes = _renamed(before.boxes, numbers, names, now)
    links = _relabelled(before, names, (op for was, op in changed if was != op.name))
    box_of = {**before.box_of}
    for was in names:
        del box_of[was]
    box_of.update((op.name, before.box_of[was]) for was, op in changed)
    found = VisibleGraph(boxes, links, box_of, path, now)
    carry_over(found, before, [i for i in numbers if not boxes[i].is_scope])
    return found


def _stays(before: VisibleGraph, was: str, op: Operation, collapsed: Mapping[str, str]) -> bool:
    """Whether an operation is shown by the same box, or still by one of its own."""
    box = before.boxes[before.box_of[was]]
    return box_id(op.name, collapsed) == (box.id if box.is_scope else op.name)


def _renamed(
    before: Sequence[Box], numbers: Mapping[int, Operation], names: Mapping[str, str], now: Source
) -> tuple[Box, ...]:
    boxes = [*before]
    make = Boxes(now.graph, now.inference, now.request, now.passed)
    for number, op in numbers.items():
        box = boxes[number]
        if box.is_scope:
            members = tuple(map(names.get, box.members, box.members))
            boxes[number] = box._replace(members=members)
        else:
            boxes[number] = make.box(op)
    return tuple(boxes)


def _relabelled(
    before: VisibleGraph, names: Mapping[str, str], renamed: Iterable[Operation]
) -> tuple[Link, ...]:
    """The links, of which those into renamed operations stand for other wires."""
    was = {new: old for old, new in names.items()}
    wires = (Edge(was[op.name], i) for op in renamed for i in range(len(op.inputs)))
    links = [*before.links]
    for number in {before.link_of[wire] for wire in wires if wire in before.link_of}:
        link = links[number]
        own = tuple(Edge(names.get(wire.op, wire.op), wire.index) for wire in link.wires)
        links[number] = link._replace(wires=own)
    return tuple(links)
