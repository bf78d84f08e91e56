"""Where the values of a fast run lie: memory is used again once nobody needs what is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from gradstep.core.engine.memory.buffer_sharing import Storage, allocate, internal, last_uses, share
from gradstep.core.engine.memory.record_layout import RecordLayout, is_sure
from gradstep.core.engine.memory.storage_views import NO_PARTS, Parts, parts_of
from gradstep.core.engine.memory.value_places import Form, Places
from gradstep.core.engine.plan.steps import Step
from gradstep.core.ops.declare.ufunc import BLOCK


@dataclass(frozen=True, eq=False)
class ReuseLayout(RecordLayout):
    """See RecordLayout. Only what is fetched and what variables hold is still there after a run."""

    may_part: bool = True  # whether the device's arrays may be parts of others

    @cached_property
    def parts(self) -> Parts:
        """Values that lie in others."""
        return parts_of(self.plan) if self.may_part else NO_PARTS

    @cached_property
    def last_uses(self) -> Sequence[int]:
        """For each value, the last step that reads it: see `last_uses`."""
        return last_uses(self.plan)

    @cached_property
    def storages(self) -> Mapping[int, Storage]:
        return share(self.plan, self.last_uses, self._size, self.parts.of)

    @cached_property
    def size(self) -> int:
        return allocate(self.storages, self._rows())

    @cached_property
    def families(self) -> tuple[tuple[str, ...], ...]:
        """Variables that are to lie side by side, in their order: those that are updated
        together, and each kind of their slots."""
        found: list[tuple[str, ...]] = []
        taken: set[str] = set()
        for step in self.plan.steps:
            if step.times > 1:
                columns = zip(*(writes for _, writes in step.parts), strict=True)
                names = tuple(self.plan.values[v].variable for column in columns for v in column)
                if names and taken.isdisjoint(names):
                    found.append(names)
                    taken.update(names)
        return tuple(found)

    def _rows(self) -> list[list[Storage]]:
        """Storages that are to lie side by side: what like operations read that are done at
        once."""
        rows: list[list[Storage]] = []
        taken: set[Storage | None] = {None}
        for step in self.plan.steps:
            if step.times > 1:
                for column in zip(*(reads for reads, _ in step.parts), strict=True):
                    row = [self.storages.get(v) for v in column]
                    apart = len(set(row)) == len(row) and taken.isdisjoint(row)
                    apart = apart and self.parts.of.keys().isdisjoint(column)
                    if apart and not any(s.variable for s in row if s):
                        rows.append([s for s in row if s])
                        taken.update(row)
        return rows

    @cached_property
    def places(self) -> Places:
        """Offsets in the arena, or in the variable's own memory for values in `held`; of parts
        none."""
        _ = self.size  # settles the offsets
        placed = self.storages.keys() - self.parts.of.keys()
        values = range(len(self.plan.values))
        offsets = (max(self.storages[i].offset, 0) if i in placed else None for i in values)
        return Places(offsets, [*map(self._form, values)])

    @cached_property
    def by_reference(self) -> tuple[int, ...]:
        return tuple(i for i in super().by_reference if i not in self.parts.of)

    @cached_property
    def held(self) -> Mapping[int, str]:
        """Values that have the memory of a variable, or all of it in another shape -> that
        variable."""
        whole = self.storages.keys() - self.parts.of.keys()
        return {i: self.storages[i].variable for i in whole if self.storages[i].variable}

    def is_idle(self, step: Step) -> bool:
        """Whether a step has nothing to do: its results are where its input is."""
        return step in self.parts.slicing or (step.keeps_bytes and self._stays(step))

    def _stays(self, step: Step) -> bool:
        storage, places = self.storages.get(step.reads[0]), (step.reads[0], *step.writes)
        same = storage is not None and all(self.storages.get(v) is storage for v in step.writes)
        return same and self.parts.of.keys().isdisjoint(places) and is_sure(self.plan, step)

    @cached_property
    def moved(self) -> tuple[tuple[int, int], ...]:
        """Pairs of a variable's last version and its first, where the last lies elsewhere and has
        to be put in the variable's memory after a run."""
        return tuple(
            (versions[-1], versions[0])
            for versions in self.plan.versions.values()
            if self.storages.get(versions[-1]) is not self.storages.get(versions[0])
        )

    @cached_property
    def partial(self) -> frozenset[int]:
        """Values of which there is only one block at a time."""
        plan = self.plan
        return frozenset(v for r in plan.blocked for v in internal(plan, r, self.last_uses))

    def _size(self, index: int) -> int | None:
        form = self.forms[index]
        if form.shape is None or index in self.outside:
            return None
        return self._form(index).size

    def _form(self, index: int) -> Form:
        """Of what there is of a value at a time."""
        form = self.forms[index]
        if index not in self.partial:
            return form
        return Form((BLOCK,), form.dtype, BLOCK * form.dtype.itemsize)
