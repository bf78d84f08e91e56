"""A piece of a document, to be put into the same or another: copy and paste."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np

from gradstep.core.document.document import Document, View
from gradstep.core.document.document_edits import remove_operations
from gradstep.core.document.node_renaming import rename_node
from gradstep.core.errors import GradstepError
from gradstep.core.graph.free_names import names_of_copies, scopes_of_copies
from gradstep.core.graph.loop import within
from gradstep.core.graph.model import Graph
from gradstep.core.graph.relabel import relabel
from gradstep.core.graph.scopes import parents

STEP = 32.0  # scene units
SIZE = np.array((188.0, 84.0))  # of a node, with room around it
MOST = 4_000_000  # pairs of places to compare; of more, the piece goes below everything

Point = tuple[float, float]


def piece(document: Document, names: Collection[str]) -> Document:
    """Operations with the wires among them, what they are fed and start with, and their places.
    Wires from elsewhere are left open. Python stays behind: nobody trusts what comes along unseen.
    Raises GradstepError where nothing is left to copy."""
    others = [op.name for op in document.graph if op.name not in names]
    if len(others) == len(document.graph):
        raise GradstepError(
            "what is in a loop is copied with its loop",
            kind="ValueError",
            hint="select the loop, or duplicate the node",
        )
    left = remove_operations(document, others)
    view = View(left.view.positions, left.view.collapsed)
    return Document(graph=left.graph, initial=left.initial, feeds=left.feeds, view=view)


def paste(document: Document, part: Document) -> tuple[Document, list[str]]:
    """Add a piece, under names that are free, beside what stands at its places. Returns the
    document and the names of the operations that were added."""
    fresh = names_of_copies(document.graph, (op.name for op in within(part.graph)))

    def name_of(name: str) -> str:
        return fresh.get(name, name)

    added = relabel(part.graph, name_of)
    rest = rename_node(part, name_of)
    own = {name: place for name, place in rest.view.positions.items() if name in added}
    dx, dy = away(list(own.values()), list(document.view.positions.values()))
    moved = {name: (x + dx, y + dy) for name, (x, y) in own.items()}
    scopes = scopes_of_copies(fresh)
    inside = {scope for name in fresh for scope in parents(name)}
    collapsed = {scopes.get(scope, scope) for scope in part.view.collapsed & inside}
    merged = replace(
        document,
        graph=Graph.of((*document.graph, *added)),
        initial={**document.initial, **rest.initial},
        feeds={**document.feeds, **rest.feeds},
        view=View({**document.view.positions, **moved}, document.view.collapsed | collapsed),
    )
    return merged, [op.name for op in added]


def away(places: Sequence[Point], taken: Sequence[Point]) -> Point:
    """How far places (of some nodes) are moved so that no node there covers one of `taken`."""
    mine, there = np.reshape(places, (-1, 1, 2)), np.reshape(taken, (1, -1, 2))
    if not mine.size or not there.size:
        return 0.0, 0.0
    if len(places) * len(taken) > MOST:
        return 0.0, float(there[..., 1].max() - mine[..., 1].min() + 2 * SIZE[1])
    away = STEP
    while (np.abs(mine + away - there) < SIZE).all(axis=2).any():
        away += STEP
    return away, away
