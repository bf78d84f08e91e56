"""The programs of the last documents: who undoes an edit finds what there was before it."""

from __future__ import annotations

from typing import NamedTuple

from gradstep.core.debug.history.frozen_program import Program
from gradstep.core.document.document import Document
from gradstep.core.graph.carry_over import is_made_again
from gradstep.core.graph.changes import alike, find_others
from gradstep.core.io.native.document_diff import differences
from gradstep.core.program.data_feeds import find_batches

_KEPT = 2  # the last one, and the one before the edit that led to it
# What no program is derived from.
_BESIDE = ("view", "breakpoints", "watches", "expectations", "branches")


def _with_known(document: Document, held: Document) -> Document | None:
    """The document, of the very graph of the held one if that is the same; None where it is not, as
    far as edits say, or the first operations tell that differ."""
    graph, other = document.graph, held.graph
    if graph is other:
        return document
    again = is_made_again(graph, other)
    if again is not None:
        return document.with_(graph=other) if again else None
    if len(graph) != len(other):
        return None
    old, new = other.operations, graph.operations
    first = next(find_others(old, new), None)
    may_be = first is None or (first in old and alike(new[first], old[first]))
    return document if may_be else None


class Derived(NamedTuple):
    """A program, and the document that it was derived from."""

    document: Document
    program: Program


def _feeds_stay(document: Document, program: Program) -> bool:
    """Whether its data, which is on the disk, would give what it gave, if it gave anything."""
    if document.data is None:
        return True
    found, _ = find_batches(document, program.forward, program.batches)
    return found is not None and found is program.batches


class RecentPrograms:
    """Those of documents without Python, which may give something else each time."""

    def __init__(self) -> None:
        self._kept: list[Derived] = []

    def find(self, document: Document, last: Program) -> Derived | None:
        """The program of `document`, and the document as it is in terms of that one, its very same
        operations among it; None where it has to be derived. last: the program that is open, which
        has the data that is."""
        if document.code:
            return None
        for held in self._kept:
            if held.program.batches is not last.batches:
                continue
            found = _with_known(document, held.document)
            if found is not None and _feeds_stay(document, held.program):
                known = held.document.with_(**{n: getattr(document, n) for n in _BESIDE})
                if not differences(known, found):
                    return Derived(known, held.program)
        return None

    def keep(self, document: Document, program: Program) -> None:
        """The program that is open from now on."""
        others = [held for held in self._kept if held.program is not program]
        self._kept = [] if document.code else [Derived(document, program), *others][:_KEPT]

    def forget(self) -> None:
        """Another document is opened."""
        self._kept = []
