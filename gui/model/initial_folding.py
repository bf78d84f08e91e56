"""How a graph is first shown when nobody has arranged it: a large one with its scopes folded."""

from __future__ import annotations

from dataclasses import replace

from gradstep.core.document.document import Document, View
from gradstep.core.graph.loop import within
from gradstep.core.graph.scopes import parents

MANY = 60  # operations; up to so many can be taken in at once


def fold_scopes(document: Document) -> Document:
    """The document with every scope as one box, if it is large and never was arranged. Opening a
    box shows what is directly inside: the scopes in it are still folded."""
    if document.view != View() or sum(1 for _ in within(document.graph)) <= MANY:
        return document
    scopes = frozenset(scope for op in within(document.graph) for scope in parents(op.name))
    return document.with_(view=replace(document.view, collapsed=scopes))
