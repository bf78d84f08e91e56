"""The visible graph after an edit: what the edit did not touch is taken over as it was."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, compress, islice
from operator import attrgetter, is_, is_not, not_

import numpy as np

from gradstep.core.graph.model import Edge, Operation, TensorRef
from gradstep.gui.canvas.scene.carried_arrays import carry_over
from gradstep.gui.canvas.scene.renamed_members import with_names
from gradstep.gui.canvas.scene.scene_boxes import Boxes
from gradstep.gui.canvas.scene.visible_graph import (
    Link,
    Source,
    VisibleGraph,
    control_links,
    drawn_of,
    gradient_path,
    passed_by,
    single_links,
)

_OP = attrgetter("op")


def revised(before: VisibleGraph, made: Source, now: Source) -> tuple[VisibleGraph, Source] | None:
    """As VisibleGraph.of what `now` says, and that with all that is known of it; `before` itself,
    where nothing that is visible differs. None where all has to be made anew: boxes have other
    numbers now, wires found or lost their source, or most is another graph. made: what `before` is
    a graph of."""
    if made.collapsed != now.collapsed:
        return None
    edit = _Edit(before, made, now)
    if edit.is_large or not made.whole:
        return None
    return _of_boxes(before, edit, now) if made.collapsed else _of_operations(before, edit, now)


def _of_boxes(before: VisibleGraph, edit: _Edit, now: Source) -> tuple[VisibleGraph, Source] | None:
    """Where some scopes are boxes: as long as no wire runs elsewhere."""
    if not edit.keeps_wires:
        return None
    now = replace(now, passed=edit.passed, whole=True)
    changed = edit.list_changed(now.passed)
    if edit.renamed:
        found = with_names(before, edit.pairs(changed), edit.path, now)
        return None if found is None else (found, now)
    make = Boxes(now.graph, now.inference, now.request, now.passed)
    shown = ((before.boxes[before.box_of[edit.operations[i].name]], i) for i in changed)
    same = all(box.is_scope or box == make.box(edit.operations[i]) for box, i in shown)
    return (before, now) if same and edit.path == before.on_path else None


def _of_operations(
    before: VisibleGraph, edit: _Edit, now: Source
) -> tuple[VisibleGraph, Source] | None:
    now = replace(now, passed=edit.passed, whole=True)
    changed = edit.list_changed(now.passed)
    make = Boxes(now.graph, now.inference, now.request, now.passed)
    if _lost(before, edit.kept, changed) or not edit.is_whole(changed):
        return None
    boxes = [*before.boxes[: edit.kept], *map(make.box, edit.operations[edit.kept :])]
    for i in changed:
        boxes[i] = make.box(edit.operations[i])
    number = edit.number
    waiting = before.links[before.wired :] if edit.keeps_wires else control_links(now.graph, number)
    links = (*_links(before, edit.operations, changed, edit.kept, number), *waiting)
    if edit.path == before.on_path and links == before.links and tuple(boxes) == before.boxes:
        return before, now
    found = VisibleGraph(tuple(boxes), links, number, edit.path, now)
    if len(boxes) == len(before.boxes):
        carry_over(found, before, changed)
    return found, now


class _Edit:
    """What makes one graph of another, by the places of operations in them. kept: how many places
    both have; differ: those of them with another operation."""

    def __init__(self, before: VisibleGraph, made: Source, now: Source) -> None:
        self._before, self._made, self._now = before, made, now
        self._old, self.operations = [*made.graph], [*now.graph]
        self.kept = min(len(self._old), len(self.operations))
        self.differ = [*compress(range(self.kept), map(is_not, self._old, self.operations))]

    @property
    def is_large(self) -> bool:
        """Whether it is easier to make all anew."""
        return len(self.differ) + len(self.operations) - self.kept > len(self.operations) / 2

    def is_whole(self, changed: Sequence[int]) -> bool:
        """Whether what is wired in the places `changed`, or is new, is wired to something."""
        graph = self._now.graph
        touched = [*(self.operations[i] for i in changed), *self.operations[self.kept :]]
        return all(ref is None or ref.op in graph for op in touched for ref in op.inputs)

    def pairs(self, places: Iterable[int]) -> list[tuple[str, Operation]]:
        """What the operations in some places were called, and what they are."""
        return [(self._old[i].name, self.operations[i]) for i in places]

    @cached_property
    def number(self) -> Mapping[str, int]:
        """Operation -> its place."""
        return {name: place for place, name in enumerate(self._now.graph.operations)}

    @cached_property
    def renamed(self) -> Mapping[str, str]:
        """The names of operations that are called otherwise in the same place."""
        pairs = ((self._old[i].name, self.operations[i].name) for i in self.differ)
        return {old: new for old, new in pairs if old != new}

    @cached_property
    def keeps_wires(self) -> bool:
        """Whether the same places are wired in the same way."""
        if len(self._old) != len(self.operations) or self._moves_waits:
            return False
        return all(
            tuple(map(self._renamed, self._old[i].inputs)) == self.operations[i].inputs
            and [self.renamed.get(name, name) for name in self._old[i].control_inputs]
            == [*self.operations[i].control_inputs]
            for i in self.differ
        )

    @property
    def _moves_waits(self) -> bool:
        """Whether an operation that is as it was waits for a name that is another's now. (What it
        is wired to differs in type, too, and tells of itself.)"""
        if not self.renamed:
            return False
        names = {*self.renamed.keys(), *self.renamed.values()}
        same = compress(self._old, map(is_, self._old, self.operations))
        return any(not names.isdisjoint(op.control_inputs) for op in same if op.control_inputs)

    def _renamed(self, ref: TensorRef | None) -> TensorRef | None:
        if ref is None or ref.op not in self.renamed:
            return ref
        return TensorRef(self.renamed[ref.op], ref.index)

    @cached_property
    def _keeps_path(self) -> bool:
        """Whether a gradient takes the wires that it took, by whatever names."""
        was, asked = drawn_of(self._made.request), drawn_of(self._now.request)
        if self.renamed and not self.renamed.keys().isdisjoint(map(_OP, chain(*was))):
            name_of = self.renamed.get
            was = tuple(
                tuple(TensorRef(name_of(ref.op, ref.op), ref.index) for ref in refs) for refs in was
            )
        return self.keeps_wires and not self._retyped and was == asked

    @cached_property
    def path(self) -> frozenset[Edge]:
        """The wires on which there may be a gradient."""
        made, now = self._made, self._now
        if not self._keeps_path:
            return gradient_path(now.graph, now.inference, now.request)
        if not self.renamed:
            return self._before.on_path
        renamed = (made.graph[name] for name in self.renamed)
        gone = {Edge(op.name, i) for op in renamed for i in range(len(op.inputs))}
        gone &= self._before.on_path
        come = {Edge(self.renamed[edge.op], edge.index) for edge in gone}
        return (self._before.on_path - gone) | come

    @cached_property
    def passed(self) -> frozenset[str]:
        """The operations with a gradient at all."""
        if not self._keeps_path:
            return passed_by(self._now.graph, self.path)
        before = self._made.passed
        if not self.renamed:
            return before
        gone = before & self.renamed.keys()
        return (before - gone) | {self.renamed[name] for name in gone}

    @cached_property
    def _retyped(self) -> list[int]:
        """The places whose operations have outputs of other types."""
        old, new = (source.inference.types.of.get for source in (self._made, self._now))
        outputs = [*map(new, islice(self._now.graph.operations, self.kept))]
        before = [*map(old, islice(self._made.graph.operations, self.kept))]
        other = compress(range(self.kept), map(is_not, before, outputs))
        return [i for i in other if before[i] != outputs[i]]

    def list_changed(self, passed: frozenset[str]) -> list[int]:
        """The places whose box, or whose wires, may look different."""
        typed = self._now.inference.types.of.get
        outputs = map(typed, self._now.graph.operations)
        open_ = compress(range(self.kept), map(not_, outputs))  # of those wires decide
        other = (self.number[name] for name in passed ^ self._made.passed if name in self.number)
        found = {*self.differ, *self._retyped, *open_, *other}
        return sorted(i for i in found if i < self.kept)


def _lost(before: VisibleGraph, kept: int, changed: Sequence[int]) -> bool:
    """Whether an operation that stays as it is was wired to one that is gone."""
    sources, targets = before.ends.T
    gone = targets[(sources >= kept) & (targets < kept) & ~before.control]
    return not set(gone.tolist()) <= set(changed)


def _links(
    before: VisibleGraph,
    operations: Sequence[Operation],
    changed: Sequence[int],
    kept: int,
    number: Mapping[str, int],
) -> Iterator[Link]:
    """The wires; into the operations `changed`, and those from number `kept` on, anew."""
    targets = before.ends[~before.control, 1]
    starts = np.searchsorted(targets, [*changed, kept]).tolist()
    stops = np.searchsorted(targets, changed, side="right").tolist()
    pieces = [before.links[a:b] for a, b in zip([0, *stops], starts, strict=True)]
    parts: list[Sequence[Link]] = []
    for piece, i in zip(pieces, changed, strict=False):
        parts += [piece, single_links([operations[i]], number)]
    return chain(*parts, pieces[-1], single_links(operations[kept:], number))
