"""The visible graph after an edit: what the edit did not touch is taken over as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from gradstep.core.autodiff.reverse.gradient_request import GradientRequest
from gradstep.core.graph.model import Graph, Operation
from gradstep.core.ops.typing.inference import Inference
from gradstep.gui.canvas.scene.scene_boxes import Boxes
from gradstep.gui.canvas.scene.visible_graph import (
    Link,
    Source,
    VisibleGraph,
    badges,
    control_links,
    drawn_of,
    gradient_path,
    passed_by,
    single_links,
)


def revised(
    before: VisibleGraph, graph: Graph, inference: Inference, request: GradientRequest
) -> VisibleGraph | None:
    """As VisibleGraph.of with no scope collapsed; None where all has to be made anew: boxes have
    other numbers now, wires found or lost their source, or most is another graph."""
    made = before.source
    if (
        made is None
        or made.collapsed
        or not made.whole
        or drawn_of(request) != drawn_of(made.request)
    ):
        return None
    names, old = list(graph.operations), list(made.graph.operations)
    kept = min(len(names), len(old))
    if names[:kept] != old[:kept]:
        return None
    path = gradient_path(graph, inference, request)
    now = Source(graph, inference, request, (), passed_by(graph, path), whole=True)
    changed = [i for i in _changed(made, now) if i < kept]
    operations = list(graph)
    touched = [*(operations[i] for i in changed), *operations[kept:]]
    is_other = len(touched) > len(names) / 2
    if is_other or _lost(before, kept, changed) or not _is_whole(touched, graph):
        return None
    number = {name: i for i, name in enumerate(names)}
    make = Boxes(graph, inference, request, now.passed)
    boxes = [*before.boxes[:kept], *map(make.box, operations[kept:])]
    for i in changed:
        boxes[i] = make.box(operations[i])
    links = (*_links(before, operations, changed, kept, number), *control_links(graph, number))
    return VisibleGraph(tuple(boxes), links, number, path, badges(graph, number, request), now)


def _changed(made: Source, now: Source) -> Iterator[int]:
    """Numbers of the operations whose box, or whose wires, may look different."""
    old, typed, before = made.graph.operations, now.inference.types.of, made.inference.types.of
    differ = made.passed ^ now.passed
    for i, (name, op) in enumerate(now.graph.operations.items()):
        outputs = typed.get(name)
        same = outputs and len(outputs) == len(before.get(name, ()))  # of others wires decide
        if not same or old.get(name) is not op or name in differ:
            yield i


def _lost(before: VisibleGraph, kept: int, changed: Sequence[int]) -> bool:
    """Whether an operation that stays as it is was wired to one that is gone."""
    sources, targets = before.ends.T
    gone = targets[(sources >= kept) & (targets < kept) & ~before.control]
    return not set(gone.tolist()) <= set(changed)


def _is_whole(operations: Sequence[Operation], graph: Graph) -> bool:
    return all(ref is None or ref.op in graph for op in operations for ref in op.inputs)


def _links(
    before: VisibleGraph,
    operations: Sequence[Operation],
    changed: Sequence[int],
    kept: int,
    number: dict[str, int],
) -> Iterator[Link]:
    """The wires; into the operations `changed`, and those from number `kept` on, anew."""
    targets = before.ends[~before.control, 1]
    starts = np.searchsorted(targets, [*changed, kept]).tolist()
    stops = np.searchsorted(targets, changed, side="right").tolist()
    pieces = [before.links[a:b] for a, b in zip([0, *stops], starts, strict=True)]
    for piece, i in zip(pieces, changed, strict=False):
        yield from piece
        yield from single_links([operations[i]], number)
    yield from chain(pieces[-1], single_links(operations[kept:], number))
