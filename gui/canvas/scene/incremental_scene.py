"""The visible graph after an edit: what the edit did not touch is taken over as it was."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import compress, islice, repeat
from operator import is_not, ne
from weakref import ref as weak

import numpy as np

from gradstep.core.graph.model import Operation, TensorRef
from gradstep.gui.canvas.scene.carried_arrays import carry_over
from gradstep.gui.canvas.scene.gradient_path import GradientPath, path_after
from gradstep.gui.canvas.scene.renamed_members import with_names
from gradstep.gui.canvas.scene.scene_boxes import Boxes
from gradstep.gui.canvas.scene.spliced_links import Spliced, Splicer
from gradstep.gui.canvas.scene.visible_graph import (
    Source,
    VisibleGraph,
    control_links,
    single_links,
)

Found = tuple[VisibleGraph, Source] | None


def revising(before: VisibleGraph, made: Source, now: Source) -> Generator[None, None, Found]:
    """As VisibleGraph.of what `now` says, and that with all that is known of it; `before` itself,
    where nothing that is visible differs. None where all has to be made anew: boxes have other
    numbers now, wires found or lost their source, or most is another graph. made: what `before` is
    a graph of. In parts, between which others may have their turn."""
    if made.collapsed != now.collapsed:
        return None
    edit = _Edit(before, made, now)
    if edit.is_large or not made.whole or now.graph.readers[1]:
        return None
    if made.collapsed:
        return _of_boxes(before, edit, now)
    return (yield from _of_operations(before, edit, now))


def _of_boxes(before: VisibleGraph, edit: _Edit, now: Source) -> Found:
    """Where some scopes are boxes: as long as no wire runs elsewhere."""
    if not edit.keeps_wires:
        return None
    now = replace(now, path=edit.path, whole=True)
    changed = edit.list_changed()
    if edit.renamed:
        found = with_names(before, edit.pairs(changed), edit.path.wires, now)
        return None if found is None else (found, now)
    make = Boxes(now.graph, now.inference, now.request, now.passed)
    shown = ((before.boxes[before.box_of[edit.operations[i].name]], i) for i in changed)
    same = all(
        edit.keeps_device(i) if box.is_scope else box == make.box(edit.operations[i])
        for box, i in shown
    )
    return (before, now) if same and edit.path.wires == before.on_path else None


def _of_operations(before: VisibleGraph, edit: _Edit, now: Source) -> Generator[None, None, Found]:
    if not edit.keeps_numbers:
        return None
    now = replace(now, path=edit.path, whole=True)
    yield
    links, boxes = edit.links(), [*before.boxes[: edit.kept]]
    make = Boxes(now.graph, now.inference, now.request, now.passed)
    boxes += map(make.box, edit.operations[edit.kept :])
    changed = []
    yield
    for i in edit.list_changed():
        box = make.box(edit.operations[i])
        if box != boxes[i]:
            boxes[i] = box
            changed.append(i)
    same = not changed and len(boxes) == len(before.boxes)
    if same and edit.path.wires == before.on_path and links.links is before.links:
        return before, now
    found = VisibleGraph(
        before.boxes if same else tuple(boxes),
        links.links,
        now.graph.places,
        edit.path.wires,
        now,
        (weak(before), links.numbers),
    )
    carry_over(found, before, changed, links)
    return found, now


FEW = 1000  # names, of which each is looked for by itself


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

    def pairs(self, places: Iterable[int]) -> list[tuple[str, Operation]]:
        """What the operations in some places were called, and what they are."""
        return [(self._old[i].name, self.operations[i]) for i in places]

    @cached_property
    def renamed(self) -> Mapping[str, str]:
        """The names of operations that are called otherwise in the same place."""
        pairs = ((self._old[i].name, self.operations[i].name) for i in self.differ)
        return {old: new for old, new in pairs if old != new}

    @property
    def keeps_numbers(self) -> bool:
        """Whether no name went to another place."""
        old, new = self._made.graph, self._now.graph
        came = (*self.renamed.values(), *(op.name for op in self.operations[self.kept :]))
        gone = (*self.renamed, *(op.name for op in self._old[self.kept :]))
        return not (any(name in old for name in came) or any(name in new for name in gone))

    @cached_property
    def keeps_wires(self) -> bool:
        """Whether the same places are wired in the same way."""
        return self._keeps_waits and all(
            tuple(map(self._renamed, self._old[i].inputs)) == self.operations[i].inputs
            for i in self.differ
        )

    def keeps_device(self, place: int) -> bool:
        """Whether what is in a place is computed where what was there is: a scope names devices."""
        was, now = (each[place].device for each in (self._old, self.operations))
        return bool(was == now)

    @cached_property
    def _keeps_waits(self) -> bool:
        """Whether the same places wait for the same ones."""
        if len(self._old) != len(self.operations) or self._moves_waits:
            return False
        return all(
            [self.renamed.get(name, name) for name in self._old[i].control_inputs]
            == [*self.operations[i].control_inputs]
            for i in self.differ
        )

    @property
    def _moves_waits(self) -> bool:
        """Whether an operation that is as it was waits for a name that is another's now. (What it
        is wired to differs in type, too, and tells of itself.)"""
        if not self.renamed:
            return False
        waiting = self._made.graph.control_outputs
        names = {*self.renamed.keys(), *self.renamed.values()} & waiting.keys()
        there = {self._old[i].name for i in self.differ}
        return any(not there.issuperset(waiting[name]) for name in names)

    def _renamed(self, ref: TensorRef | None) -> TensorRef | None:
        if ref is None or ref.op not in self.renamed:
            return ref
        return TensorRef(self.renamed[ref.op], ref.index)

    @cached_property
    def path(self) -> GradientPath:
        """Where there may be a gradient."""
        made, now, kept = self._made, self._now, self.kept
        names = {op.name for i in self.differ for op in (self._old[i], self.operations[i])}
        names.update(op.name for op in (*self._old[kept:], *self.operations[kept:]))
        retyped = map(self._names.__getitem__, self._retyped)
        return path_after(made.path, made, now, names, retyped)

    @cached_property
    def _retyped(self) -> Sequence[int]:
        """The places whose operations may have outputs of other types, in order. All in C, along
        the graph: it may be half of that."""
        since, every = self._now.inference.since, range(self.kept)
        if since is None or since.before() is not self._made.graph:
            old, new = (source.inference.types.of.get for source in (self._made, self._now))
            names = self._names
            called = {new: old for old, new in self.renamed.items()}.get
            return [*compress(every, map(ne, map(old, map(called, names, names)), map(new, names)))]
        if len(since.names) > FEW:
            return [*compress(every, map(since.names.__contains__, self._names))]
        places = map(self._now.graph.places.get, since.names)
        return sorted(place for place in places if place is not None and place < self.kept)

    @cached_property
    def _names(self) -> Sequence[str]:
        """Of the operations that are in places that there were."""
        return [*islice(self._now.graph.operations, self.kept)]

    def list_changed(self) -> list[int]:
        """The places whose box may look different."""
        now, was = self._now.graph.places, self._made.passed
        passed = self.path.passed
        other = (now[name] for name in passed.differing(was) if name in now)
        found = {*self.differ, *self._recounted, *self._otherwise_read, *other}
        return sorted(i for i in found if i < self.kept)

    @property
    def _recounted(self) -> list[int]:
        """The places whose operations may have more outputs, or fewer."""
        places, boxes = self._retyped, self._before.boxes
        if self._made.collapsed:
            shown = self._before.box_of
            return [i for i in places if not boxes[shown[self._old[i].name]].is_scope]
        if not places:
            return []
        names = map(self._names.__getitem__, places)
        types = map(self._now.inference.types.of.get, names, repeat(()))
        count = np.fromiter(map(len, types), np.int64, len(places))
        numbers = np.array(places)
        least = np.maximum(self._before.declared[numbers], self._used[numbers])
        count = np.where(count > 0, count, least)
        outputs, _ = self._before.port_counts[numbers].T
        found: list[int] = numbers[count != outputs].tolist()
        return found

    @property
    def _used(self) -> np.ndarray:
        """int64[n]: how many outputs of each place had links before, of boxes that are operations.
        Others may have had fewer or more: see `_otherwise_read`."""
        before, found = self._before, np.zeros(len(self._before.boxes), dtype=np.int64)
        wired = before.wired
        np.maximum.at(found, before.ends[:wired, 0], before.end_ports[:wired, 0] + 1)
        return found

    @property
    def _otherwise_read(self) -> set[int]:
        """The places that something else reads now, where what they give is not known: as many
        outputs as are read are drawn then."""
        typed, places = self._now.inference.types.of.get, self._now.graph.places
        old, new = ([ops[i] for i in self.differ] for ops in (self._old, self.operations))
        touched = (*old, *new, *self._old[self.kept :], *self.operations[self.kept :])
        names = {ref.op for op in touched for ref in op.inputs if ref is not None}
        return {places[name] for name in names if name in places and not typed(name)}

    def links(self) -> Spliced:
        """The wires; into the operations that differ, and those from number `kept` on, anew."""
        before, number, operations = self._before, self._now.graph.places, self.operations
        splicer, wired = Splicer(before.links), before.wired
        targets = before.ends[:wired, 1]
        starts = np.searchsorted(targets, [*self.differ, self.kept]).tolist()
        stops = np.searchsorted(targets, self.differ, side="right").tolist()
        at = 0
        for i, start, stop in zip(self.differ, starts, stops, strict=False):
            splicer.keep(at, start)
            splicer.renew(start, stop, single_links([operations[i]], number))
            at = stop
        splicer.keep(at, starts[-1])
        splicer.renew(starts[-1], wired, single_links(operations[self.kept :], number))
        count = len(splicer)
        if self._keeps_waits:
            splicer.keep(wired, len(before.links))
        else:
            splicer.renew(wired, len(before.links), control_links(self._now.graph, number))
        return splicer.found(count)
