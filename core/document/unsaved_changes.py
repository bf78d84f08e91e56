"""Whether a document holds work that its file does not, or anything that another one does not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

from gradstep.core.document.document import Document
from gradstep.core.graph.carry_over import changes_between
from gradstep.core.graph.changes import alike, share_operations
from gradstep.core.graph.model import Graph

# Kept in the file, but part of looking at a document and not of the document: what the debugger
# stops at, what is watched there, and which scopes are folded.
_LOOKED_AT = ("breakpoints", "watches", "view")
_VALUES = ("initial", "feeds", "packed")  # may be large: compared last
_WORK = tuple(
    field.name for field in fields(Document) if field.name not in ("graph", *_LOOKED_AT, *_VALUES)
)


def has_work(document: Document, on_disk: Document) -> bool:
    """Whether anything would be lost if `document` was given up for `on_disk`. Breakpoints,
    watches and folded scopes are not work; where the user put a node is. Cheap where the two share
    parts."""
    return (
        differ(document, on_disk, _WORK)
        or document.view.positions != on_disk.view.positions
        or share_operations(document.graph, on_disk.graph) is not on_disk.graph
        or differ(document, on_disk, _VALUES)
    )


def is_same(document: Document, other: Document) -> bool:
    """Whether an edit that leads from one to the other, or back, changed nothing, of what is looked
    at neither. Costs what the edit touched, where that is known of the graph."""
    return not (
        differ(document, other, (*_LOOKED_AT, *_WORK))
        or not _are_alike(document.graph, other.graph)
        or differ(document, other, _VALUES)
    )


def _are_alike(graph: Graph, before: Graph) -> bool:
    changes = changes_between(before, graph)
    new, old = graph.operations, before.operations
    return not (changes.added or changes.removed) and all(
        alike(new[name], old[name]) for name in changes.changed
    )


def differ(new: Document, old: Document, names: Iterable[str]) -> bool:
    """Whether two documents have another value of any of these fields. What they share is not
    compared."""
    pairs = ((getattr(new, name), getattr(old, name)) for name in names)
    return any(a is not b and a != b for a, b in pairs)
